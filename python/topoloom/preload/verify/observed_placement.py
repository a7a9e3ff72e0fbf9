# SPDX-License-Identifier: BSD-3-Clause
"""Converts the reported hosts and CPUs of ranks to a placement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from topoloom._core import Allocation, Error, Placement
from topoloom.launch.host_placement import HostPlacement
from topoloom.launch.rank_location import find_host
from topoloom.nodes.host_slot_numbers import HostSlotNumbers
from topoloom.placements.placement_file import PlacementFile
from topoloom.support.number_ranges import expand_ranges
from topoloom.support.units import counted

if TYPE_CHECKING:
    from topoloom.preload.verify.affinity_report import RankAffinity

#: Name of the mapper of observed placements.
OBSERVED = "observed"
_MAX_CPUS = 2**20


class ObservedSlots(NamedTuple):
    """The machine's slot of each rank, and the ranks that may run on several slots."""

    slots: list[int]
    unbound: list[int]

    def remark(self) -> str:
        """Describe in one sentence what was assumed; "" if nothing."""
        if not self.unbound:
            return ""
        return (
            f"{counted(len(self.unbound), 'rank')} may run on several slots; assumed: "
            "the first free one"
        )


class _RankSlots(NamedTuple):
    rank: int
    host: int
    candidates: list[int]  # local slots on which the rank may run


def find_observed_slots(
    ranks: Sequence[RankAffinity], planned: HostPlacement
) -> ObservedSlots:
    """Find the slot of each rank by its host and CPUs.

    A rank that may run on several slots is on the first one that no other rank uses;
    ranks with fewer slots come first. Without CPU numbers, ranks may run on all slots
    of their host. Raises `topoloom.Error` for hosts outside the allocation, and CPUs of
    no slot.
    """
    found = [_list_candidates(rank, one, planned) for rank, one in enumerate(ranks)]
    slots_of = HostSlotNumbers(planned.machine, planned.node)
    numbers = (planned.nodes // planned.machine.nodes_per_host).tolist()
    taken: set[tuple[int, int]] = set()
    slots = [0] * len(found)
    each = planned.slots_per_rank
    for rank, host, candidates in sorted(found, key=lambda one: len(one.candidates)):
        free = (slot for slot in candidates if (host, slot) not in taken)
        local = next(free, candidates[0])
        taken.update((host, slot) for slot in range(local, local + each))
        slots[rank] = slots_of.global_slot(numbers[host], local)
    unbound = [one.rank for one in found if len(one.candidates) > each]
    return ObservedSlots(slots, unbound)


def _list_candidates(
    rank: int, seen: RankAffinity, planned: HostPlacement
) -> _RankSlots:
    try:
        host = find_host(planned, seen.host)
    except Error as error:
        raise Error(f"rank {rank} ran elsewhere: {error}") from None
    known = planned.parts_of_host[host].cpus
    if not known:
        return _RankSlots(rank, host, list(range(int(planned.slots_of_host[host]))))
    allowed = set(expand_ranges(seen.cpus, _MAX_CPUS))
    candidates = [slot for slot, cpus in enumerate(known) if allowed & set(cpus)]
    if not candidates:
        raise Error(
            f"rank {rank} ran on CPUs {seen.cpus} of '{seen.host}', which belong to no "
            "slot of the machine"
        )
    return _RankSlots(rank, host, candidates)


def make_observed_placement(
    planned: PlacementFile, slots: Sequence[int], command: tuple[str, ...] = ()
) -> PlacementFile:
    """Make the placement with these slots for the job of a planned placement.

    Slots of the job's nodes that it was not meant to use join its allocation.
    """
    where = planned.allocation
    extra = np.setdiff1d(np.array(slots, np.uint32), where.slots)
    if len(extra):
        every = np.concatenate([where.slots, extra])
        where = Allocation(planned.machine, where.nodes, every)
    shared = len(set(slots)) < len(slots)
    return replace(
        planned,
        allocation=where,
        placement=Placement(where, slots, shared=shared),
        values={},
        mapper=OBSERVED,
        seed=0,
        work=0,
        command=command,
        capacities=(),
        fixed=(),
    )
