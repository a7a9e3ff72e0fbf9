# SPDX-License-Identifier: BSD-3-Clause
"""Open MPI's own map of a job, to compare with the placement that it was given.

Version 5 draws the map and starts nothing (``donotlaunch``); it takes the hosts to be
like the one it runs on. Version 4 draws no map of a rankfile before its daemons have
reported their cores, so it starts a program that does nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from topoloom._core import Error
from topoloom.launch.apply.job_map import JobMap
from topoloom.launch.apply.trial import EMPTY_PROGRAM, message
from topoloom.launch.exports import hostfile, openmpi_rankfile
from topoloom.launch.exports.registry import LaunchFormat
from topoloom.launch.host_placement import PU, HostPlacement
from topoloom.launch.launcher import only_used_hosts
from topoloom.launch.launchers import openmpi
from topoloom.launch.launchers.registry import read_command
from topoloom.nodes.node_parts import MAX_CPUS
from topoloom.support.child_processes import run_child
from topoloom.support.files import local_directory, write_text
from topoloom.support.number_ranges import compress_ranges, expand_ranges

_NODE = re.compile(r"\s*Data for node: (\S+)")
_RANK = re.compile(r"\s*Data for proc: \[.*,([0-9]+)\]")
_BINDING = re.compile(r"\s*Binding: (.*)")
_RANK_AND_BINDING = re.compile(r"\s*Process OMPI jobid: .* rank: ([0-9]+) Bound: (.*)")
_NOTHING = "no core"


class MappedRank(NamedTuple):
    """Where Open MPI would start a rank, and the logical cores that it would have."""

    host: str
    bound: str


def ask(
    entry: LaunchFormat,
    text: str,
    placement: HostPlacement,
    program: str,
    more: Sequence[str],
) -> JobMap:
    """Let the mpirun `program` read a rankfile or hostfile, `text`, and draw its map.

    `more` are options that the user adds.

    Raises
    ------
    topoloom.Error
        If the program is not Open MPI's.
    """
    read = read_command([program, *EMPTY_PROGRAM])
    if read.launcher is not openmpi:
        raise Error(
            f"'{program}' is {read.launcher.NAME}, not Open MPI; name Open MPI's "
            "mpirun with --check-with"
        )
    used = only_used_hosts(placement)
    with local_directory("export") as directory:
        options = _options(entry, text, used, Path(directory), read.version)
        ranks = ["-n", str(used.rank_count)]
        command = [program, *options, *more, *ranks, *EMPTY_PROGRAM]
        done = run_child(command)
    mapped = _read_map(done.stdout, used.bind == PU) if done.returncode == 0 else {}
    misbound = {}
    if entry is openmpi_rankfile:
        for rank, (_, bound) in mapped.items():
            if said := _misbound(placement, rank, bound, read.version):
                misbound[rank] = said
    return JobMap(
        f"{read.launcher.NAME} {'.'.join(map(str, read.version))}",
        message(done.stderr or done.stdout),
        {rank: at.host for rank, at in mapped.items()},
        misbound,
    )


def _options(
    entry: LaunchFormat,
    text: str,
    used: HostPlacement,
    directory: Path,
    version: tuple[int, ...],
) -> list[str]:
    exported, slots = directory / "exported", directory / "hostfile"
    write_text(exported, text)
    threads = used.bind == PU
    if version >= (5,):
        show = ["--display", "map", "--runtime-options", "donotlaunch"]
        if entry is hostfile:
            return ["--hostfile", str(exported), "--map-by", "slot", *show]
        openmpi.write_slots(slots, used)
        policy = f"rankfile:file={exported}{':hwtcpus' if threads else ''}"
        return ["--hostfile", str(slots), "--map-by", policy, *show]
    if entry is hostfile:
        return ["--hostfile", str(exported), "--map-by", "slot", "--display-map"]
    cpus = ["--use-hwthread-cpus"] if threads else []
    return [*cpus, "--rankfile", str(exported), "--display-map"]


def _read_map(text: str, by_thread: bool) -> dict[int, MappedRank]:
    """Read what ``--display map`` of version 5 prints, or ``--display-map`` of 4."""
    mapped: dict[int, MappedRank] = {}
    host, rank = "", -1
    for line in text.splitlines():
        if match := _NODE.match(line):
            host = match[1]
        elif match := _RANK_AND_BINDING.match(line):
            mapped[int(match[1])] = MappedRank(host, _bound_by_4(match[2], by_thread))
        elif match := _RANK.match(line):
            rank = int(match[1])
        elif match := _BINDING.match(line):
            mapped[rank] = MappedRank(host, _bound_by_5(match[1]))
    return mapped


def _bound_by_5(binding: str) -> str:
    """Read ``package[0][core:L0-3] package[1][core:L4-7]``, or ``hwt`` for threads."""
    for unit, name in (("core", "core"), ("hwt", "hardware thread")):
        if lists := re.findall(rf"{unit}:L([0-9,-]+)", binding):
            return f"{name} {_joined(lists)}"
    return _NOTHING


def _bound_by_4(binding: str, by_thread: bool) -> str:
    """Read ``socket 1[core 5[hwt 0-1]], socket 1[core 6[hwt 0-1]]:[..]``."""
    bound = re.findall(r"core ([0-9]+)\[hwt ([0-9,-]+)\]", binding)
    if not bound:
        return _NOTHING
    if by_thread:
        return ", ".join(f"core {core} thread {threads}" for core, threads in bound)
    return f"core {_joined(core for core, _ in bound)}"


def _joined(lists: Iterable[str]) -> str:
    """Write ``0-3`` and ``4-7`` as ``0-7``."""
    return compress_ranges(expand_ranges(",".join(lists), MAX_CPUS))


def _misbound(
    placement: HostPlacement, rank: int, bound: str, version: tuple[int, ...]
) -> str | None:
    """Say what is wrong with the binding of a rank."""
    slot = int(placement.slot[rank])
    if placement.bind != PU:
        wanted = f"core {compress_ranges(openmpi_rankfile.cores(placement, rank))}"
    elif version >= (5,):
        own = placement.parts_of_host[int(placement.host[rank])]
        wanted = f"hardware thread {openmpi_rankfile.first_threads(own)[slot]}"
    else:
        wanted = f"core {slot} thread 0"
    # Open MPI calls a rank unbound that has all cores of its host.
    if bound == wanted or (bound == _NOTHING and placement.slots_per_host == 1):
        return None
    host = placement.name(rank)
    return f"rank {rank} would be bound to {bound} of {host}, not to {wanted}"
