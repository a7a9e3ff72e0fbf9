# SPDX-License-Identifier: BSD-3-Clause
"""Single phases of collectives, as Sudheer 2012, table 4.1, has them for 8 threads."""

from __future__ import annotations

import numpy as np

from topoloom._core import CommGraph


def exchange(ranks: int, distance: int, size: int) -> CommGraph:
    """Exchange with ``i XOR distance``; who has no such partner does nothing."""
    rank = np.arange(ranks)
    has_partner = (rank ^ distance) < ranks
    return _messages(ranks, rank[has_partner], (rank ^ distance)[has_partner], size)


def from_behind(ranks: int, distance: int, size: int) -> CommGraph:
    """Send to rank ``i - distance``, modulo the number of ranks."""
    rank = np.arange(ranks)
    return _messages(ranks, (rank + distance) % ranks, rank, size)


def leaves(ranks: int, size: int) -> CommGraph:
    """Send from every even rank to the next: the last step of a binomial tree."""
    rank = np.arange(ranks - ranks % 2)
    return _messages(ranks, rank[::2], rank[1::2], size)


def _messages(
    ranks: int, source: np.ndarray, target: np.ndarray, size: int
) -> CommGraph:
    sizes = np.full(len(source), size, np.int64)
    return CommGraph.from_edges(ranks, source, target, sizes)
