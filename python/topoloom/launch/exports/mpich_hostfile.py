# SPDX-License-Identifier: BSD-3-Clause
"""MPICH (Hydra) hostfile: `host:N`, filled from the top in rank order.

Hydra accepts a host several times, so every placement can be expressed. However, if a
host has several entries, ranks of different entries cannot share memory. Hydra rejects
Open MPI's `slots=`, and Open MPI rejects Hydra's `:N`.

`binding=user:0+64,1+65` after a host binds its ranks to these CPUs in turn.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from topoloom._core import Error
from topoloom.launch.export_format import ExportFormat, HybridOptions
from topoloom.launch.host_placement import CPUS_REMEDY, HostPlacement
from topoloom.launch.rank_location import (
    RankLocation,
    find_host,
    find_slot_of_cpu,
    list_numbered_lines,
)

NAME = "mpich-hostfile"
_LINE = re.compile(r"([^\s:]+)(?::([0-9]{1,7}))?(?:\s+binding=user:([0-9+,]+))?")


def write(placement: HostPlacement) -> str:
    """Write one line for each run of consecutive ranks on one host."""
    lines, rank = [], 0
    for host, count in placement.host_runs():
        lines.append(write_host(placement, host, range(rank, rank + count)))
        rank += count
    return "".join(lines)


def read(text: str, job: HostPlacement, ranks: int) -> list[RankLocation]:
    """Read ``host:N``, filled in rank order, and ``binding=user:`` lists of CPUs."""
    located: list[RankLocation] = []
    for number, line in list_numbered_lines(text):
        match = _LINE.fullmatch(line)
        if not match:
            raise Error(f"line {number}: expected 'HOST:N'")
        host, count = find_host(job, match[1]), int(match[2] or 1)
        bound = match[3].split(",") if match[3] else []
        for index in range(count):
            slot = None
            if bound:
                first = bound[index % len(bound)].partition("+")[0]
                slot = find_slot_of_cpu(job, host, int(first))
            located.append(RankLocation(host, slot))
    return located[:ranks]


def write_host(placement: HostPlacement, host: int, ranks: Sequence[int]) -> str:
    """Write the line for a host's next ranks, with their binding if requested."""
    binding = ""
    if placement.bind is not None:
        bound = ("+".join(map(str, placement.cpus(rank))) for rank in ranks)
        binding = f" binding=user:{','.join(bound)}"
    return f"{placement.hosts[host]}:{len(ranks)}{binding}\n"


def _describe_special_loss(placement: HostPlacement) -> str | None:
    """Describe what ranks of several cores lack.

    Hydra's ``-bind-to core:N`` begins at the first core for every entry of a host.
    """
    if placement.cores_per_rank == 1 or placement.bind is not None:
        return None
    return (
        f"{NAME} does not bind ranks to their {placement.cores_per_rank} cores, whose "
        f"CPUs are not known; {CPUS_REMEDY}, or export to mpich-rankmap"
    )


FORMAT = ExportFormat(
    name=NAME,
    summary=(
        "MPICH: hosts and how many ranks each takes, in rank order; hosts may return"
    ),
    usage="mpiexec {variables}-f FILE -n {ranks} ./app",
    write=write,
    binds="ranks",
    special_loss=_describe_special_loss,
    starts_with=r"[^\s:]+:[0-9]+(\s+binding=user:\S+)?$",
    read=read,
    sharing="",
    hybrid=HybridOptions("-genv {name} {value}"),
    keeps_slots=HostPlacement.is_bound_or_in_rank_order,
)
