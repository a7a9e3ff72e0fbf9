# SPDX-License-Identifier: BSD-3-Clause
"""Time bounds are compared with all placements of small problems."""

from __future__ import annotations

from itertools import permutations, product
from random import Random
from typing import Any

import pytest

from topoloom import (
    Allocation,
    Bounds,
    CommGraph,
    Error,
    Machine,
    Placement,
    Sharing,
    find_bounds,
    place,
)
from topoloom.allocations import fragmented_allocation
from topoloom.graphs import alltoall, ring, stencil
from topoloom.placements import predicted_time
from topoloom.tasks.optimality_gap import QUICK_WORK

INSIDE = "+node:{},startup=2us,latency=1us,memory=7GB/s,memory-startup=0.3us"
MACHINES = [
    f"torus:4,bandwidth=2GB/s,latency=0.2us{INSIDE.format(1)}",
    f"torus:3,bandwidth=2GB/s,latency=0.2us{INSIDE.format(2)}",
    f"mesh:2x2,bandwidth=2GB/s,latency=3us{INSIDE.format(2)}",
    f"mesh:5,bandwidth=2GB/s,latency=3us{INSIDE.format(1)}",
    "mesh:2x2,bandwidth=2GB/s+node:2,bandwidth=0.5GB/s,memory-startup=3us,startup=1us",
    "tree:2:3,bandwidth=1GB/s:2GB/s,latency=1us:5us",
    "tree:2:2,bandwidth=1GB/s:3GB/s,latency=1us+node:2,memory=1GB/s",
    "fattree:2:3,up=1:2,bandwidth=2GB/s,routing=random",
    "dragonfly:2x3,nodes=1,routing=ugal,bandwidth=2GB/s,bandwidth.host=1GB/s",
    "torus:2x3,bandwidth=2GB/s,latency=0.2us+down:0-1",
    "graph:4+1:0-4,1-4,2>4,4>2,3-4,0-1,bandwidth=1GB/s",
    "rails:2:1:2,bandwidth=50GB/s,bandwidth.nvlink=450GB/s",
]
FAST = "auto(effort=fast)"
SIZES = (0, 8, 3000, 10**5, 10**7)


def draw_graph(random: Random, ranks: int) -> CommGraph:
    edges = random.randint(1, 2 * ranks)
    pairs = [random.sample(range(ranks), 2) for _ in range(edges)]
    source, target = zip(*pairs, strict=True)
    size = [random.choice(SIZES) for _ in pairs]
    most = random.choice((1, 1, 4, 30))
    messages = [random.randint(random.choice((0, 1)), most) for _ in pairs]
    return CommGraph.from_edges(ranks, source, target, size, messages)


def merge_graphs(graphs: list[CommGraph], ranks: int) -> CommGraph:
    columns: list[list[int]] = [[], [], [], []]
    for graph in graphs:
        for rank in range(ranks):
            first, end = graph.first[rank], graph.first[rank + 1]
            columns[0] += [rank] * int(end - first)
            for column, values in zip(
                columns[1:], (graph.peer, graph.bytes, graph.messages), strict=True
            ):
                column += values[first:end].tolist()
    return CommGraph.from_edges(ranks, *columns)


def draw_problem(
    text: str, seed: int, max_slots: int
) -> tuple[CommGraph, Allocation, dict[str, Any]]:
    random = Random(f"{text} {seed}")
    machine = Machine(text)
    slots = random.sample(Allocation.whole(machine).slots.tolist(), machine.slot_count)
    slots = slots[: random.randint(1, max_slots)]
    nodes = dict.fromkeys(slot // machine.slots_per_node for slot in slots)
    allocation = Allocation(machine, list(nodes), slots)
    ranks = random.randint(2, 4)
    phases = [draw_graph(random, ranks) for _ in range(random.choice((1, 1, 2, 3)))]
    options: dict[str, Any] = {"phases": phases} if len(phases) > 1 else {}
    return merge_graphs(phases, ranks), allocation, options


@pytest.mark.parametrize("text", MACHINES)
def test_no_placement_is_faster_than_the_proven_bound(text: str) -> None:
    for seed in range(15):
        graph, allocation, phases = draw_problem(text, seed, 6)
        if graph.rank_count > allocation.slot_count:
            continue
        least = min(
            predicted_time(graph, allocation, Placement(allocation, at), **phases)
            for at in permutations(allocation.slots.tolist(), graph.rank_count)
        )
        check_bounds(find_bounds(graph, allocation, work=10**6, **phases), least)


@pytest.mark.parametrize("text", MACHINES)
def test_no_shared_placement_is_faster_than_the_proven_bound(text: str) -> None:
    for seed in range(15):
        graph, allocation, phases = draw_problem(text, seed, 4)
        slots, ranks = allocation.slots.tolist(), graph.rank_count
        capacities = [1 + (seed + i) % 3 for i, _ in enumerate(slots)]
        if sum(capacities) < ranks:
            continue
        least = min(
            predicted_time(
                graph, allocation, Placement(allocation, at, shared=True), **phases
            )
            for at in product(slots, repeat=ranks)
            if all(
                at.count(s) <= most for s, most in zip(slots, capacities, strict=True)
            )
        )
        sharing = Sharing(capacities=capacities)
        bounds = find_bounds(graph, allocation, sharing=sharing, work=10**6, **phases)
        check_bounds(bounds, least)


def check_bounds(bounds: Bounds, least: float) -> None:
    assert bounds.time is not None
    assert bounds.time <= least
    assert (bounds.time == 0) == (bounds.time_by == "nothing")


@pytest.mark.parametrize("text", MACHINES)
@pytest.mark.parametrize("size", [8, 10**5])
def test_messages_that_do_not_fit_a_node_are_included_in_the_bound(
    text: str, size: int
) -> None:
    allocation = Allocation.whole(Machine(text))
    for graph in (ring(allocation.slot_count, size), alltoall(4, size)):
        bound = find_bounds(graph, allocation, work=10**6).time
        placed = place(graph, allocation, FAST, objective="time").placement
        assert bound is not None
        assert 0 < bound <= predicted_time(graph, allocation, placed)


def test_the_time_of_a_pair_on_two_nodes_is_proven_optimal() -> None:
    allocation = Allocation.whole(Machine(MACHINES[0]))
    graph = CommGraph.from_edges(2, [0], [1], [10**6])
    bounds = find_bounds(graph, allocation)
    seconds = 2e-6 + 1e-6 + 0.2e-6 + 10**6 / 2e9
    assert bounds.time == pytest.approx(seconds)


def test_without_bandwidths_there_is_no_time_bound() -> None:
    bounds = find_bounds(ring(4), Allocation.whole(Machine("torus:4")))
    assert (bounds.time, bounds.time_by, bounds.time_where) == (None, "nothing", "")


def test_phases_must_match_the_graph() -> None:
    allocation = Allocation.whole(Machine(MACHINES[0]))
    with pytest.raises(Error, match="phases"):
        find_bounds(ring(4), allocation, phases=[ring(4), ring(4)])


def test_quick_proofs_of_the_time_leave_work_for_it() -> None:
    """Proofs of hop-bytes take all the work that they can get."""
    graph = stencil([4, 4, 4], points=7, periodic=True, bytes=4096)
    machine = Machine("torus:8x8x8,bandwidth=5GB/s,latency=0.1us")
    allocation = fragmented_allocation(machine, 64, fragments=9, seed=1)
    full = find_bounds(graph, allocation).time
    assert find_bounds(graph, allocation, work=QUICK_WORK).time == full
