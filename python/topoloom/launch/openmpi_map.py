# SPDX-License-Identifier: BSD-3-Clause
"""Open MPI's own map of a job, beside the placement that it was told.

Version 5 draws the map and starts nothing (``donotlaunch``); it takes the hosts to be
like the one it runs on. Version 4 draws no map of a rankfile before its daemons have
told their cores, so it starts a program that does nothing.
"""

from __future__ import annotations

import itertools
import re
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

from topoloom import Error
from topoloom.files import write_text
from topoloom.launch import hostfile, openmpi, openmpi_rankfile
from topoloom.launch.formats import LaunchFormat
from topoloom.launch.host_placement import PU, HostPlacement
from topoloom.launch.launch import only_used_hosts
from topoloom.launch.launchers import read_command
from topoloom.launch.program import EMPTY_PROGRAM, message
from topoloom.number_ranges import compress_ranges

#: The formats whose launcher tells where it would start each rank.
CHECKED = (openmpi_rankfile, hostfile)

_NODE = re.compile(r"\s*Data for node: (\S+)")
_RANK = re.compile(r"\s*Data for proc: \[.*,(\d+)\]")
_BINDING = re.compile(r"\s*Binding: (.*)")
_RANK_AND_BINDING = re.compile(r"\s*Process OMPI jobid: .* rank: (\d+) Bound: (.*)")


class LauncherRefuses(Error):
    """The launcher cannot start ranks where the placement wants them."""


class MappedRank(NamedTuple):
    """Where the launcher would start a rank.

    `cores` are logical cores, and `threads` the logical hardware threads of a binding
    that says them; empty where the rank is not bound.
    """

    host: str
    cores: tuple[int, ...]
    threads: tuple[int, ...]


class DryRun(NamedTuple):
    """Who was asked, and in what the answer differs from the placement."""

    launcher: str
    mismatches: list[str]


def dry_run(
    entry: LaunchFormat, text: str, placed: HostPlacement, mpirun: str
) -> DryRun:
    """Let Open MPI's `mpirun` read an exported file, and compare its map.

    Raises
    ------
    LauncherRefuses
        If it cannot apply the file.
    topoloom.Error
        If the format's launcher has no dry run, or `mpirun` is not Open MPI's.
    """
    if entry not in CHECKED:
        names = " and ".join(checked.NAME for checked in CHECKED)
        raise Error(
            f"nothing can check {entry.NAME}: its launcher has no dry run that tells "
            f"where ranks would start (Open MPI has, for {names}); 'topoloom run' "
            "tries a placement with a program that does nothing"
        )
    read = read_command([mpirun, *EMPTY_PROGRAM])
    if read.launcher is not openmpi:
        raise Error(
            f"'{mpirun}' is {read.launcher.NAME}, not Open MPI; name Open MPI's mpirun "
            "with --launcher"
        )
    used = only_used_hosts(placed)
    with tempfile.TemporaryDirectory(prefix="topoloom-export-") as directory:
        options = _options(entry, text, used, Path(directory), read.version)
        command = [mpirun, *options, "-n", str(used.rank_count), *EMPTY_PROGRAM]
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True
        )
    mapped = _read_map(done.stdout, used)
    if len(mapped) < used.rank_count:
        said = message(done.stderr or done.stdout)
        raise LauncherRefuses(f"{mpirun} refuses the placement: {said}")
    with_slots = entry is openmpi_rankfile
    found = (
        _mismatch(placed, rank, mapped[rank], with_slots)
        for rank in range(placed.rank_count)
    )
    name = f"{read.launcher.NAME} {'.'.join(map(str, read.version))}"
    return DryRun(name, [line for line in found if line])


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


def _read_map(text: str, placed: HostPlacement) -> dict[int, MappedRank]:
    """Read what ``--display map`` of version 5 prints, or ``--display-map`` of 4."""
    mapped: dict[int, MappedRank] = {}
    host, rank = "", -1
    for line in text.splitlines():
        if match := _NODE.match(line):
            host = match[1]
        elif match := _RANK_AND_BINDING.match(line):
            mapped[int(match[1])] = _mapped_by_4(host, match[2], placed)
        elif match := _RANK.match(line):
            rank = int(match[1])
        elif match := _BINDING.match(line):
            mapped[rank] = MappedRank(
                host, _listed("core", match[1]), _listed("hwt", match[1])
            )
    return mapped


def _listed(unit: str, binding: str) -> tuple[int, ...]:
    """Read ``package[0][core:L0-3] package[1][core:L4-7]``."""
    lists = re.findall(rf"{unit}:L([\d,-]+)", binding)
    return tuple(number for text in lists for number in _numbers(text))


def _mapped_by_4(host: str, binding: str, placed: HostPlacement) -> MappedRank:
    """Read ``socket 1[core 5[hwt 0-1]], socket 1[core 6[hwt 0-1]]:[..]``."""
    bound = re.findall(r"core (\d+)\[hwt ([\d,-]+)\]", binding)
    cores = tuple(int(core) for core, _ in bound)
    threads: list[int] = []
    if placed.bind == PU:
        first = openmpi_rankfile.first_threads(placed)
        for core, listed in bound:
            threads += [first[int(core)] + thread for thread in _numbers(listed)]
    return MappedRank(host, cores, tuple(threads))


def _numbers(text: str) -> tuple[int, ...]:
    ends = (part.partition("-") for part in text.split(","))
    ranges = (range(int(a), int(b or a) + 1) for a, _, b in ends)
    return tuple(itertools.chain.from_iterable(ranges))


def _mismatch(
    placed: HostPlacement, rank: int, mapped: MappedRank, with_slots: bool
) -> str | None:
    """Name what the launcher does otherwise with a rank."""
    host = placed.name(rank)
    if not _same_host(host, mapped.host):
        return f"rank {rank} would start on {mapped.host}, not on {host}"
    if not with_slots:
        return None
    if placed.bind == PU:
        unit, bound = "hardware thread", mapped.threads
        wanted: tuple[int, ...] = (
            openmpi_rankfile.first_threads(placed)[int(placed.slot[rank])],
        )
    else:
        unit, bound = "core", mapped.cores
        wanted = tuple(openmpi_rankfile.cores(placed, rank))
    # Open MPI calls a rank unbound that has all cores of its host.
    if bound == wanted or (not bound and placed.slots_per_node == 1):
        return None
    found = f"{unit} {compress_ranges(bound)}" if bound else "no core"
    return (
        f"rank {rank} would be bound to {found} of {host}, not to "
        f"{unit} {compress_ranges(wanted)}"
    )


def _same_host(name: str, other: str) -> bool:
    """Compare names, of which one may lack its domain."""
    if "." in name and "." in other:
        return name == other
    return name.partition(".")[0] == other.partition(".")[0]
