# SPDX-License-Identifier: BSD-3-Clause
"""Intel MPI machine file: `host:N`, filled from the top in rank order.

A host may be listed several times. `binding=map=0,3` after a host pins its ranks to
these CPUs in turn. For several CPUs per rank, the entries are hexadecimal bit masks:
`binding=map=[11,88]`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from topoloom._core import Error
from topoloom.launch.export_format import ExportFormat, HybridOptions
from topoloom.launch.host_placement import HostPlacement
from topoloom.launch.rank_location import (
    RankLocation,
    find_host,
    find_slot_of_cpu,
    list_numbered_lines,
)
from topoloom.launch.uniform_binding import list_mask_cpus, make_cpu_mask

_LINE = re.compile(
    r"([^\s:]+)(?::([0-9]{1,7}))?"
    r"(?:\s+binding=map=(?:\[([0-9a-fA-F,]+)\]|([0-9,]+)))?"
)


def write(placement: HostPlacement) -> str:
    """Write one line for each run of consecutive ranks on one host."""
    lines, rank = [], 0
    for host, count in placement.host_runs():
        binding = _format_binding(placement, range(rank, rank + count))
        lines.append(f"{placement.hosts[host]}:{count}{binding}\n")
        rank += count
    return "".join(lines)


def read(text: str, job: HostPlacement, ranks: int) -> list[RankLocation]:
    """Read ``host:N``, filled in rank order, and ``binding=map=`` lists or masks."""
    located: list[RankLocation] = []
    for number, line in list_numbered_lines(text):
        match = _LINE.fullmatch(line)
        if not match:
            raise Error(f"line {number}: expected 'HOST:N'")
        host, count = find_host(job, match[1]), int(match[2] or 1)
        bound: list[tuple[int, ...]] = []
        if masks := match[3]:
            bound = [list_mask_cpus(int(mask, 16)) for mask in masks.split(",")]
        elif cpus := match[4]:
            bound = [(int(cpu),) for cpu in cpus.split(",")]
        for index in range(count):
            slot = None
            if bound:
                slot = find_slot_of_cpu(job, host, bound[index % len(bound)][0])
            located.append(RankLocation(host, slot))
    return located[:ranks]


def _format_binding(placement: HostPlacement, ranks: Sequence[int]) -> str:
    if placement.bind is None:
        return ""
    cpus = [placement.cpus(rank) for rank in ranks]
    if all(len(of_rank) == 1 for of_rank in cpus):
        return " binding=map=" + ",".join(str(of_rank[0]) for of_rank in cpus)
    return (
        f" binding=map=[{','.join(f'{make_cpu_mask(of_rank):x}' for of_rank in cpus)}]"
    )


FORMAT = ExportFormat(
    name="intel-machinefile",
    summary="Intel MPI: hosts and how many ranks each takes, in rank order",
    usage="mpirun {variables}{cores}-machinefile FILE -n {ranks} ./app",
    write=write,
    binds="ranks",
    starts_with=r"[^\s:]+:[0-9]+(\s+binding=map=\S+)?$",
    read=read,
    sharing="",
    hybrid=HybridOptions(
        "-genv {name} {value}",
        cores="-genv I_MPI_PIN_DOMAIN {cpus}:compact",
        binds=True,
    ),
    keeps_slots=HostPlacement.is_bound_or_in_rank_order,
)
