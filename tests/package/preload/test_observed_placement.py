# SPDX-License-Identifier: BSD-3-Clause
"""The hosts and CPUs that ranks report give their placement."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from topoloom import Allocation, Error, Machine, Placement, PlacementFile
from topoloom.launch.host_placement import HostPlacement, host_placement
from topoloom.nodes.node_parts import NodeParts
from topoloom.preload.verify import RankAffinity
from topoloom.preload.verify.observed_placement import (
    find_observed_slots,
    make_observed_placement,
)

NODE = NodeParts(cpus=((0, 4), (1, 5), (2, 6), (3, 7)))
MACHINE = Machine("mesh:3+node:4")
HOSTS = ["a", "b", "c"]


def plan(ranks: int, node: NodeParts = NODE) -> HostPlacement:
    return host_placement(MACHINE, range(3), range(ranks), HOSTS, node=node)


def report(slot: int, cpus: str) -> RankAffinity:
    return RankAffinity(f"{HOSTS[slot // 4]}.site", cpus, 0, "ok", "")


@given(st.lists(st.sampled_from(range(12)), min_size=1))
def test_bound_ranks_are_on_their_slots(slots: list[int]) -> None:
    texts = ("{0}", "{1}", "{0},{1}")
    seen = [
        report(slot, texts[(slot + i) % 3].format(*NODE.cpus[slot % 4]))
        for i, slot in enumerate(slots)
    ]
    found = find_observed_slots(seen, plan(4))
    assert found.slots == slots
    assert found.unbound == []
    assert found.remark() == ""


@given(st.permutations(range(12)), st.sets(st.sampled_from(range(12))))
def test_unbound_ranks_take_the_free_slots_of_their_host(
    slots: list[int], bound: set[int]
) -> None:
    """All slots are used, so that free slots are those of unbound ranks."""
    seen = [
        report(slot, str(slot % 4) if rank in bound else "0-7")
        for rank, slot in enumerate(slots)
    ]
    found = find_observed_slots(seen, plan(12))
    assert sorted(found.slots) == [*range(12)]
    assert [slot // 4 for slot in found.slots] == [slot // 4 for slot in slots]
    assert all(found.slots[rank] == slots[rank] for rank in bound)
    assert found.unbound == [rank for rank in range(12) if rank not in bound]


def test_without_cpus_ranks_take_slots_in_order() -> None:
    seen = [report(slot, "17") for slot in (5, 0, 4)]
    assert find_observed_slots(seen, plan(3, NodeParts())).slots == [4, 0, 5]


@pytest.mark.parametrize(
    ("seen", "message"),
    [
        (RankAffinity("z", "0", 0, "host", ""), "rank 0 ran elsewhere: host 'z' is"),
        (report(0, "9"), "rank 0 ran on CPUs 9 of 'a.site', which belong to no slot"),
    ],
)
def test_unknown_locations_are_refused(seen: RankAffinity, message: str) -> None:
    with pytest.raises(Error, match=message):
        find_observed_slots([seen], plan(1))


def test_slots_outside_the_plan_join_the_end_of_the_allocation() -> None:
    """Block order, the baseline of gains, stays the same."""
    where = Allocation(MACHINE, range(2), [0, 1, 4, 5])
    planned = PlacementFile(MACHINE, where, Placement(where, [5, 1, 0]), fixed=(0,))
    made = make_observed_placement(planned, [3, 1, 3])
    assert made.allocation.slots.tolist() == [0, 1, 4, 5, 3]
    assert made.placement.slots.tolist() == [3, 1, 3]
    assert made.placement.shared
    assert made.fixed == ()
