# SPDX-License-Identifier: BSD-3-Clause
"""Objectives from Python: values, phases, background traffic, NIC ports."""

from __future__ import annotations

import numpy as np
import pytest

from topoloom import Allocation, CommGraph, Error, Machine, Placement, judge, place
from topoloom.allocations import fragmented_allocation
from topoloom.graphs import alltoall, random_geometric, ring, stencil
from topoloom.graphs.patterns import Request, make_graph, make_phases
from topoloom.placements import objective_value

OBJECTIVES = (
    "congestion",
    "congestion-soft",
    "time",
    "weighted(hop-bytes=1,congestion=2)",
)


def make_problems() -> list[tuple[CommGraph, Allocation]]:
    torus = fragmented_allocation(Machine("torus:5x5,bandwidth=1GB/s"), 9, 3, 2)
    tree = Machine("tree:4:4,bandwidth=1GB/s:2GB/s,latency=1us+node:2,bandwidth=1GB/s")
    return [
        (stencil([3, 3], 5, True, 1000), torus),
        (random_geometric(8, 1000, 3), torus),
        (alltoall(6, 1000), Allocation.whole(tree)),
    ]


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_auto_is_never_worse_than_the_mappers_it_tries(objective: str) -> None:
    for graph, allocation in make_problems():

        def compute_value(mapper: str, graph: CommGraph, at: Allocation) -> float:
            placement = place(graph, at, mapper, objective=objective).placement
            return objective_value(graph, at, placement, objective=objective)

        best = compute_value("auto", graph, allocation)
        for mapper in ("block", "mahd", "mahd+swap"):
            assert best <= compute_value(mapper, graph, allocation)


def test_congestion_objective_equals_the_congestion_of_judge() -> None:
    for graph, allocation in make_problems():
        placement = place(graph, allocation, "mahd+swap+local-opt").placement
        value = objective_value(graph, allocation, placement, objective="congestion")
        assert value == judge(graph, allocation, placement).congestion_max


def test_a_mix_is_relative_to_block_placement() -> None:
    graph, allocation = make_problems()[0]
    block = place(graph, allocation, "block").placement
    mix = "weighted(hop-bytes=1,congestion=2)"
    assert objective_value(graph, allocation, block, objective=mix) == 3


def test_messages_of_different_phases_share_no_links() -> None:
    """Two ranks of a node send over its only link, in one phase or in two.

    Congestion is summed over the phases, so a phase that two placements share does not
    change the difference of their values.
    """
    request = Request(ranks=8, bytes=100)
    graph = make_graph("recursive-doubling", request)
    phases = make_phases("recursive-doubling", request)
    allocation = Allocation.whole(Machine("torus:8"))
    placement = place(graph, allocation, "block").placement
    each = [judge(p, allocation, placement).congestion_max for p in phases]
    value = objective_value(
        graph, allocation, placement, objective="congestion", phases=phases
    )
    assert value == sum(each)
    assert value != judge(graph, allocation, placement).congestion_max


def test_phases_can_change_the_best_placement() -> None:
    request = Request(ranks=16, bytes=100)
    graph = make_graph("bruck", request)
    phases = make_phases("bruck", request)
    allocation = Allocation.whole(Machine("torus:4x4"))

    def compute_value(placement: Placement) -> float:
        return objective_value(
            graph, allocation, placement, objective="congestion", phases=phases
        )

    aware = place(graph, allocation, objective="congestion", phases=phases).placement
    blind = place(graph, allocation, objective="congestion").placement
    assert compute_value(aware) <= compute_value(blind)


def test_background_traffic_keeps_messages_off_busy_links() -> None:
    machine = Machine("mesh:4")
    allocation = Allocation.whole(machine)
    busy = [
        link for link in range(machine.link_count) if 3 not in machine.link_ends(link)
    ]
    background = np.zeros(machine.link_count)
    background[busy] = 500
    graph = ring(2, 100)
    placement = place(
        graph, allocation, objective="congestion", background=background
    ).placement
    assert sorted(placement.slots.tolist()) == [2, 3]
    assert not judge(graph, allocation, placement).loads[busy].any()
    worth = [
        objective_value(
            graph,
            allocation,
            Placement(allocation, slots),
            objective="congestion",
            background=background,
        )
        for slots in ([2, 3], [0, 1])
    ]
    assert worth == [500, 600]


@pytest.mark.parametrize(
    ("slots", "seconds"),
    [
        ([0, 1], 0.5 + 2 * 100 / 1000),  # startup, two messages through one memory
        ([0, 2], 3 + 1 + 100 / 5),  # startup, one link, the NIC port
        ([0, 4], 3 + 2 + 100 / 5),  # two links
    ],
)
def test_time_includes_startup_latency_and_the_nic_port(
    slots: list[int], seconds: float
) -> None:
    machine = Machine(
        "torus:4,bandwidth=10MB/s,latency=1s"
        "+node:2,bandwidth=5MB/s,startup=3s,memory=1000MB/s,memory-startup=0.5s"
    )
    allocation = Allocation.whole(machine)
    placement = Placement(allocation, slots)
    graph = ring(2, 100 * 10**6)
    value = objective_value(graph, allocation, placement, objective="time")
    assert value == pytest.approx(seconds)


def test_with_a_fast_nic_port_the_link_is_the_bottleneck() -> None:
    machine = Machine("torus:4,bandwidth=10MB/s+node:1,bandwidth=50MB/s,startup=0s")
    allocation = Allocation.whole(machine)
    placement = Placement(allocation, [0, 1])
    graph = ring(2, 100 * 10**6)
    value = objective_value(graph, allocation, placement, objective="time")
    assert value == pytest.approx(10)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"objective": "timed"}, "no objective 'timed' (did you mean 'time'?)"),
        ({"background": np.ones(3)}, "the background has 3 links"),
        ({"background": -np.ones(8)}, "a background load is -1"),
    ],
)
def test_impossible_objectives_are_refused(
    more: dict[str, object], message: str
) -> None:
    allocation = Allocation.whole(Machine("torus:4"))
    with pytest.raises(Error) as caught:
        place(ring(4), allocation, **{"objective": "congestion", **more})  # type: ignore[arg-type]
    assert message in str(caught.value)


def test_phases_with_other_ranks_than_the_pattern_are_refused() -> None:
    allocation = Allocation.whole(Machine("torus:4"))
    with pytest.raises(Error, match="a phase has 3 ranks, but the pattern has 4"):
        place(ring(4), allocation, objective="congestion", phases=[ring(3)])
