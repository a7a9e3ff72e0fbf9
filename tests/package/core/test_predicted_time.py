# SPDX-License-Identifier: BSD-3-Clause
"""The predicted time equals its definition, and auto chooses the right objective."""

from __future__ import annotations

from collections import defaultdict
from random import Random

import pytest
from hypothesis import given, settings, strategies as st

from topoloom import (
    Allocation,
    CommGraph,
    Error,
    Machine,
    Objective,
    Placement,
    Sharing,
    place,
)
from topoloom.graphs import alltoall, random_geometric, ring, stencil
from topoloom.graphs.patterns import Request, make_graph, make_phases
from topoloom.graphs.phases import edge_rows
from topoloom.placements import choose_objective, objective_value, predicted_time

NODE = "+node:2,startup=2us,latency=1us,memory=7GB/s,memory-startup=0.3us"
MACHINES = [
    f"torus:3x3,bandwidth=2GB/s,latency=0.2us{NODE}",
    "torus:3x3,bandwidth=2GB/s+node:2,bandwidth=1GB/s,startup=1us",
    f"torus:2x3,nodes=2,bandwidth=2GB/s,latency=0.2us,latency.host=0.7us{NODE}",
    f"torus:2x3,nodes=2,hosts=free,bandwidth=2GB/s,latency=0.2us{NODE}",
    f"dragonfly:3x2,nodes=2,cards=3,bandwidth=2GB/s,bandwidth.host=1GB/s{NODE}",
    f"fattree:3:3,up=1:2,bandwidth=2GB/s,latency=0.1us,routing=random{NODE}",
    f"hyperx:3x2,bandwidth=2GB/s,latency=0.1us{NODE}",
    "tree:9,bandwidth=5GB/s+node:2",
    "tree:9,bandwidth=5GB/s",
]
FAST = "auto(effort=fast)"
OTHERS = ["torus:3x3+node:2", "tree:9,bandwidth=5+node:2,startup=3us", "hyperx:3x3"]


