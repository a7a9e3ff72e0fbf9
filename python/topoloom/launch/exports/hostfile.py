# SPDX-License-Identifier: BSD-3-Clause
"""Open MPI hostfile: `host slots=N`, filled from the top in rank order.

It can express a placement only if the ranks of each host are consecutive. The file
contains a count for each host, because otherwise Open MPI assumes one slot per core.
"""

from __future__ import annotations

import re

from topoloom._core import Error
from topoloom.launch.export_format import ExportFormat, HybridOptions
from topoloom.launch.host_placement import HostPlacement
from topoloom.launch.rank_location import (
    RankLocation,
    find_host,
    list_numbered_lines,
    repeat_hosts,
)

_LINE = re.compile(r"(\S+?)(?:\s+slots\s*=\s*([0-9]{1,7}))?(?:\s+max[-_]slots=\S+)?")


def write(placement: HostPlacement) -> str:
    """Write the hostfile; raise `topoloom.Error` if it lists a host more than once."""
    runs = placement.require_one_run_per_host(
        "a hostfile",
        "export to openmpi-rankfile, mpich-rankmap, mpich-hostfile or slurm-hostfile "
        "instead",
    )
    return "".join(f"{placement.hosts[host]} slots={count}\n" for host, count in runs)


def read(text: str, job: HostPlacement, ranks: int) -> list[RankLocation]:
    """Read ``host slots=N``, filled in rank order."""
    runs = []
    for number, line in list_numbered_lines(text):
        match = _LINE.fullmatch(line)
        if not match:
            raise Error(f"line {number}: expected 'HOST slots=N'")
        host = find_host(job, match[1])
        runs.append((host, int(match[2] or job.slots_of_host[host])))
    return repeat_hosts(runs)[:ranks]


def _get_usage_values(placement: HostPlacement) -> dict[str, str]:
    cores = placement.cores_per_rank
    return {"cores_each": f":PE={cores}" if cores > 1 else ""}


def _describe_required_host(placement: HostPlacement) -> str | None:
    """Describe where mpirun must run: Open MPI 4 lists its own host first."""
    if len({host for host, _ in placement.host_runs()}) < 2:
        return None
    return (
        "Open MPI 4 starts the first ranks on mpirun's own host if the file lists it: "
        f"run mpirun on {placement.host_name(0)}, or export to openmpi-rankfile; "
        "Open MPI 5 keeps the order of the file"
    )


FORMAT = ExportFormat(
    name="hostfile",
    summary="Open MPI: hosts and how many ranks each takes, in rank order",
    usage=(
        "mpirun {variables}{sharing}--hostfile FILE --map-by slot{cores_each} "
        "-n {ranks} ./app"
    ),
    write=write,
    usage_values=_get_usage_values,
    keeps_slots=HostPlacement.fills_in_rank_order,
    relies_on=_describe_required_host,
    starts_with=r"\S+\s+(max[-_])?slots\s*=",
    read=read,
    sharing="--bind-to none",
    hybrid=HybridOptions("-x {name}={value}", binds=True),
)
