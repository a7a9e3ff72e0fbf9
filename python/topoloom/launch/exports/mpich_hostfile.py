# SPDX-License-Identifier: BSD-3-Clause
"""MPICH (Hydra) hostfile: `host:N`, filled from the top in rank order.

Hydra lets a host return further down, so every placement can be said; but the stretches
of a host that returns do not share one shared-memory communicator. Hydra refuses the
`slots=` of Open MPI, and Open MPI the `:N` of Hydra.

With `binding=user:0+64,1+65` after a host, its ranks are bound to these CPUs in turn.
"""

from __future__ import annotations

from collections.abc import Sequence

from topoloom.launch.host_placement import HostPlacement

NAME = "mpich-hostfile"
SUMMARY = "MPICH: hosts and how many ranks each takes, in rank order; hosts may return"
USE = "mpiexec -f FILE -n {ranks} ./app"


def keeps_slots(placement: HostPlacement) -> bool:
    """Return whether ranks are bound, or hosts filled in rank order."""
    return placement.bind is not None or placement.fills_in_rank_order()


def write(placement: HostPlacement) -> str:
    """Write one line for each stretch of ranks on one host."""
    lines, rank = [], 0
    for host, count in placement.runs():
        lines.append(line(placement, host, range(rank, rank + count)))
        rank += count
    return "".join(lines)


def line(placement: HostPlacement, host: int, ranks: Sequence[int]) -> str:
    """Write a host and its next ranks, bound to their CPUs if that is asked for."""
    binding = ""
    if placement.bind is not None:
        bound = ("+".join(map(str, placement.cpus(rank))) for rank in ranks)
        binding = f" binding=user:{','.join(bound)}"
    return f"{placement.hosts[host]}:{len(ranks)}{binding}\n"
