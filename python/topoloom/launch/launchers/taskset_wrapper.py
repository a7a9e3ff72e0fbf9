# SPDX-License-Identifier: BSD-3-Clause
"""Binds ranks with taskset, for launchers that cannot bind individual ranks.

Each rank selects its entry from a list in the command line and calls taskset, so no
shared file is needed.
"""

from __future__ import annotations

from collections.abc import Sequence

from topoloom.launch.command_line import CommandLine
from topoloom.launch.host_placement import HostPlacement
from topoloom.launch.launcher import LONGEST_ARGUMENT
from topoloom.support.number_ranges import compress_ranges

#: Shell code: ``$0`` is the list of CPUs of all ranks, ``$@`` the program.
_SCRIPT = 'exec taskset -c "$(echo "$0" | cut -d" " -f"$(({variable} + 1))")" "$@"'


def wrap_with_taskset(
    command: CommandLine,
    placement: HostPlacement,
    variable: str,
    ranks: Sequence[int] | None = None,
) -> CommandLine | None:
    """Bind each rank with taskset to its CPUs, if the placement binds ranks.

    The launcher stores the process number in the environment `variable`. Process i is
    rank ``ranks[i]``, or rank i if `ranks` is not given. Returns None if ranks are not
    bound, or if the list is too long for a command line.
    """
    if placement.bind is None:
        return None
    ranks = range(placement.rank_count) if ranks is None else ranks
    listed = " ".join(compress_ranges(placement.cpus(rank)) for rank in ranks)
    if len(listed) > LONGEST_ARGUMENT:
        return None
    return command.with_wrapper(("sh", "-c", _SCRIPT.format(variable=variable), listed))
