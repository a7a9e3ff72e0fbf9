# SPDX-License-Identifier: BSD-3-Clause
"""Finds the slots of an earlier placement on the current machine."""

from __future__ import annotations

import numpy as np
import pytest

from topoloom import Allocation, Error, Machine, Placement, PlacementFile, place
from topoloom.graphs import ring
from topoloom.placements.previous_slots import count_moved_ranks, find_previous_slots


def allocate(machine: Machine, nodes: list[int]) -> Allocation:
    return Allocation(machine, np.array(nodes, dtype=np.uint32))


def make_earlier_placement(
    machine: str, nodes: list[int], slots: list[int], hosts: str | None = None
) -> PlacementFile:
    allocation = allocate(Machine(machine), nodes)
    return PlacementFile(
        machine=allocation.machine,
        allocation=allocation,
        placement=Placement(allocation, np.array(slots, dtype=np.uint32)),
        hosts=tuple(hosts) if hosts else None,
    )


def list_previous_slots(
    before: PlacementFile,
    machine: str,
    nodes: list[int],
    hosts: str | None = None,
    ranks: int = 4,
) -> list[int]:
    now = allocate(Machine(machine), nodes)
    slots: list[int] = find_previous_slots(
        before, now, tuple(hosts or "") or None, ranks
    )
    return list(slots)


def test_without_host_names_nodes_are_identified_by_number() -> None:
    before = make_earlier_placement("torus:4x4", [5, 2, 9, 7], [9, 2, 7, 5])
    assert list_previous_slots(before, "torus:4x4", [7, 9, 5, 2]) == [9, 2, 7, 5]


def test_host_names_of_only_one_placement_are_ignored() -> None:
    before = make_earlier_placement(
        "torus:4x4", [5, 2, 9, 7], [9, 2, 7, 5], hosts="abcd"
    )
    assert list_previous_slots(before, "torus:4x4", [7, 9, 5, 2]) == [9, 2, 7, 5]
    before = make_earlier_placement("torus:4x4", [5, 2, 9, 7], [9, 2, 7, 5])
    assert list_previous_slots(before, "torus:4x4", [7, 9, 5, 2], hosts="abcd") == [
        9,
        2,
        7,
        5,
    ]


def test_hosts_are_found_by_name_in_a_renumbered_machine() -> None:
    before = make_earlier_placement(
        "torus:4x4+node:2", [5, 2], [11, 4, 10, 5], hosts="ab"
    )
    # Host a was node 5 and is node 0; host b was node 2 and is node 3.
    assert list_previous_slots(before, "mesh:8+node:2", [3, 0], hosts="ba") == [
        1,
        6,
        0,
        7,
    ]


def test_ranks_on_lost_hosts_and_new_ranks_have_no_previous_slot() -> None:
    before = make_earlier_placement("torus:4x4", [5, 2, 9], [9, 2, 5], hosts="abc")
    assert list_previous_slots(before, "torus:4x4", [5, 9, 1, 0], "acde", ranks=4) == [
        9,
        -1,
        5,
        -1,
    ]


def test_ranks_that_no_longer_exist_are_omitted() -> None:
    before = make_earlier_placement("torus:4x4", [5, 2, 9], [9, 2, 5])
    assert list_previous_slots(before, "torus:4x4", [5, 2], ranks=2) == [9, 2]


def test_another_machine_without_names_is_refused() -> None:
    before = make_earlier_placement("torus:4x4", [5, 2, 9], [9, 2, 5], hosts="abc")
    with pytest.raises(Error, match=r"for torus:4x4, not mesh:4x4, and nodes cannot"):
        list_previous_slots(before, "mesh:4x4", [5, 2, 9])


def test_nodes_with_another_number_of_slots_are_refused() -> None:
    before = make_earlier_placement("torus:4x4", [5, 2, 9], [9, 2, 5], hosts="abc")
    with pytest.raises(Error, match=r"nodes of 1 slot, but nodes of .* have 2"):
        list_previous_slots(before, "torus:4x4+node:2", [5, 2, 9], hosts="abc")


def test_only_ranks_with_a_previous_slot_count_as_moved() -> None:
    now = allocate(Machine("torus:4x4"), [5, 2, 9, 7])
    placement = Placement(now, np.array([9, 2, 7, 5], dtype=np.uint32))
    assert count_moved_ranks(np.array([9, 2, 7, 5]), placement) == 0
    assert count_moved_ranks(np.array([9, -1, 5, 7]), placement) == 2


def test_no_rank_moves_if_migration_costs_more_than_it_saves() -> None:
    machine = Machine("torus:4x4")
    whole = Allocation.whole(machine)
    scattered = place(ring(16, 1), whole, mapper="random", seed=3).placement
    before = np.asarray(scattered.slots, dtype=np.int64)
    dear = place(ring(16, 1), whole, previous=before, migration_cost=1000).placement
    assert count_moved_ranks(before, dear) == 0
    free = place(ring(16, 1), whole, previous=before).placement
    assert count_moved_ranks(before, free) > 0
