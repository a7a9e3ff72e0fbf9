# SPDX-License-Identifier: BSD-3-Clause
"""The options of srun that give ranks their cores, in a command and for a placement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topoloom.launch.command_line import CommandLine

if TYPE_CHECKING:
    from topoloom.launch.host_placement import HostPlacement

BINDING = frozenset({"cpu-bind"})
#: With these, a step has only some CPUs of its nodes, so ranks cannot choose theirs.
CORES = frozenset({"c", "cpus-per-task"})


def find_core_options(command: CommandLine, placement: HostPlacement) -> list[str]:
    """List the options that give each rank its cores, unless the command has some."""
    from topoloom.launch.srun_options import COUNT_CORES, list_core_options

    if command.is_set(CORES | BINDING):
        return []
    options = list_core_options(placement)
    if command.is_set({"hint", "threads-per-core"}):  # which exclude each other
        return [option for option in options if option != COUNT_CORES]
    return options
