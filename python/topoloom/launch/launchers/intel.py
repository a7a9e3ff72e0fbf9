# SPDX-License-Identifier: BSD-3-Clause
"""Intel MPI's mpirun: a machine file, which may list hosts repeatedly.

Its launcher derives from MPICH's Hydra. taskset binds the ranks, with Intel's pinning
off. In a batch job Intel MPI would prefer the job's ranks per node to the machine file;
a variable prevents that.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from topoloom.launch.command_line import CommandLine, split_names
from topoloom.launch.launcher import Launch, refuse_options
from topoloom.launch.launchers import hydra
from topoloom.support.files import write_text

if TYPE_CHECKING:
    from topoloom.launch.host_placement import HostPlacement

NAME = "Intel MPI"
NEEDS_SHARED_FILES = False
IS_LOCAL_BY_DEFAULT = True
ENVIRONMENT_OPTION = hydra.ENVIRONMENT_OPTION

PLACING = frozenset({*hydra.PLACING, "nolocal", "localonly"})

SYNTAX = replace(
    hydra.SYNTAX,
    values={
        **hydra.SYNTAX.values,
        **dict.fromkeys(
            split_names(
                "binding bootstrap-exec-args gtool gtoolfile host localhost s tmpdir "
                "umask"
            ),
            1,
        ),
        **dict.fromkeys(("ppn", "perhost", "grr"), 1),
    },
    flags=hydra.SYNTAX.flags
    | frozenset(
        split_names(
            "aps check_mpi cleanup hydra-stdin ilp64 localonly localroot mps nolocal "
            "ordered-output print-rank-map rr t trace tune"
        )
    ),
)
list_hosts = hydra.list_hosts


def parse_version(text: str) -> tuple[int, ...] | None:
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
    from topoloom.launch.exports import intel_machinefile
    from topoloom.launch.launchers.taskset_wrapper import with_taskset

    refuse_options(command, PLACING)
    used = placement.used_hosts()
    unbound = replace(used, bind=None)
    file = directory / "machinefile"
    write_text(file, intel_machinefile.write(unbound))
    environment = {"I_MPI_JOB_RESPECT_PROCESS_PLACEMENT": "off"}
    loss = intel_machinefile.FORMAT.find_loss(unbound)
    if placement.bind is not None:
        refuse_options(command, {"binding", "bind-to"})
    if bound := with_taskset(command, used, "PMI_RANK"):
        environment["I_MPI_PIN"] = "off"
        command, loss = bound, None
    extra = ["-machinefile", str(file)]
    without = hydra.FILES | hydra.LISTS
    rebuilt = command.build(without, extra, placement.rank_count)
    return Launch(rebuilt, environment, loss)
