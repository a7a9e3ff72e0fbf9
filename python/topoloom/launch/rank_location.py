# SPDX-License-Identifier: BSD-3-Clause
"""Where a launcher file puts a rank, and the parts that readers of such files share."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from topoloom._core import Error
from topoloom.launch.host_placement import HostPlacement


class RankLocation(NamedTuple):
    """The host of a rank by its index, and its slot if it is known.

    `is_assumed` is set if the slot follows from what the launcher does, not from the
    file.
    """

    host: int
    slot: int | None = None
    is_assumed: bool = False


Reader = Callable[[str, HostPlacement, int], list[RankLocation]]


class PlacementFormat(Protocol):
    """A format whose files contain a placement; see `ExportFormat` for attributes."""

    @property
    def name(self) -> str:
        """The name, as in ``FORMAT:FILE``."""

    @property
    def starts_with(self) -> str | None:
        """Regular expression for the first line; None if not recognized."""

    @property
    def read(self) -> Reader | None:
        """Reads a file."""


@dataclass(frozen=True)
class ReadOnlyFormat:
    """A `PlacementFormat` that nothing writes for launchers."""

    name: str
    starts_with: str
    read: Reader


def find_host(job: HostPlacement, name: str) -> int:
    """Find a host by its name, with or without domain; return its index."""
    if name in job.hosts:
        return job.hosts.index(name)
    short = name.partition(".")[0]
    found = [i for i, host in enumerate(job.hosts) if host.partition(".")[0] == short]
    if len(found) != 1:
        raise Error(f"host '{name}' is not in the allocation")
    return found[0]


def find_slot_of_cpu(job: HostPlacement, host: int, cpu: int) -> int:
    """Find the slot that has a CPU, numbered as by the operating system."""
    for slot, own in enumerate(job.parts_of_host[host].cpus):
        if cpu in own:
            return slot
    raise Error(
        f"CPU {cpu} of host '{job.hosts[host]}' belongs to no slot of the machine"
    )


def find_slot_of_thread(job: HostPlacement, host: int, thread: int) -> int:
    """Find the slot that has a hardware thread, numbered in the order of slots."""
    ends = itertools.accumulate(map(len, job.parts_of_host[host].cpus))
    for slot, end in enumerate(ends):
        if thread < end:
            return slot
    raise Error(
        f"CPU {thread} of host '{job.hosts[host]}' belongs to no slot of the machine"
    )


def list_slots_of_hosts(job: HostPlacement) -> list[list[int]]:
    """List the slots of each host on which the job has a rank, ascending."""
    slots: list[list[int]] = [[] for _ in job.hosts]
    for host, slot in zip(job.host.tolist(), job.slot.tolist(), strict=True):
        slots[host].append(slot)
    return [sorted(of_host) for of_host in slots]


def list_numbered_lines(text: str, comment: str = "#") -> Iterator[tuple[int, str]]:
    """List the lines with their numbers, without comments and blank lines."""
    for number, line in enumerate(text.splitlines(), 1):
        if content := line.partition(comment)[0].strip():
            yield number, content


def order_by_rank(
    listed: Iterable[tuple[int, RankLocation]], ranks: int
) -> list[RankLocation]:
    """Order locations by rank; raise `topoloom.Error` unless each rank has one."""
    found: dict[int, RankLocation] = {}
    for rank, location in listed:
        if rank in found:
            raise Error(f"rank {rank} has two locations")
        found[rank] = location
    missing = next((rank for rank in range(ranks) if rank not in found), None)
    if missing is not None:
        raise Error(f"rank {missing} has no location")
    return [found[rank] for rank in range(ranks)]


def repeat_hosts(runs: Iterable[tuple[int, int]]) -> list[RankLocation]:
    """List the locations of runs of ranks, given as ``(host, ranks)``."""
    return [RankLocation(host) for host, count in runs for _ in range(count)]
