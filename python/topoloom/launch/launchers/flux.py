# SPDX-License-Identifier: BSD-3-Clause
"""`flux run`: ``--taskmap=hostfile:`` reads the host of each rank from a file.

Flux's binding lists apply to the i-th rank of every host, so taskset binds ranks.
"""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from topoloom.launch.command_line import CommandLine, LauncherSyntax, split_names
from topoloom.launch.launcher import Launch, reject_options
from topoloom.support.files import write_text

if TYPE_CHECKING:
    from topoloom.launch.host_placement import HostPlacement

NAME = "Flux"
NEEDS_SHARED_FILES = True
IS_LOCAL_BY_DEFAULT = False
ENVIRONMENT_OPTION = None
BINDING = frozenset({"cpu-affinity"})

#: Options that a placement replaces, and options that conflict with a placement.
REPLACED = frozenset({"N", "nodes"})
PLACING = frozenset(
    {"taskmap", "requires", "tasks-per-node", "tasks-per-core", "cores", "nslots"}
)

SYNTAX = LauncherSyntax(
    values=dict.fromkeys(
        split_names(
            "add-file B bank begin-time c cores-per-task conf cwd D dependency env "
            "env-file env-remove error flags g gpus-per-node gpus-per-task input "
            "job-name label-io-format n ntasks o output priority q queue rlimit "
            "S setattr setopt signal t time-limit urgency"
        ),
        1,
    )
    | dict.fromkeys((*REPLACED, *PLACING), 1),
    flags=frozenset(
        split_names(
            "debug debug-emulate dry-run exclusive l label-io u unbuffered v verbose x"
        )
    ),
    ranks=frozenset({"n", "ntasks"}),
    joins_short_options=True,
    subcommand="run",
)


def parse_version(text: str) -> tuple[int, ...] | None:
    """Read ``commands: 0.70.0``."""
    match = re.match(r"commands:\s+([0-9]+)\.([0-9]+)", text)
    return tuple(map(int, match.groups())) if match else None


def list_hosts(command: CommandLine) -> list[str] | None:
    """List the hosts of the Flux instance in which this process runs."""
    from topoloom.importers.system.node_lists import list_flux_hosts

    return list_flux_hosts() if "FLUX_URI" in os.environ else None


def apply(
    command: CommandLine,
    placement: HostPlacement,
    directory: Path,
    version: tuple[int, ...],
) -> Launch:
    """Write a file with one host per rank."""
    from topoloom.launch.exports import flux_taskmap, slurm_hostfile
    from topoloom.launch.hybrid_ranks import find_thread_settings
    from topoloom.launch.launchers.taskset_wrapper import wrap_with_taskset

    reject_options(command, PLACING)
    used = placement.drop_unused_hosts()
    path = directory / "hosts-of-ranks"
    write_text(path, slurm_hostfile.write(used))
    extra = ["-N", str(len(used.hosts)), f"--requires=hosts:{','.join(used.hosts)}"]
    extra.append(f"--taskmap=hostfile:{path}")
    loss = flux_taskmap.FORMAT.find_loss(replace(used, bind=None))
    if bound := wrap_with_taskset(command, used, "FLUX_TASK_RANK"):
        extra += ["-o", "cpu-affinity=off"]
        if not command.is_set({"x", "exclusive"}):
            extra.append("-x")  # only whole nodes have all CPUs
        command, loss = bound, None
    elif placement.cores_per_rank > 1 and not command.is_set(BINDING):
        extra += ["-o", "cpu-affinity=per-task"]
    if placement.cores_per_rank > 1 and not command.is_set({"c", "cores-per-task"}):
        extra += ["-c", str(placement.cores_per_rank)]
    variables = find_thread_settings(placement, "-o" in extra, command)
    rebuilt = command.build(REPLACED, extra, placement.rank_count)
    return Launch(rebuilt, variables, loss)
