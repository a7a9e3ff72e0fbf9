# SPDX-License-Identifier: BSD-3-Clause
"""Reads which ranks must be on which slots: ``0=host1:0,7=host2``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from topoloom._core import Placement
from topoloom.nodes.host_slot_numbers import HostSlotNumbers
from topoloom.nodes.hosts import slots_per_host
from topoloom.support.name_lookup import describe_unknown_name
from topoloom.support.number_ranges import compress_ranges
from topoloom.support.parameter_error import ParameterError
from topoloom.support.plain_text import is_number
from topoloom.tasks.problem import Problem

#: No rank must be on a given slot.
NO_FIXED_RANKS: Mapping[int, int] = MappingProxyType({})

_ENTRY = re.compile(r"([0-9]{1,9})=([^=]+)", re.ASCII)


def are_in_place(fixed: Mapping[int, int], placement: Placement) -> bool:
    """Return whether all fixed ranks are on their slots."""
    return all(placement.slots[rank] == slot for rank, slot in fixed.items())


def read_fixed_ranks(
    text: str | None, problem: Problem, shared: bool = False
) -> dict[int, int]:
    """Read the slot of each fixed rank from ``RANK=PLACE,...``; None fixes none.

    PLACE is ``HOST:SLOT`` with a slot number of the host, the number of a slot in the
    allocation, or a host. A host alone is its first slot that no other entry names.
    With `shared`, several ranks may be on one slot.

    Raises
    ------
    ParameterError
        If the text is malformed, a rank, host or slot does not exist, or a rank or an
        unshared slot occurs twice.
    """
    if text is None:
        return {}
    places = _split_entries(text, problem.graph.rank_count)
    slots = _JobSlots(problem)
    rank_on: dict[int, int] = {}
    slot_of = {
        rank: slot
        for rank, place in places.items()
        if (slot := slots.find(place)) is not None
    }
    for rank, slot in slot_of.items():
        if not shared and rank_on.setdefault(slot, rank) != rank:
            raise ParameterError(
                "fix", f"puts ranks {rank_on[slot]} and {rank} on the same slot"
            )
    for rank, host in places.items():
        if rank in slot_of:
            continue
        of_host = slots.list_of_host(host)
        free = [slot for slot in of_host if shared or slot not in rank_on]
        if not free:
            raise ParameterError(
                "fix", f"puts more ranks on {host} than its {len(of_host)} slots"
            )
        slot_of[rank] = free[0]
        rank_on[free[0]] = rank
    return slot_of


def _split_entries(text: str, ranks: int) -> dict[int, str]:
    """Split the text into the place of each rank."""
    places: dict[int, str] = {}
    for entry in text.split(","):
        match = _ENTRY.fullmatch(entry.strip())
        if match is None:
            raise ParameterError(
                "fix",
                f"contains '{entry}'; write RANK=HOST:SLOT, RANK=HOST or RANK=NUMBER",
            )
        rank = int(match[1])
        if rank >= ranks:
            raise ParameterError(
                "fix", f"names rank {rank}, but ranks are 0 to {ranks - 1}"
            )
        if rank in places:
            raise ParameterError("fix", f"names rank {rank} twice")
        places[rank] = match[2]
    return places


class _JobSlots:
    """The slots of an allocation by number and by host."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._slots: list[int] = problem.allocation.slots.tolist()
        self._numbers = HostSlotNumbers(problem.machine, problem.node)

    def find(self, place: str) -> int | None:
        """Find the slot that a place names; None for a host without a slot."""
        if is_number(place):
            return self._find_by_number(int(place))
        host, colon, number = place.rpartition(":")
        if not colon:
            return None
        slots = self.list_of_host(host)
        numbers = self._numbers.to_local_slots(slots).tolist()
        if not is_number(number) or int(number) not in numbers:
            raise ParameterError(
                "fix",
                f"names slot {number} of {host}; the job has its slots "
                f"{compress_ranges(sorted(numbers))}",
            )
        index: int = numbers.index(int(number))
        return slots[index]

    def _find_by_number(self, number: int) -> int:
        if number >= len(self._slots):
            raise ParameterError(
                "fix",
                f"names slot {number}; the slots of the allocation are 0 to "
                f"{len(self._slots) - 1}",
            )
        return self._slots[number]

    def list_of_host(self, host: str) -> list[int]:
        """List the slots of a host, in the order of the allocation."""
        hosts, allocation = self._problem.hosts, self._problem.allocation
        if hosts is None:
            raise ParameterError(
                "fix",
                f"names host '{host}', but host names are unknown; give slot numbers",
            )
        if host not in hosts:
            unknown = describe_unknown_name("host", host, dict.fromkeys(hosts))
            raise ParameterError("fix", f"names {unknown}")
        machine = self._problem.machine
        per_host = slots_per_host(machine)
        number = int(allocation.nodes[hosts.index(host)]) // machine.nodes_per_host
        return [slot for slot in self._slots if slot // per_host == number]
