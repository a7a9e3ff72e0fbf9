# SPDX-License-Identifier: BSD-3-Clause
"""Intel MPI's mpirun: a machine file, in which hosts may return.

Its launcher comes from MPICH's Hydra. Ranks that are to be bound bind themselves, with
Intel's pinning off. Where a batch system starts it, Intel MPI would prefer that one's
ranks per node to ours; a variable forbids it.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from topoloom.launch.command_line import CommandLine, words
from topoloom.launch.exports import intel_machinefile
from topoloom.launch.exports.launch_formats import what_is_lost
from topoloom.launch.host_placement import HostPlacement
from topoloom.launch.launcher import Launch, only_used_hosts, refuse
from topoloom.launch.launchers import hydra
from topoloom.launch.launchers.bind_myself import bind_myself
from topoloom.support.files import write_text

NAME = "Intel MPI"
NODES_READ_FILES = False
STARTS_HERE = True
FORWARDING = hydra.FORWARDING

PLACING = frozenset({*hydra.PLACING, "nolocal", "localonly"})

SYNTAX = replace(
    hydra.SYNTAX,
    values={
        **hydra.SYNTAX.values,
        **dict.fromkeys(
            words(
                "binding bootstrap-exec-args gtool gtoolfile host localhost s tmpdir "
                "umask"
            ),
            1,
        ),
        **dict.fromkeys(("ppn", "perhost", "grr"), 1),
    },
    flags=hydra.SYNTAX.flags
    | frozenset(
        words(
            "aps check_mpi cleanup hydra-stdin ilp64 localonly localroot mps nolocal "
            "ordered-output print-rank-map rr t trace tune"
        )
    ),
)
hosts = hydra.hosts


def version(text: str) -> tuple[int, ...] | None:
    """Read ``Intel(R) MPI Library for Linux* OS, Version 2021.9 Build 20230306``."""
    match = re.search(r"Intel\(R\) MPI Library.*Version ([0-9]+)(?:\.([0-9]+))?", text)
    return tuple(int(part or 0) for part in match.groups()) if match else None


def apply(
    command: CommandLine,
    placement: HostPlacement,
    directory: Path,
    version: tuple[int, ...],
) -> Launch:
    """Place by a machine file."""
    refuse(command, PLACING)
    used = only_used_hosts(placement)
    unbound = replace(used, bind=None)
    file = directory / "machinefile"
    write_text(file, intel_machinefile.write(unbound))
    environment = {"I_MPI_JOB_RESPECT_PROCESS_PLACEMENT": "off"}
    loss = what_is_lost(intel_machinefile, unbound)
    if placement.bind is not None:
        refuse(command, {"binding", "bind-to"})
        if before := bind_myself(used, "PMI_RANK"):
            environment["I_MPI_PIN"] = "off"
            command = command.behind(before)
            loss = None
    extra = ["-machinefile", str(file)]
    without = hydra.FILES | hydra.LISTS
    rebuilt = command.rebuilt(without, extra, placement.rank_count)
    return Launch(rebuilt, environment, loss)
