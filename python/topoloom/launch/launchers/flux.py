# SPDX-License-Identifier: BSD-3-Clause
"""`flux run`: the host of each rank in a file, read by ``--taskmap=hostfile:``.

Flux's own lists for binding are for the i-th rank of every host; ranks that are to be
bound bind themselves.
"""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path

from topoloom.importers.system.node_lists import hosts_of_flux
from topoloom.launch.command_line import CommandLine, Syntax, words
from topoloom.launch.exports import slurm_hostfile
from topoloom.launch.exports.launch_formats import what_is_lost
from topoloom.launch.host_placement import HostPlacement
from topoloom.launch.launcher import Launch, only_used_hosts, refuse
from topoloom.launch.launchers.bind_myself import bind_myself
from topoloom.support.files import write_text

NAME = "Flux"
NODES_READ_FILES = True
STARTS_HERE = False
FORWARDING = None

# The placement decides these; what the command says about it is replaced.
REPLACED = frozenset({"N", "nodes"})
PLACING = frozenset(
    {"taskmap", "requires", "tasks-per-node", "tasks-per-core", "cores", "nslots"}
)

SYNTAX = Syntax(
    values=dict.fromkeys(
        words(
            "add-file B bank begin-time c cores-per-task conf cwd D dependency env "
            "env-file env-remove error flags g gpus-per-node gpus-per-task input "
            "job-name label-io-format n ntasks o output priority q queue rlimit "
            "S setattr setopt signal t time-limit urgency"
        ),
        1,
    )
    | dict.fromkeys((*REPLACED, *PLACING), 1),
    flags=frozenset(
        words(
            "debug debug-emulate dry-run exclusive l label-io u unbuffered v verbose x"
        )
    ),
    ranks=frozenset({"n", "ntasks"}),
    clusters=True,
    verb="run",
)


def version(text: str) -> tuple[int, ...] | None:
    """Read ``commands: 0.70.0``."""
    match = re.match(r"commands:\s+([0-9]+)\.([0-9]+)", text)
    return tuple(map(int, match.groups())) if match else None


def hosts(command: CommandLine) -> list[str] | None:
    """List the hosts of the Flux instance that we are in."""
    return hosts_of_flux() if "FLUX_URI" in os.environ else None


def apply(
    command: CommandLine,
    placement: HostPlacement,
    directory: Path,
    version: tuple[int, ...],
) -> Launch:
    """Write one host per rank; each rank starts where its line says."""
    refuse(command, PLACING)
    used = only_used_hosts(placement)
    path = directory / "hosts-of-ranks"
    write_text(path, slurm_hostfile.write(used))
    extra = ["-N", str(len(used.hosts)), f"--requires=hosts:{','.join(used.hosts)}"]
    extra.append(f"--taskmap=hostfile:{path}")
    loss = what_is_lost(slurm_hostfile, replace(used, bind=None))
    if placement.bind is not None and (before := bind_myself(used, "FLUX_TASK_RANK")):
        extra += ["-o", "cpu-affinity=off"]
        command = command.behind(before)
        loss = None
    return Launch(command.rebuilt(REPLACED, extra, placement.rank_count), loss=loss)
