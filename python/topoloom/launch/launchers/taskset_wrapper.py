# SPDX-License-Identifier: BSD-3-Clause
"""Binding by taskset, for launchers that cannot bind each rank.

Each rank takes its entry of a list of all and calls taskset, so that the nodes need to
see no file.
"""

from __future__ import annotations

from collections.abc import Sequence

from topoloom.launch.command_line import CommandLine
from topoloom.launch.host_placement import HostPlacement
from topoloom.launch.launcher import LONGEST_ARGUMENT
from topoloom.support.number_ranges import compress_ranges

#: ``$0`` is the list, ``$@`` the program.
_SCRIPT = 'exec taskset -c "$(echo "$0" | cut -d" " -f"$(({variable} + 1))")" "$@"'


def with_taskset(
    command: CommandLine,
    placement: HostPlacement,
    variable: str,
    ranks: Sequence[int] | None = None,
) -> CommandLine | None:
    """Bind each rank by taskset to its CPUs, if ranks are to be bound.

    The launcher numbers ranks in the environment `variable`; number i is rank
    ``ranks[i]``, or i. None if nothing is to be bound, or the list is too long for a
    command line.
    """
    if placement.bind is None:
        return None
    ranks = range(placement.rank_count) if ranks is None else ranks
    listed = " ".join(compress_ranges(placement.cpus(rank)) for rank in ranks)
    if len(listed) > LONGEST_ARGUMENT:
        return None
    return command.with_wrapper(("sh", "-c", _SCRIPT.format(variable=variable), listed))
