# SPDX-License-Identifier: BSD-3-Clause
"""Measures how different the communication of two runs is."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from topoloom._core import CommGraph


def measure_traffic_distance(before: CommGraph, after: CommGraph) -> float:
    """Return the share of traffic that flows between other ranks than before, 0 to 1.

    This is the total variation distance: half the sum of the absolute differences of
    two matrices, each divided by its total. It is computed for bytes and for messages,
    and the larger is returned. Longer runs with the same pattern have a distance of 0,
    graphs without a common pair of ranks, or with different numbers of ranks, 1.
    Messages of ranks to themselves do not count.
    """
    if before.rank_count != after.rank_count:
        return 1.0
    pairs = [_list_pairs(graph) for graph in (before, after)]
    return max(
        _measure_variation(pairs, [before.bytes, after.bytes]),
        _measure_variation(pairs, [before.messages, after.messages]),
    )


def _list_pairs(graph: CommGraph) -> NDArray[np.int64]:
    """Return a number for each edge's pair of ranks, ascending."""
    first = graph.first.astype(np.int64)
    degrees = first[1:] - first[:-1]
    sources = np.repeat(np.arange(graph.rank_count), degrees)
    return sources * graph.rank_count + graph.peer


def _measure_variation(
    pairs: list[NDArray[np.int64]], weights: list[NDArray[np.int64]]
) -> float:
    totals = [float(each.sum(dtype=np.float64)) for each in weights]
    if not all(totals):
        return float(any(totals))
    shares = np.concatenate([-weights[0] / totals[0], weights[1] / totals[1]])
    _, places = np.unique(np.concatenate(pairs), return_inverse=True)
    variation = float(np.abs(np.bincount(places, shares)).sum() / 2)
    return min(variation, 1.0)
