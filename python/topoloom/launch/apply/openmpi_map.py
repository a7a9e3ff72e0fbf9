# SPDX-License-Identifier: BSD-3-Clause
"""Reads Open MPI's own map of a job.

Version 5 prints the map without starting the job (``donotlaunch``); in this mode it
assumes that all hosts equal the local host. Version 4 prints no map of a rankfile
before its daemons have reported their cores, so it starts a no-op program.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from topoloom._core import Error
from topoloom.launch.apply.job_map import JobMap
from topoloom.launch.apply.launcher_failure import describe_failure
from topoloom.launch.apply.trial_run import NOOP_PROGRAM
from topoloom.launch.export_format import ExportFormat
from topoloom.launch.exports import hostfile, openmpi_rankfile
from topoloom.launch.host_placement import PU, HostPlacement
from topoloom.launch.launchers import openmpi
from topoloom.launch.launchers.launcher_commands import read_command
from topoloom.nodes.node_parts import MAX_CPUS
from topoloom.support.child_processes import run_child
from topoloom.support.files import make_local_directory, write_text
from topoloom.support.number_ranges import compress_ranges, expand_ranges

_NODE = re.compile(r"\s*Data for node: (\S+)")
_RANK = re.compile(r"\s*Data for proc: \[.*,([0-9]+)\]")
_BINDING = re.compile(r"\s*Binding: (.*)")
_RANK_AND_BINDING = re.compile(r"\s*Process OMPI jobid: .* rank: ([0-9]+) Bound: (.*)")
_UNBOUND = "no core"


class MappedRank(NamedTuple):
    """The host where Open MPI would start a rank, and the cores it would have."""

    host: str
    bound: str


def read_job_map(
    target: ExportFormat,
    text: str,
    placement: HostPlacement,
    program: str,
    options: Sequence[str],
) -> JobMap:
    """Pass the rankfile or hostfile `text` to mpirun, and read the map it prints.

    `options` are additional options of mpirun. Raises `topoloom.Error` if `program` is
    not Open MPI's mpirun.
    """
    command = read_command([program, *NOOP_PROGRAM])
    if command.launcher is not openmpi:
        raise Error(
            f"'{program}' is {command.launcher.NAME}, not Open MPI; name Open MPI's "
            "mpirun with --check-with"
        )
    used = placement.drop_unused_hosts()
    with make_local_directory("export") as directory:
        ours = _build_options(target, text, used, Path(directory), command.version)
        ranks = ["-n", str(used.rank_count)]
        done = run_child([program, *ours, *options, *ranks, *NOOP_PROGRAM])
    mapped = _read_map(done.stdout, used.bind == PU) if done.returncode == 0 else {}
    errors = {}
    if target is openmpi_rankfile.FORMAT:
        for rank, (_, bound) in mapped.items():
            if error := _describe_binding_error(
                placement, rank, bound, command.version
            ):
                errors[rank] = error
    return JobMap(
        f"{command.launcher.NAME} {'.'.join(map(str, command.version))}",
        describe_failure(done.stderr or done.stdout) or "",
        {rank: at.host for rank, at in mapped.items()},
        errors,
    )


def _build_options(
    target: ExportFormat,
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
        if target is hostfile.FORMAT:
            return ["--hostfile", str(exported), "--map-by", "slot", *show]
        openmpi.write_slot_hostfile(slots, used)
        policy = f"rankfile:file={exported}{':hwtcpus' if threads else ''}"
        return ["--hostfile", str(slots), "--map-by", policy, *show]
    if target is hostfile.FORMAT:
        return ["--hostfile", str(exported), "--map-by", "slot", "--display-map"]
    cpus = ["--use-hwthread-cpus"] if threads else []
    return [*cpus, "--rankfile", str(exported), "--display-map"]


def _read_map(text: str, by_thread: bool) -> dict[int, MappedRank]:
    """Parse the output of ``--display map`` (version 5) or ``--display-map`` (4)."""
    mapped: dict[int, MappedRank] = {}
    host, rank = "", -1
    for line in text.splitlines():
        if match := _NODE.match(line):
            host = match[1]
        elif match := _RANK_AND_BINDING.match(line):
            mapped[int(match[1])] = MappedRank(
                host, _parse_binding_4(match[2], by_thread)
            )
        elif match := _RANK.match(line):
            rank = int(match[1])
        elif match := _BINDING.match(line):
            mapped[rank] = MappedRank(host, _parse_binding_5(match[1]))
    return mapped


def _parse_binding_5(binding: str) -> str:
    """Read ``package[0][core:L0-3] package[1][core:L4-7]``, or ``hwt`` for threads."""
    for unit, name in (("core", "core"), ("hwt", "hardware thread")):
        if lists := re.findall(rf"{unit}:L([0-9,-]+)", binding):
            return f"{name} {_join_ranges(lists)}"
    return _UNBOUND


def _parse_binding_4(binding: str, by_thread: bool) -> str:
    """Read ``socket 1[core 5[hwt 0-1]], socket 1[core 6[hwt 0-1]]:[..]``."""
    bound = re.findall(r"core ([0-9]+)\[hwt ([0-9,-]+)\]", binding)
    if not bound:
        return _UNBOUND
    if by_thread:
        return ", ".join(f"core {core} thread {threads}" for core, threads in bound)
    return f"core {_join_ranges(core for core, _ in bound)}"


def _join_ranges(lists: Iterable[str]) -> str:
    """Join ``0-3`` and ``4-7`` to ``0-7``."""
    return compress_ranges(expand_ranges(",".join(lists), MAX_CPUS))


def _describe_binding_error(
    placement: HostPlacement, rank: int, bound: str, version: tuple[int, ...]
) -> str | None:
    """Describe the binding error of a rank; None if the binding is correct."""
    wanted = _describe_wanted_binding(placement, rank, version)
    # Open MPI reports a rank as unbound if it is bound to all cores of its host.
    if bound == wanted or (bound == _UNBOUND and placement.slots_per_host == 1):
        return None
    host = placement.host_name(rank)
    return f"rank {rank} would be bound to {bound} of {host}, not to {wanted}"


def _describe_wanted_binding(
    placement: HostPlacement, rank: int, version: tuple[int, ...]
) -> str:
    """Describe the binding of a correctly placed rank as Open MPI prints it.

    Cores have logical numbers, with one exception: version 5 prints the operating
    system's numbers of hardware threads, and also of cores if each has one thread,
    although it calls them logical (``core:L2``).
    """
    if placement.bind == PU and version < (5,):
        return f"core {int(placement.slot[rank])} thread 0"
    if placement.bind == PU:
        return f"hardware thread {compress_ranges(placement.cpus(rank))}"
    known = placement.parts_of_host[int(placement.host[rank])].cpus
    if version >= (5,) and known and all(len(cpus) == 1 for cpus in known):
        return f"core {compress_ranges(placement.cpus(rank))}"
    cores = openmpi_rankfile.list_rank_cores(placement, rank)
    return f"core {compress_ranges(cores)}"
