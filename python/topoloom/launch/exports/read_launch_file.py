# SPDX-License-Identifier: BSD-3-Clause
"""Reads placements from files of launchers."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from topoloom._core import Error
from topoloom.launch.exports.launch_formats import READABLE
from topoloom.launch.host_placement import HostPlacement
from topoloom.launch.rank_location import PlacementFormat, RankLocation
from topoloom.support.files import prefix_errors, read_text
from topoloom.support.units import counted


class ReadSlots(NamedTuple):
    """The machine's slot of each rank, and whether the file names them all."""

    slots: Any
    are_stated: bool


class LaunchFile(NamedTuple):
    """A launcher's file, and the formats in which it can be read."""

    path: str
    text: str
    formats: list[PlacementFormat]

    def read_slots(self, job: HostPlacement, ranks: int) -> ReadSlots:
        """Read the machine's slot of each rank.

        If the file leaves slots open, the ranks of a host take them in order. `job`
        has one rank on each slot of the allocation.

        Raises
        ------
        topoloom.Error
            If the file is invalid, contains fewer ranks, or has different meanings in
            several formats.
        """
        found: dict[str, ReadSlots] = {}
        errors: list[Error] = []
        for each in self.formats:
            try:
                with prefix_errors(self.path):
                    found[each.name] = _read_slots(each, self.text, job, ranks)
            except Error as error:
                errors.append(error)
        if not found:
            raise errors[0]
        first, *others = found.values()
        if any(not np.array_equal(first.slots, other.slots) for other in others):
            raise Error(
                f"{self.path} differs when read as {' or as '.join(found)}; write "
                f"{next(iter(found))}:{Path(self.path).name} or another of them"
            )
        return first


def open_launch_file(name: str) -> LaunchFile:
    """Open a file; its format is named as ``FORMAT:FILE``, or found by its first line.

    Raises `topoloom.Error` if the format is unknown.
    """
    prefix, colon, rest = name.partition(":")
    for each in READABLE:
        if colon and prefix == each.name:
            return LaunchFile(rest, read_text(rest), [each])
    text = read_text(name)
    found = list_possible_formats(text)
    if not found:
        known = ", ".join(each.name for each in READABLE)
        raise Error(
            f"{name} is neither a placement file nor in a known format of a launcher; "
            f"if it is, name the format as FORMAT:{Path(name).name}, one of {known}"
        )
    return LaunchFile(name, text, found)


def list_possible_formats(text: str) -> list[PlacementFormat]:
    """List the formats of which this can be a file, judging by its first lines."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    rows = [line for line in lines if not line.startswith("#")]
    starts = ["\n".join(lines), "\n".join(rows)]
    return [
        each
        for each in READABLE
        if each.starts_with is not None
        and any(re.match(each.starts_with, start, re.MULTILINE) for start in starts)
    ]


def _read_slots(
    launch_format: PlacementFormat, text: str, job: HostPlacement, ranks: int
) -> ReadSlots:
    assert launch_format.read is not None
    located = launch_format.read(text, job, ranks)
    if len(located) < ranks:
        raise Error(
            f"places {counted(len(located), 'rank')}, but the graph has {ranks}"
        )
    stated = all(at.slot is not None and not at.is_assumed for at in located)
    return ReadSlots(_find_machine_slots(located, job), stated)


def _find_machine_slots(located: list[RankLocation], job: HostPlacement) -> Any:
    places = defaultdict[int, dict[int, int]](dict)
    for host, local, slot in zip(
        job.host.tolist(), job.slot.tolist(), job.machine_slot.tolist(), strict=True
    ):
        places[host][local] = slot
    free = {host: iter(sorted(of_host)) for host, of_host in places.items()}
    slots = []
    for rank, (host, given, _) in enumerate(located):
        local = next(free[host], None) if given is None else given
        if local is None:
            raise Error(
                f"puts more ranks on host '{job.hosts[host]}' than the "
                f"{counted(len(places[host]), 'slot')} that the allocation has there"
            )
        if local not in places[host]:
            raise Error(
                f"puts rank {rank} on slot {local} of host '{job.hosts[host]}', which "
                "is not in the allocation"
            )
        slots.append(places[host][local])
    return np.array(slots, dtype=np.uint32)
