# SPDX-License-Identifier: BSD-3-Clause
"""Intel MPI machine file: `host:N`, filled from the top in rank order.

Hosts may return. With `binding=map=0,3` after a host its ranks are pinned to these
CPUs in turn; where a rank has several CPUs, to the bits of `binding=map=[11,88]`
(hexadecimal).
"""

from __future__ import annotations

from collections.abc import Sequence

from topoloom.launch.alike import cpu_mask
from topoloom.launch.host_placement import HostPlacement

NAME = "intel-machinefile"
SUMMARY = "Intel MPI: hosts and how many ranks each takes, in rank order"
USE = "mpirun -machinefile FILE -n {ranks} ./app"


def keeps_slots(placement: HostPlacement) -> bool:
    """Return whether ranks are pinned, or hosts filled in rank order."""
    return placement.bind is not None or placement.fills_in_rank_order()


def write(placement: HostPlacement) -> str:
    """Write one line for each stretch of ranks on one host."""
    lines, rank = [], 0
    for host, count in placement.runs():
        pinned = _pinned(placement, range(rank, rank + count))
        lines.append(f"{placement.hosts[host]}:{count}{pinned}\n")
        rank += count
    return "".join(lines)


def _pinned(placement: HostPlacement, ranks: Sequence[int]) -> str:
    if placement.bind is None:
        return ""
    cpus = [placement.cpus(rank) for rank in ranks]
    if all(len(of_rank) == 1 for of_rank in cpus):
        return " binding=map=" + ",".join(str(of_rank[0]) for of_rank in cpus)
    return f" binding=map=[{','.join(f'{cpu_mask(of_rank):x}' for of_rank in cpus)}]"
