# SPDX-License-Identifier: BSD-3-Clause
"""Hosts that ranks print, as with ``srun -l hostname`` or ``mpiexec -l hostname``.

Lines are in any order: ``12: n07`` (srun), ``[12] n07`` (Hydra), or
``[1,12]<stdout>:n07`` (Open MPI's ``--tag-output``).
"""

from __future__ import annotations

import re

from topoloom._core import Error
from topoloom.launch.host_placement import HostPlacement
from topoloom.launch.rank_location import (
    RankLocation,
    ReadOnlyFormat,
    find_host,
    list_numbered_lines,
    order_by_rank,
)

#: A rank and its host. A host name has a letter, unlike the numbers of other formats.
_LINE = (
    r"(?:([0-9]{1,9}):?\s+|\[(?:\S*,)?([0-9]{1,9})\](?:<stdout>:)?\s*)"
    r"((?=\S*[A-Za-z])[A-Za-z0-9._-]+)"
)


def read(text: str, job: HostPlacement, ranks: int) -> list[RankLocation]:
    """Read ``RANK: HOST`` of each line."""
    listed = []
    for number, line in list_numbered_lines(text):
        match = re.fullmatch(_LINE, line)
        if not match:
            raise Error(f"line {number}: expected 'RANK: HOST'")
        rank = int(match[1] or match[2])
        listed.append((rank, RankLocation(find_host(job, match[3]))))
    return order_by_rank(listed, ranks)


FORMAT = ReadOnlyFormat("rank-hosts", f"{_LINE}$", read)
