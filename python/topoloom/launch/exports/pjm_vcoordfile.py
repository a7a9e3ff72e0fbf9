# SPDX-License-Identifier: BSD-3-Clause
"""Fugaku's `--vcoordfile`, and PJM's `rank-map-hostfile`: `(x,y,z)` of each rank.

Coordinates are logical, inside the job's shape (`#PJM -L node=4x6x8`), with as many
axes as this has. PJM cancels a job whose coordinates lie outside.
"""

from __future__ import annotations

from topoloom._core import Error
from topoloom.launch.host_placement import HostPlacement
from topoloom.launch.torus_box import dimensions, torus_box

NAME = "pjm-vcoordfile"
SUMMARY = "Fugaku (PJM): coordinates of each rank inside the job's shape"
USE = "mpiexec --vcoordfile FILE -n {ranks} ./app   (#PJM -L node={shape})"

MAX_AXES = 3


def keeps_slots(placement: HostPlacement) -> bool:
    """Return whether nodes are filled in rank order: it names no slots."""
    return placement.fills_in_rank_order()


def write(placement: HostPlacement) -> str:
    """Write the coordinates of ranks; raise `topoloom.Error` if they fill no box."""
    shape, coordinates = torus_box(placement, NAME)
    if len(shape) > MAX_AXES:
        raise Error(
            f"{NAME} has 1 to {MAX_AXES} coordinates, but the machine has "
            f"{len(shape)} axes ({dimensions(shape)})"
        )
    lines = [f"({','.join(map(str, at))})\n" for at in coordinates.tolist()]
    return "".join(lines[host] for host in placement.host.tolist())
