# SPDX-License-Identifier: BSD-3-Clause
"""Open MPI hostfile: `host slots=N`, filled from the top in rank order.

It can express a placement only if the ranks of each host are consecutive. The file
contains a count for each host, because otherwise Open MPI assumes one slot per core.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

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
    """Write the hostfile.

    Raises
    ------
    topoloom.Error
        If it would list a host twice, or if a rank would have cores of two packages.
    """
    runs = placement.require_one_run_per_host(
        "a hostfile",
        "export to openmpi-rankfile, mpich-rankmap, mpich-hostfile or slurm-hostfile "
        "instead",
    )
    _require_cores_in_packages(placement)
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
    is_bound = cores > 1 and not placement.shares_slots
    return {"cores_each": f":PE={cores}" if is_bound else ""}


def _keeps_slots(placement: HostPlacement) -> bool:
    """Return whether ranks get the cores of their slots.

    Rather than bind a rank to two packages, Open MPI 5 leaves cores of the first free.
    """
    cores = _count_package_cores(placement)
    fills_packages = cores % placement.slots_per_rank == 0
    in_first = placement.ranks_per_host() <= cores // placement.slots_per_rank
    return placement.fills_in_rank_order() and bool((fills_packages | in_first).all())


def _require_cores_in_packages(placement: HostPlacement) -> None:
    """Raise `topoloom.Error` if Open MPI 5 would bind a rank to two packages."""
    if placement.slots_per_rank == 1 or placement.shares_slots:
        return
    most = _count_package_cores(placement) // placement.slots_per_rank
    full = placement.ranks_per_host() > most * placement.packages_of_host
    full &= placement.packages_of_host > 1
    if full.any():
        raise Error(
            f"a hostfile cannot express this placement: a rank on host "
            f"'{placement.hosts[int(np.argmax(full))]}' would have cores of two "
            "packages, which Open MPI 5 refuses; export to openmpi-rankfile instead"
        )


def _count_package_cores(placement: HostPlacement) -> Any:
    return placement.slots_of_host // placement.packages_of_host


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
    keeps_slots=_keeps_slots,
    relies_on=_describe_required_host,
    starts_with=r"\S+\s+(max[-_])?slots\s*=",
    read=read,
    sharing="--bind-to none",
    hybrid=HybridOptions("-x {name}={value}", binds=True),
)