def compute_time(graph: CommGraph, machine: Machine, node: list[int]) -> float:
    """Compute the predicted time from docs/concepts.md, round by round."""
    rows = [row for row in edge_rows(graph).tolist() if row[0] != row[1]]
    counts = sorted({row[3] for row in rows})
    return sum(
        compute_time_of_rounds(
            [
                (source, target, last * size // all_ - first * size // all_)
                for source, target, size, all_ in rows
                if all_ >= last
            ],
            last - first,
            machine,
            node,
        )
        for first, last in zip([0, *counts], counts, strict=False)
    )


def compute_time_of_rounds(
    rows: list[tuple[int, int, int]], rounds: int, machine: Machine, node: list[int]
) -> float:
    """Compute the time of equal rounds from startups, routes and busiest resources."""
    inside: defaultdict[int, int] = defaultdict(int)
    leaving: defaultdict[int, int] = defaultdict(int)
    way: defaultdict[int, float] = defaultdict(float)
    largest: defaultdict[int, float] = defaultdict(float)
    memory: defaultdict[tuple[str, int], float] = defaultdict(float)
    network: defaultdict[tuple[str, int], float] = defaultdict(float)
    for source, target, size in rows:
        a, b = node[source], node[target]
        memory["read", a] += size / machine.memory_bandwidth
        memory["written", b] += size / machine.memory_bandwidth
        needs = [size / machine.memory_bandwidth]
        if a == b:
            inside[source] += 1
        else:
            leaving[source] += 1
            network["out", a] += size / machine.port_bandwidth
            network["in", b] += size / machine.port_bandwidth
            route = machine.route(a, b)
            links = sum(share * machine.latency(link) for link, share in route)
            way[source] = max(way[source], machine.node_latency + links)
            needs.append(size / machine.port_bandwidth)
            for link, share in route:
                needs.append(share * size / machine.bandwidth(link))
                network["link", link] += needs[-1]
        largest[source] = max(largest[source], *needs)
    senders = {row[0] for row in rows}
    late = {
        rank: rounds
        * (
            leaving[rank] * machine.startup
            + inside[rank] * machine.memory_startup
            + way[rank]
        )
        for rank in senders
    }
    leavers = [rank for rank in senders if leaving[rank]]
    wait = sum(inside[rank] for rank in leavers) * machine.memory_startup
    wait /= max(1, sum(leaving.values()))
    start = machine.startup if leavers else machine.memory_startup
    first = rounds * (max(way.values(), default=0) + start)
    first_inside = rounds * machine.memory_startup if any(inside.values()) else first
    most = max(network.values(), default=0), max(memory.values())
    last = most[1] / (len(rows) / len(senders))
    if leavers:
        last = max(last, most[0] / (sum(leaving.values()) / len(leavers)))
    return max(
        first + rounds * wait + most[0],
        first_inside + most[1],
        max(late[rank] + largest[rank] for rank in senders),
        max(late.values()) + last,
    )


@st.composite
def draw_graph(draw: st.DrawFn) -> CommGraph:
    """Draw messages between up to 9 ranks, including self-messages."""
    ranks = draw(st.integers(2, 9))
    rank = st.integers(0, ranks - 1)
    pairs = draw(st.lists(st.tuples(rank, rank), min_size=1, max_size=20, unique=True))
    sizes = [draw(st.integers(0, 100_000)) for _ in pairs]
    messages = [draw(st.integers(1, 5)) for _ in pairs]
    source, target = zip(*pairs, strict=True)
    return CommGraph.from_edges(ranks, source, target, sizes, messages)


@given(st.sampled_from(MACHINES), draw_graph(), st.randoms(use_true_random=False))
def test_the_predicted_time_equals_its_definition(
    text: str, graph: CommGraph, random: Random
) -> None:
    machine = Machine(text)
    allocation = Allocation.whole(machine)
    slots = random.sample(range(machine.slot_count), graph.rank_count)
    placement = Placement(allocation, slots)
    node = [slot // machine.slots_per_node for slot in slots]
    expected = compute_time(graph, machine, node)
    assert predicted_time(graph, allocation, placement) == pytest.approx(expected)
    if expected:
        value = objective_value(graph, allocation, placement, objective="time")
        assert value == pytest.approx(expected)


def test_the_time_of_phases_is_the_sum_of_their_times() -> None:
    request = Request(ranks=16, bytes=100_000)
    graph = make_graph("bruck", request)
    phases = make_phases("bruck", request)
    allocation = Allocation.whole(Machine(MACHINES[0]))
    placement = place(graph, allocation, "block").placement
    each = [predicted_time(phase, allocation, placement) for phase in phases]
    together = predicted_time(graph, allocation, placement, phases=phases)
    assert together == pytest.approx(sum(each))


@pytest.mark.parametrize("text", OTHERS)
def test_without_bandwidths_there_is_no_predicted_time(text: str) -> None:
    machine = Machine(text)
    allocation = Allocation.whole(machine)
    placement = place(ring(9, 1000), allocation, "block").placement
    assert not machine.has_bandwidths
    assert predicted_time(ring(9, 1000), allocation, placement) == 0
    assert choose_objective(ring(9, 1000), allocation) == (
        Objective.hop_bytes,
        "the machine gives no bandwidths",
    )
    with pytest.raises(Error, match="time needs bandwidths, and the machine"):
        place(ring(9, 1000), allocation, objective="time")


def make_problems(bytes_per_message: int) -> list[CommGraph]:
    return [
        stencil([3, 3], 5, True, bytes_per_message),
        random_geometric(9, bytes_per_message, 3),
        alltoall(9, bytes_per_message),
        ring(8, bytes_per_message),
    ]


@pytest.mark.parametrize("text", [*MACHINES, *OTHERS])
@pytest.mark.parametrize("bytes_per_message", [8, 10**6])
def test_auto_equals_the_chosen_objective(text: str, bytes_per_message: int) -> None:
    allocation = Allocation.whole(Machine(text))
    for graph in make_problems(bytes_per_message):
        objective, reason = choose_objective(graph, allocation)
        assert objective in (Objective.hop_bytes, Objective.time)
        assert reason
        auto = place(graph, allocation, FAST, objective=Objective.auto)
        chosen = place(
            graph, allocation, FAST, objective=objective, automatic_objective=True
        )
        assert auto.placement.slots.tolist() == chosen.placement.slots.tolist()
        assert auto.work == chosen.work
        unnamed = place(graph, allocation, FAST).placement
        assert unnamed.slots.tolist() == auto.placement.slots.tolist()


@pytest.mark.parametrize("text", MACHINES)
def test_auto_minimizes_time_for_long_and_for_short_messages(
    text: str,
) -> None:
    allocation = Allocation.whole(Machine(text))
    for graph in make_problems(10**6):
        assert choose_objective(graph, allocation)[0] == Objective.time
    for graph in make_problems(1):
        objective, reason = choose_objective(graph, allocation)
        assert objective == Objective.time
        assert reason.startswith("latency-bound: startup and latency are")


def test_remapping_and_sharing_use_hop_bytes() -> None:
    allocation = Allocation.whole(Machine(MACHINES[0]))
    shared = choose_objective(
        ring(30, 10**6), allocation, sharing=Sharing(imbalance=0.1)
    )
    assert shared == (Objective.hop_bytes, "ranks share slots")
    nothing = CommGraph.from_edges(4, [], [], [])
    assert choose_objective(nothing, allocation) == (
        Objective.hop_bytes,
        "nothing is sent",
    )


@given(st.sampled_from(MACHINES), draw_graph(), st.integers(1, 5))
def test_auto_is_never_predicted_slower_than_block(
    text: str, graph: CommGraph, seed: int
) -> None:
    allocation = Allocation.whole(Machine(text))
    block = place(graph, allocation, "block").placement
    placed = place(graph, allocation, FAST, seed=seed).placement
    before = predicted_time(graph, allocation, block)
    assert predicted_time(graph, allocation, placed) <= before * (1 + 1e-9)


@given(st.sampled_from(MACHINES), draw_graph(), st.integers(1, 5))
@settings(max_examples=15)
def test_hop_bytes_chosen_automatically_are_never_predicted_slower_than_block(
    text: str, graph: CommGraph, seed: int
) -> None:
    allocation = Allocation.whole(Machine(text))
    block = place(graph, allocation, "block").placement
    placed = place(
        graph,
        allocation,
        FAST,
        seed=seed,
        objective="hop-bytes",
        automatic_objective=True,
    ).placement
    before = predicted_time(graph, allocation, block)
    assert predicted_time(graph, allocation, placed) <= before * (1 + 1e-9)
