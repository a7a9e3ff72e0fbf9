# SPDX-License-Identifier: BSD-3-Clause
"""Patterns with proxy ranks: every measure counts the same messages."""

from __future__ import annotations

import pickle

import pytest

from topoloom import (
    Allocation,
    CommGraph,
    Error,
    Sharing,
    find_bounds,
    judge,
    load_machine,
    place,
)
from topoloom.graphs import molecular_dynamics, through_proxies
from topoloom.placements import Evaluator, objective_value, predicted_time

MACHINES = ("torus:4x4", "tree:4:4,distance=1:5", "mesh:2x4+node:2")


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("mapper", ["block", "bricks", "multisection", "random"])
def test_all_measures_count_messages_through_proxies(machine: str, mapper: str) -> None:
    slots = Allocation.whole(load_machine(machine + ",bandwidth=1GB/s"))
    graph = molecular_dynamics((3, 3, 3), 3000)
    copies = molecular_dynamics((3, 3, 3), 3000, proxies=False)
    placement = place(graph, slots, mapper, sharing=Sharing(0.5)).placement
    judged = judge(graph, slots, placement)
    sent = through_proxies(graph, placement)
    assert judged.hop_bytes == judge(sent, slots, placement).hop_bytes
    assert judged.hop_bytes < judge(copies, slots, placement).hop_bytes
    assert judged.hop_bytes == objective_value(
        graph, slots, placement, objective="hop-bytes"
    )
    assert predicted_time(graph, slots, placement) == predicted_time(
        sent, slots, placement
    )
    hottest = judged.hottest[0]
    assert hottest[1] == max(judged.loads)
    with pytest.raises(Error, match="counts every message"):
        Evaluator(graph, slots, placement, objective="hop-bytes")
    with pytest.raises(Error, match="send through proxies"):
        find_bounds(graph, slots, sharing=Sharing(0.5))


def test_graphs_keep_their_proxied_ranks() -> None:
    graph = CommGraph.from_edges(4, [0, 0, 3], [1, 2, 0], [5, 5, 7], proxied=[0])
    assert graph.proxied.tolist() == [0]
    assert pickle.loads(pickle.dumps(graph)) == graph
    assert graph != CommGraph.from_edges(4, [0, 0, 3], [1, 2, 0], [5, 5, 7])
    with pytest.raises(Error, match="rank 4 cannot be proxied"):
        CommGraph.from_edges(4, [0], [1], [5], proxied=[4])
