# SPDX-License-Identifier: BSD-3-Clause
"""Tests the exact searches and the checks of `make bench-balance`."""

from __future__ import annotations

import random
from itertools import product

import pytest

import topoloom as tl
from balance import exactness, near, optimality, repartitions, scattered, simulated


def find_fewest_messages(excess: list[int]) -> int:
    """Find the fewest messages by trying all groupings; balanced groups save one."""
    best = len(excess)
    for groups in product(range(len(excess)), repeat=len(excess)):
        sums: dict[int, int] = {}
        for group, tasks in zip(groups, excess, strict=True):
            sums[group] = sums.get(group, 0) + tasks
        if not any(sums.values()):
            best = min(best, len(excess) - len(sums))
    return best


@pytest.mark.parametrize(
    "excess", [[1, -1], [2, -1, -1], [3, -1, -2, 4, -4], [1, 1, -1, -1], [5, -2, -3]]
)
def test_the_fewest_messages_are_found(excess: list[int]) -> None:
    assert optimality.fewest_messages(excess) == find_fewest_messages(excess)


@pytest.mark.parametrize(
    ("excess", "largest"), [([3, -1, -2], 2), ([1, 1, 1, -3], 3), ([2, -2, 5, -5], 5)]
)
def test_the_smallest_maximum_message_is_the_largest_deficit(
    excess: list[int], largest: int
) -> None:
    assert optimality.least_largest_message(excess) == largest


def test_the_alias_method_equals_exact_search() -> None:
    found = optimality.search(5, 20)
    assert found.receives == found.largest == found.draws
    assert 1 <= found.exact <= found.ratio <= found.worst <= 2


def test_guarantees_are_checked_on_random_loads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(exactness, "SIZES", {3: 10, 50: 10})
    for kept in exactness.check():
        assert kept.broken == 0
        assert kept.least <= kept.below
        assert kept.loads == 530


def test_near_partners_are_measured_on_whole_and_ragged_nodes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(near, "MACHINES", {"torus:6x6x6": 100})
    for ragged, kind in product((False, True), (near.WALKERS, near.CLOUD)):
        case = near.measure("torus:6x6x6", ragged, kind, 1)
        assert case.ranks == (100 if ragged else 216)
        assert case.over("auto", "alias") < 1
        assert case.over("transport(receives=0)", "auto") <= 1


@pytest.mark.parametrize("ranks", simulated.TORI)
def test_tori_have_a_core_for_each_simulated_rank(ranks: int) -> None:
    machine = tl.load_machine(simulated.machine(ranks))
    assert machine.slot_count == ranks


def test_scattered_nodes_are_neighbors_along_the_curve() -> None:
    machine = tl.load_machine("torus:8x8x8")
    nodes = random.Random(1).sample(range(512), 60)
    order = scattered.sort_nodes_along_curve(machine, nodes)
    assert sorted(order) == sorted(nodes)
    drawn, along = (machine.hops(at[:-1], at[1:]).sum() for at in (nodes, order))
    assert along < drawn


def test_all_balancers_are_measured_on_the_same_task_sequences() -> None:
    tasks = next(repartitions.sequences(1))
    assert len(tasks.loads) == repartitions.STEPS
    assert set(tasks.start.tolist()) == set(range(tasks.ranks))
    stay = repartitions.measure(tasks, lambda _tasks, _loads, owners: owners)
    alone = repartitions.measure(tasks, repartitions.choose_by_few_bytes)
    ours = repartitions.measure(tasks, repartitions.ours)
    assert stay.moved == 0
    assert stay.imbalance > 1.5
    assert max(alone.imbalance, ours.imbalance) <= 1.02 + 1e-9
    assert 1 <= alone.moved <= 1.2
    assert ours.cost < 0.8 * alone.cost
