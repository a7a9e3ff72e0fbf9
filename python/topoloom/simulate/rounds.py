# SPDX-License-Identifier: BSD-3-Clause
"""Splits phases into rounds, and chooses the order of sends."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoloom._core import CommGraph
from topoloom.graphs.phases import Ints, edge_rows

Floats = NDArray[np.float64]

#: Maximum number of distinct rounds.
_MAX_ROUNDS = 16


class Round(NamedTuple):
    """Concurrent messages, repeated `times` times; `sent`: source, target, bytes."""

    times: int
    sent: Floats


def split_into_rounds(phase: CommGraph) -> list[Round]:
    """Split a phase into rounds of one message per pair; merge equal rounds."""
    rows = edge_rows(phase)
    rows = rows[(rows[:, 2] > 0) | (rows[:, 3] > 0)]
    if not len(rows):
        return []
    counts = np.unique(np.maximum(1, rows[:, 3]))
    while len(counts) > _MAX_ROUNDS:
        counts = np.delete(counts, np.argmin(counts[1:] / counts[:-1]))
    messages = counts[np.searchsorted(counts, np.maximum(1, rows[:, 3]))]
    sent = np.column_stack([rows[:, :2], rows[:, 2] / messages])
    before = [0, *counts[:-1].tolist()]
    return [
        Round(last - first, sent[messages > first])
        for first, last in zip(before, counts.tolist(), strict=True)
    ]


def choose_send_order(sources: Ints, latencies: Floats) -> Ints:
    """Choose the order of each rank's sends, which the graph does not define.

    The order is random but the same for all placements, except that a rank's message
    with the largest latency is last. Another order may be faster.
    """
    drawn = np.random.default_rng(0).random(len(sources))
    by_way = np.lexsort((drawn, latencies, sources))
    is_last = np.r_[np.diff(sources[by_way]) > 0, True]
    drawn[by_way[is_last]] = 1
    return np.lexsort((drawn, sources))
