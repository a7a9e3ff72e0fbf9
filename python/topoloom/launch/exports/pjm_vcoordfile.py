# SPDX-License-Identifier: BSD-3-Clause
"""Fugaku's `--vcoordfile`, and PJM's `rank-map-hostfile`: `(x,y,z)` of each rank.

Coordinates are relative to the job's shape (`#PJM -L node=4x6x8`), and have as many
axes as the shape. PJM cancels a job with coordinates outside this shape.
"""

from __future__ import annotations

import re

from topoloom._core import Error
from topoloom.launch.export_format import ExportFormat
from topoloom.launch.host_placement import HostPlacement
from topoloom.launch.rank_location import RankLocation, list_numbered_lines
from topoloom.launch.torus_box import find_torus_box, format_shape

NAME = "pjm-vcoordfile"
MAX_AXES = 3


def write(placement: HostPlacement) -> str:
    """Write ranks' coordinates; raise `topoloom.Error` if the nodes are not a box."""
    shape, coordinates = find_torus_box(placement, NAME)
    if len(shape) > MAX_AXES:
        raise Error(
            f"{NAME} has 1 to {MAX_AXES} coordinates, but the machine has "
            f"{len(shape)} axes ({format_shape(shape)})"
        )
    lines = [f"({','.join(map(str, at))})\n" for at in coordinates.tolist()]
    return "".join(lines[host] for host in placement.host.tolist())


def read(text: str, job: HostPlacement, ranks: int) -> list[RankLocation]:
    """Read coordinates in the job's shape, one line per rank."""
    _, coordinates = find_torus_box(job, NAME)
    host_at = {tuple(at): host for host, at in enumerate(coordinates.tolist())}
    located = []
    for number, line in list_numbered_lines(text):
        match = re.match(r"\(([0-9]{1,6}(?:,[0-9]{1,6})*)\)", line)
        at = tuple(int(word) for word in match[1].split(",")) if match else ()
        if at not in host_at:
            raise Error(f"line {number}: '{line[:40]}' is no node of the job's shape")
        located.append(RankLocation(host_at[at]))
    return located[:ranks]


def _get_usage_values(placement: HostPlacement) -> dict[str, str]:
    return {"shape": format_shape(find_torus_box(placement, NAME)[0])}


FORMAT = ExportFormat(
    name=NAME,
    summary="Fugaku (PJM): coordinates of each rank inside the job's shape",
    usage=(
        "{variables}mpiexec --vcoordfile FILE -n {ranks} ./app   "
        "(#PJM -L node={shape}, #PJM --mpi max-proc-per-node={ranks_per_node})"
    ),
    write=write,
    starts_with=r"\([0-9]+(,[0-9]+)*\)",
    read=read,
    usage_values=_get_usage_values,
    keeps_slots=HostPlacement.fills_in_rank_order,
)
