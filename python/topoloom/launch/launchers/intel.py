# SPDX-License-Identifier: BSD-3-Clause
"""Intel MPI's mpirun: a machine file that can list hosts repeatedly.

The launcher is derived from MPICH's Hydra. taskset binds the ranks, and Intel's pinning
is disabled. In a batch job, Intel MPI ignores the machine file in favor of the job's
ranks per node, unless a variable is set.
"""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from topoloom.launch.command_line import CommandLine, split_names
from topoloom.launch.launcher import Launch, reject_options
from topoloom.launch.launchers import hydra
from topoloom.support.files import write_text

if TYPE_CHECKING:
    from topoloom.launch.host_placement import HostPlacement

NAME = "Intel MPI"
NEEDS_SHARED_FILES = False
IS_LOCAL_BY_DEFAULT = True
BINDING = frozenset({"binding", "bind-to"})
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
    """Parse ``Intel(R) MPI Library for Linux* OS, Version 2021.9 Build 20230306``."""
    match = re.search(r"Intel\(R\) MPI Library.*Version ([0-9]+)(?:\.([0-9]+))?", text)
    return tuple(int(part or 0) for part in match.groups()) if match else None


def apply(
    command: CommandLine,
    placement: HostPlacement,
    directory: Path,
    version: tuple[int, ...],
) -> Launch:
    """Apply a placement with a machine file."""
    from topoloom.launch.exports import intel_machinefile
    from topoloom.launch.hybrid_ranks import find_thread_settings
    from topoloom.launch.launchers.taskset_wrapper import wrap_with_taskset

    reject_options(command, PLACING)
    used = placement.drop_unused_hosts()
    unbound = replace(used, bind=None)
    file = directory / "machinefile"
    write_text(file, intel_machinefile.write(unbound))
    environment = {"I_MPI_JOB_RESPECT_PROCESS_PLACEMENT": "off"}
    loss = intel_machinefile.FORMAT.find_loss(unbound)
    if placement.bind is not None:
        reject_options(command, BINDING)
    if bound := wrap_with_taskset(command, used, "PMI_RANK"):
        environment["I_MPI_PIN"] = "off"
        command, loss = bound, None
    elif placement.cores_per_rank > 1 and not command.is_set(
        {*BINDING, "I_MPI_PIN_DOMAIN"}
    ):
        cpus = used.cpus_per_rank() or used.cores_per_rank
        domain = os.environ.get("I_MPI_PIN_DOMAIN", f"{cpus}:compact")
        environment["I_MPI_PIN_DOMAIN"] = domain
    is_bound = bound is not None or "I_MPI_PIN_DOMAIN" in environment
    environment |= find_thread_settings(placement, is_bound, command)
    extra = ["-machinefile", str(file)]
    without = hydra.FILES | hydra.LISTS
    rebuilt = command.build(without, extra, placement.rank_count)
    return Launch(rebuilt, environment, loss)
