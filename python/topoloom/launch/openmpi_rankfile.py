# SPDX-License-Identifier: BSD-3-Clause
"""Open MPI rankfile: `rank N=host slot=CORES`, one line for each rank.

Ranks ascend, because Open MPI 4.1 rejects a file in which rank 1 comes before rank 0
on one host. Cores are logical numbers (hwloc's order), as Open MPI since 1.7 has them.
"""

from __future__ import annotations

from topoloom.launch.host_placement import HostPlacement

NAME = "openmpi-rankfile"
SUMMARY = "Open MPI: host and cores of each rank"
USE = (
    "mpirun --rankfile FILE -n {ranks} ./app   "
    "(Open MPI 5: --map-by rankfile:file=FILE)"
)
NAMES_SLOTS = True


def write(placed: HostPlacement) -> str:
    """Write the rankfile; with packages in a node, cores read ``package:core``."""
    return "".join(
        f"rank {rank}={placed.name(rank)} slot={cores(placed, rank)}\n"
        for rank in range(placed.rank_count)
    )


def cores(placed: HostPlacement, rank: int) -> str:
    """Write the cores of a rank: ``3``, ``0-3``, or in package 1 ``1:3``, ``1:0-3``."""
    slot = int(placed.slot[rank])
    prefix = ""
    if placed.packages > 1:
        package, slot = divmod(slot, placed.slots_per_node // placed.packages)
        prefix = f"{package}:"
    first = slot * placed.cores_per_slot
    last = first + placed.cores_per_slot - 1
    return f"{prefix}{first}" if first == last else f"{prefix}{first}-{last}"
