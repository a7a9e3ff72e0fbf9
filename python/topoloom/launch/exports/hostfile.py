# SPDX-License-Identifier: BSD-3-Clause
"""Open MPI hostfile: `host slots=N`, filled from the top in rank order.

It can express a placement only if the ranks of each host are consecutive. The file
contains a count for each host, because otherwise Open MPI assumes one slot per core.
"""

from __future__ import annotations

from topoloom.launch.export_format import ExportFormat
from topoloom.launch.host_placement import HostPlacement


def write(placement: HostPlacement) -> str:
    """Write the hostfile; raise `topoloom.Error` if it lists a host more than once."""
    runs = placement.require_one_run_per_host(
        "a hostfile",
        "export to openmpi-rankfile, mpich-rankmap, mpich-hostfile or slurm-hostfile "
        "instead",
    )
    return "".join(f"{placement.hosts[host]} slots={count}\n" for host, count in runs)


FORMAT = ExportFormat(
    name="hostfile",
    summary="Open MPI: hosts and how many ranks each takes, in rank order",
    usage="mpirun --hostfile FILE --map-by slot -n {ranks} ./app",
    write=write,
    keeps_slots=HostPlacement.fills_in_rank_order,
)
