# SPDX-License-Identifier: BSD-3-Clause
"""Open MPI hostfile: `host slots=N`, filled from the top in rank order.

It can say a placement only if the ranks of each host are consecutive. Each count is
written out, because Open MPI takes a host without one to have a slot for every core.
"""

from __future__ import annotations

from topoloom.launch.consecutive import consecutive_runs
from topoloom.launch.host_placement import HostPlacement

NAME = "hostfile"
SUMMARY = "Open MPI: hosts and how many ranks each takes, in rank order"
USE = "mpirun --hostfile FILE --map-by slot -n {ranks} ./app"


def keeps_slots(placement: HostPlacement) -> bool:
    """Return whether hosts are filled in rank order: it names no slots."""
    return placement.fills_in_rank_order()


def write(placement: HostPlacement) -> str:
    """Write the hostfile; raise `topoloom.Error` where it cannot say the placement."""
    runs = consecutive_runs(
        placement,
        "a hostfile",
        "export to openmpi-rankfile, mpich-rankmap, mpich-hostfile or slurm-hostfile "
        "instead",
    )
    return "".join(f"{placement.hosts[host]} slots={count}\n" for host, count in runs)
