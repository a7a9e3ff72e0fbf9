# SPDX-License-Identifier: BSD-3-Clause
"""Traffic of other jobs in judgements, predicted times and bounds."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest

from topoloom import (
    Allocation,
    CommGraph,
    Error,
    Machine,
    Placement,
    find_bounds,
    judge,
)
from topoloom.placements import objective_value, predicted_time

SPEEDS = ",bandwidth=1GB/s,latency=1us"
MACHINES = ["mesh:2x3", "torus:5", "tree:2:3", "fattree:2:2:2", "torus:3x3"]


def draw_graph(rng: np.random.Generator, ranks: int) -> CommGraph:
    """Draw a pattern in which every rank sends to some others."""
    pairs = [(a, b) for a in range(ranks) for b in range(ranks) if a != b]
    chosen = rng.choice(len(pairs), size=2 * ranks, replace=False)
    source, target = np.array(pairs)[chosen].T
    return CommGraph.from_edges(
        ranks, source, target, rng.integers(1, 5, 2 * ranks) * 100
    )


def compute_congestion(machine: Machine, loads: Any) -> float:
    """Compute the largest load over bandwidth by its definition."""
    rates = [machine.bandwidth(link) for link in range(machine.link_count)]
    return float(np.max(np.asarray(loads) / rates))


def list_placements(allocation: Allocation, ranks: int) -> list[Placement]:
    return [
        Placement(allocation, list(slots))
        for slots in permutations(allocation.slots.tolist(), ranks)
    ]


@pytest.mark.parametrize("text", MACHINES)
def test_no_background_and_one_of_zeros_are_the_same(text: str) -> None:
    rng = np.random.default_rng(1)
    machine = Machine(text + SPEEDS)
    allocation = Allocation.whole(machine)
    graph = draw_graph(rng, 5)
    placement = Placement(allocation, rng.permutation(machine.slot_count)[:5])
    none = np.zeros(machine.link_count)
    on = (graph, allocation, placement)
    alone, loaded = judge(*on), judge(*on, background=none)
    assert alone.congestion_with_background is None
    assert judge(*on, background=none[:0], hottest=3).hottest_background == []
    assert alone.hottest_background == []
    assert loaded.congestion_with_background == alone.congestion_max
    assert loaded.hottest == alone.hottest
    assert loaded.hottest_background == [0] * len(alone.hottest)
    assert predicted_time(*on, background=none) == predicted_time(*on)
    for bounds in ("congestion", "congestion_by", "time", "hop_bytes"):
        found = find_bounds(graph, allocation, background=none)
        assert getattr(found, bounds) == getattr(find_bounds(graph, allocation), bounds)


@pytest.mark.parametrize("text", MACHINES)
def test_two_jobs_load_links_like_the_sum_of_their_graphs(text: str) -> None:
    rng = np.random.default_rng(2)
    machine = Machine(text + SPEEDS)
    allocation = Allocation.whole(machine)
    graphs = [draw_graph(rng, 4), draw_graph(rng, 4)]
    slots = [rng.permutation(machine.slot_count)[:4] for _ in graphs]
    placed = [Placement(allocation, one) for one in slots]
    rows = [
        (
            4 * job + np.repeat(np.arange(4), np.diff(one.first).astype(int)),
            4 * job + np.asarray(one.peer, dtype=np.int64),
            np.asarray(one.bytes),
        )
        for job, one in enumerate(graphs)
    ]
    both = CommGraph.from_edges(8, *map(np.concatenate, zip(*rows, strict=True)))
    together = judge(
        both, allocation, Placement(allocation, np.concatenate(slots), shared=True)
    )
    other = judge(graphs[1], allocation, placed[1])
    on = (graphs[0], allocation, placed[0])
    mine = judge(*on, background=other.loads)
    assert mine.congestion_with_background == pytest.approx(together.congestion_max)
    assert objective_value(
        *on, objective="congestion", background=other.loads
    ) == pytest.approx(together.congestion_max)
    # The hottest links are those of both jobs, with the share of the other one.
    loads = {machine.link_name(i): load for i, load in enumerate(other.loads)}
    assert mine.hottest_background == [loads[link] for link, *_ in mine.hottest]
    for (_, load, seconds, _), (_, whole, as_seconds, _) in zip(
        mine.hottest, together.hottest, strict=True
    ):
        assert (load, seconds) == pytest.approx((whole, as_seconds))
    # Own measures do not change.
    alone = judge(*on)
    assert mine.congestion_max == alone.congestion_max
    assert np.array_equal(mine.loads, alone.loads)


@pytest.mark.parametrize("text", MACHINES)
@pytest.mark.parametrize("heavy", [0, 150, 700, 5000])
def test_no_placement_is_below_the_bounds(text: str, heavy: int) -> None:
    rng = np.random.default_rng(heavy)
    machine = Machine(text + SPEEDS)
    allocation = Allocation(machine, rng.permutation(machine.node_count)[:5])
    raised = 0
    for _ in range(3):
        graph = draw_graph(rng, 4)
        background = rng.integers(0, heavy + 1, machine.link_count).astype(float)
        if rng.random() < 0.5:
            background[:] = heavy
        bounds = find_bounds(graph, allocation, background=background)
        alone = find_bounds(graph, allocation)
        assert bounds.time is not None
        assert alone.time is not None
        assert bounds.congestion >= alone.congestion
        assert bounds.time >= alone.time
        raised += bounds.congestion > max(
            alone.congestion, compute_congestion(machine, background)
        )
        placements = list_placements(allocation, 4)
        least = min(
            compute_congestion(
                machine, judge(graph, allocation, one, hottest=0).loads + background
            )
            for one in placements
        )
        assert bounds.congestion <= least
        assert bounds.time <= min(
            predicted_time(graph, allocation, one, background=background)
            for one in placements
        )
    if heavy == 700:
        assert raised > 0


def test_the_bound_adds_the_background_to_the_heaviest_message() -> None:
    machine = Machine("mesh:3")
    allocation = Allocation.whole(machine)
    graph = CommGraph.from_edges(2, [0], [1], [1000])
    background = np.full(machine.link_count, 500.0)
    found = find_bounds(graph, allocation, background=background)
    assert found.congestion == pytest.approx(1500)
    assert found.congestion_by == "message"
    assert find_bounds(graph, allocation, background=9 * background).congestion == (
        pytest.approx(5500)
    )


def test_bounds_by_phase_include_the_background_in_each() -> None:
    machine = Machine("mesh:1x3" + SPEEDS)
    allocation = Allocation.whole(machine)
    phases = [
        CommGraph.from_edges(3, [0, 1], [1, 2], [1000, 1000]),
        CommGraph.from_edges(3, [2], [0], [3000]),
    ]
    graph = CommGraph.from_edges(3, [0, 1, 2], [1, 2, 0], [1000, 1000, 3000])
    background = np.full(machine.link_count, 20_000.0)
    found = find_bounds(graph, allocation, phases=phases, background=background)
    least = min(
        predicted_time(graph, allocation, one, phases=phases, background=background)
        for one in list_placements(allocation, 3)
    )
    assert found.time is not None
    assert 40e-6 < found.time <= least


@pytest.mark.parametrize(
    ("background", "message"),
    [
        ([1.0], "the background has 1 links, but the machine has 4"),
        ([-1.0] * 4, "a background load is -1"),
        ([float("nan")] * 4, "is nan; it must be finite"),
    ],
)
def test_an_invalid_background_is_refused(background: Any, message: str) -> None:
    machine = Machine("mesh:3")
    allocation = Allocation.whole(machine)
    graph = CommGraph.from_edges(2, [0], [1], [1000])
    with pytest.raises((Error, ValueError), match=message):
        judge(graph, allocation, Placement(allocation, [0, 1]), background=background)
    with pytest.raises((Error, ValueError), match=message):
        find_bounds(graph, allocation, background=background)
