# SPDX-License-Identifier: BSD-3-Clause
"""Meaningless values are refused; shared slots give the usual measures."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from topoloom import (
    Allocation,
    CommGraph,
    Error,
    Machine,
    Placement,
    Sharing,
    find_bounds,
    judge,
    place,
)
from topoloom.allocations import allocation_shape, choose_nodes
from topoloom.graphs import random_geometric, ring
from topoloom.placements import (
    choose_objective,
    objective_value,
    predicted_time,
    solve_qap,
)
from topoloom.schedules import (
    GridLinks,
    NodeMap,
    Schedule,
    Step,
    find_free_order,
    meetings_any_ascent,
    meetings_on_routes,
)

MACHINE = Machine("torus:4x4,bandwidth=1GB/s")
ALL = Allocation.whole(MACHINE)
GRAPH = ring(16)
ROWS = Placement(ALL, range(16))
LIMITED: list[Callable[..., object]] = [
    lambda **given: place(GRAPH, ALL, "block", **given),
    lambda **given: find_bounds(GRAPH, ALL, **given),
    lambda **given: choose_nodes(ring(4), ALL, 4, "block", **given),
    lambda **given: solve_qap([[0]], [[0]], **given),
]
THREADED = [
    *LIMITED,
    lambda **given: judge(GRAPH, ALL, ROWS, **given),
    lambda **given: allocation_shape(ALL, **given),
    lambda **given: Schedule("ring", "allgather", 4, 8).graph(**given),
]


@pytest.mark.parametrize("call", LIMITED)
@pytest.mark.parametrize("seconds", [math.nan, -1, -math.inf])
def test_seconds_must_not_be_negative(
    call: Callable[..., object], seconds: float
) -> None:
    with pytest.raises(Error, match=r"^seconds is .*; it must be 0 or more"):
        call(seconds=seconds)
    call(seconds=0.001)


@pytest.mark.parametrize("call", THREADED)
@pytest.mark.parametrize("threads", [-3, -1, 2**31 - 1])
def test_threads_must_not_be_negative(
    call: Callable[..., object], threads: int
) -> None:
    with pytest.raises(Error, match=rf"^threads is {threads}; it must be 0"):
        call(threads=threads)
    call(threads=2)


PHASED: list[Callable[..., object]] = [
    lambda graph, **given: place(graph, ALL, "block", objective="congestion", **given),
    lambda graph, **given: place(graph, ALL, "block", objective="hop-bytes", **given),
    lambda graph, **given: objective_value(graph, ALL, ROWS, objective="time", **given),
    lambda graph, **given: predicted_time(graph, ALL, ROWS, **given),
    lambda graph, **given: choose_objective(graph, ALL, **given),
]


@pytest.mark.parametrize("call", PHASED)
def test_phases_must_add_up_to_the_graph(call: Callable[..., object]) -> None:
    edges: list[Any] = [[0, 1, 2, 0], [1, 2, 3, 1], [5, 6, 7, 8], [1, 2, 1, 1]]
    graph = CommGraph.from_edges(16, *edges)

    def take_edges(*which: int) -> CommGraph:
        return CommGraph.from_edges(16, *([row[i] for i in which] for row in edges))

    for phases in (
        [],
        [graph],
        [take_edges(0, 1), take_edges(2, 3)],
        [take_edges(3), take_edges(0), take_edges(1, 2)],
    ):
        call(graph, phases=phases)
    for phases in (
        [take_edges(0, 1)],
        [graph, take_edges(2)],
        [take_edges(0, 1, 2)],
        [graph.symmetric()],
    ):
        with pytest.raises(
            Error, match=r"^the phases do not add up to the pattern: in"
        ):
            call(graph, phases=phases)
    with pytest.raises(Error, match="a phase has 15 ranks, but the pattern has 16"):
        call(graph, phases=[ring(15)])
    with pytest.raises(TypeError, match="phases must hold a CommGraph each"):
        call(graph, phases=[None])


@pytest.mark.parametrize("ranks", [3, 16, 40])
def test_objective_values_of_shared_placements_equal_judge(ranks: int) -> None:
    graph = random_geometric(ranks, 1000, 3, degree=1.5)
    slots = np.random.default_rng(ranks).integers(0, 16, ranks)
    shared = Placement(ALL, slots, shared=True)
    found = judge(graph, ALL, shared)

    def compute_value(objective: str) -> float:
        return objective_value(graph, ALL, shared, objective=objective)

    assert compute_value("hop-bytes") == compute_value("auto") == found.hop_bytes
    assert compute_value("congestion") == found.congestion_max
    assert compute_value("time") == predicted_time(graph, ALL, shared)
    with pytest.raises(Error, match=r"^a mix is relative to block placement"):
        compute_value("weighted(hop-bytes=1,time=2)")


def test_objective_values_of_shared_placements_equal_the_minimized_objective() -> None:
    graph = ring(40, 7)
    found = place(graph, ALL, sharing=Sharing(0.5), work=1000).placement
    value = objective_value(graph, ALL, found, objective="hop-bytes")
    assert value == judge(graph, ALL, found).hop_bytes


def test_steps_of_ranks_without_nodes_are_refused() -> None:
    tree = Machine("fattree:4:4")
    step = Step.shift(6, 1)
    for nodes in ([], [0, 1, 2], [0, 1, 2, 3, 4]):
        for call in (meetings_on_routes, meetings_any_ascent):
            with pytest.raises(Error, match=r"^rank \d of a step has no node"):
                call(tree, step, nodes)
        for on_routes in (False, True)[: len(nodes)]:
            with pytest.raises(Error, match=r"^rank \d of a step has no node"):
                find_free_order(tree, nodes, [step], on_routes)


def count_binomial_messages(
    extents: list[int], nodes: np.ndarray, axis: int, step: int
) -> int:
    """Return the most messages that leave a node if cells send `step` cells ahead."""
    lines = np.moveaxis(nodes.reshape(extents), axis, -1)
    lines = lines.reshape(-1, extents[axis])
    sent = [0] * (int(nodes.max()) + 1)
    for line in lines:
        for at in range(0, len(line) - step, 2 * step):
            sent[line[at]] += int(line[at] != line[at + step])
    return max(sent)


@pytest.mark.parametrize("seed", range(30))
def test_the_time_covers_all_messages_of_a_binomial_round(seed: int) -> None:
    rng = np.random.default_rng(seed)
    extents = rng.integers(1, 6, rng.integers(1, 4)).tolist()
    cells = math.prod(extents)
    nodes = rng.integers(0, rng.integers(1, cells + 1), cells)
    nodes = np.unique(nodes, return_inverse=True)[1]
    if rng.random() < 0.5:
        nodes = np.sort(nodes)
    grid = NodeMap(extents, nodes)
    longest = 0.0
    for axis, extent in enumerate(extents):
        steps = [2**s for s in range(20) if 2**s < extent]
        sent = [count_binomial_messages(extents, nodes, axis, step) for step in steps]
        inner = grid.inner_rounds[axis]
        assert sent[:inner] == [0] * inner
        assert inner == len(steps) or sent[inner] > 0
        assert max(sent, default=0) <= max(grid.leaving[axis])
        longest += sum(1 if n == 0 else 10 * -(-n // 2) for n in sent)
    links = GridLinks(inner_s_per_byte=1, outer_s_per_byte=10, channels=2)
    assert longest <= grid.binomial_time("bcast", links, 1)


def test_many_channels_send_all_messages_concurrently() -> None:
    grid = NodeMap([2], [0, 1])
    times = [
        grid.binomial_time("gather", GridLinks(latency_s=1, channels=channels), 1)
        for channels in (1, 2, 2**32 - 1)
    ]
    assert times == [1, 1, 1]


@pytest.mark.parametrize(
    ("extents", "nodes", "why"),
    [
        ([2, 2], [0, 5, 1, 4_000_000_000], "a cell is on node 4000000000, but 4 cells"),
        ([2, 2], [0, 1, 2, 4], "a cell is on node 4, but 4 cells are on at most 4"),
        ([0, 2], [], "a grid of 0x2 has no cells"),
        ([], [], "the grid without axes"),
    ],
)
def test_cells_must_have_nodes_numbered_from_zero(
    extents: list[int], nodes: list[int], why: str
) -> None:
    with pytest.raises(Error, match=why):
        NodeMap(extents, nodes)
