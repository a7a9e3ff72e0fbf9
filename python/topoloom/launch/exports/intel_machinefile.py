# SPDX-License-Identifier: BSD-3-Clause
"""Intel MPI machine file: `host:N`, filled from the top in rank order.

A host may be listed several times. `binding=map=0,3` after a host pins its ranks to
these CPUs in turn. For several CPUs per rank, the entries are hexadecimal bit masks:
`binding=map=[11,88]`.
"""

from __future__ import annotations

from collections.abc import Sequence

from topoloom.launch.export_format import ExportFormat, HybridOptions
from topoloom.launch.host_placement import HostPlacement
from topoloom.launch.uniform_binding import make_cpu_mask


def write(placement: HostPlacement) -> str:
    """Write one line for each run of consecutive ranks on one host."""
    lines, rank = [], 0
    for host, count in placement.host_runs():
        binding = _format_binding(placement, range(rank, rank + count))
        lines.append(f"{placement.hosts[host]}:{count}{binding}\n")
        rank += count
    return "".join(lines)


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
    sharing="",
    hybrid=HybridOptions(
        "-genv {name} {value}", cores="-genv I_MPI_PIN_DOMAIN {cores}", binds=True
    ),
    keeps_slots=HostPlacement.is_bound_or_in_rank_order,
)
