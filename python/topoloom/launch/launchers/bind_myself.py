# SPDX-License-Identifier: BSD-3-Clause
"""Ranks that bind themselves as they start, for launchers that cannot bind any rank.

Each looks for its entry in a list of all and calls taskset. No file has to be on a
disk of the nodes.
"""

from __future__ import annotations

from collections.abc import Sequence

from topoloom.launch.host_placement import HostPlacement
from topoloom.launch.launcher import LONGEST_ARGUMENT
from topoloom.support.number_ranges import compress_ranges

#: ``$0`` is the list, ``$@`` the program.
_SCRIPT = 'exec taskset -c "$(echo "$0" | cut -d" " -f"$(({variable} + 1))")" "$@"'


def bind_myself(
    placement: HostPlacement, variable: str, ranks: Sequence[int] | None = None
) -> tuple[str, ...] | None:
    """Build the words before a program that make it bind itself.

    The launcher gives each rank its number in the environment, as `variable`; number i
    is rank ``ranks[i]``, or i. None if the list is longer than a command line may be.
    """
    ranks = range(placement.rank_count) if ranks is None else ranks
    listed = " ".join(compress_ranges(placement.cpus(rank)) for rank in ranks)
    if len(listed) > LONGEST_ARGUMENT:
        return None
    return ("sh", "-c", _SCRIPT.format(variable=variable), listed)
