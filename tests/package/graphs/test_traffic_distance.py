# SPDX-License-Identifier: BSD-3-Clause
"""The distance of the communication of two runs."""

from __future__ import annotations

import numpy as np
import pytest

from topoloom import CommGraph
from topoloom.graphs.traffic_distance import measure_traffic_distance


def make_ring(ranks: int, shift: int, size: int = 100, messages: int = 1) -> CommGraph:
    source = np.arange(ranks)
    target = (source + shift) % ranks
    return CommGraph.from_edges(
        ranks, source, target, np.full(ranks, size), np.full(ranks, messages)
    )


def test_longer_runs_with_the_same_pattern_do_not_differ() -> None:
    longer = make_ring(8, 1, size=700, messages=7)
    assert measure_traffic_distance(make_ring(8, 1), longer) == 0
    assert measure_traffic_distance(make_ring(8, 1), make_ring(8, 3)) == 1


def test_the_distance_is_the_share_of_moved_traffic() -> None:
    before = CommGraph.from_edges(4, [0, 1], [1, 2], [900, 100], [9, 1])
    after = CommGraph.from_edges(4, [0, 3], [1, 2], [900, 100], [9, 1])
    assert measure_traffic_distance(before, after) == pytest.approx(0.1)


def test_the_distance_counts_messages_if_they_have_moved_more_than_bytes() -> None:
    before = CommGraph.from_edges(4, [0, 1], [1, 2], [500, 500], [10, 10])
    after = CommGraph.from_edges(4, [0, 1], [1, 2], [500, 500], [18, 2])
    assert measure_traffic_distance(before, after) == pytest.approx(0.4)


def test_a_distance_is_symmetric_and_at_most_the_sum_of_two() -> None:
    random = np.random.default_rng(1)
    graphs = [
        CommGraph.from_edges(9, *random.integers(0, 9, (2, 40)), [*range(40)])
        for _ in range(3)
    ]
    a, b, c = graphs
    assert measure_traffic_distance(a, b) == measure_traffic_distance(b, a)
    total = measure_traffic_distance(a, c) + measure_traffic_distance(c, b)
    assert 0 < measure_traffic_distance(a, b) <= total


def test_silent_graphs_and_other_rank_counts() -> None:
    silent = CommGraph.from_edges(8, [], [], [])
    assert measure_traffic_distance(silent, silent) == 0
    assert measure_traffic_distance(silent, make_ring(8, 1)) == 1
    assert measure_traffic_distance(make_ring(4, 1), make_ring(8, 1)) == 1
