# SPDX-License-Identifier: BSD-3-Clause
"""Slurm host file: the host of each rank, one line per rank, for `srun -m arbitrary`.

Open MPI reads the same file with its sequential mapper (`--map-by seq`), and Flux with
`--taskmap=hostfile:FILE`.
"""

from __future__ import annotations

from topoloom.launch.alike import bound_alike
from topoloom.launch.host_placement import HostPlacement

NAME = "slurm-hostfile"
SUMMARY = "Slurm: the host of each rank, one per line"
USE = "SLURM_HOSTFILE=FILE srun -m arbitrary {srun_bind}-n {ranks} ./app"


def keeps_slots(placement: HostPlacement) -> bool:
    """Return whether srun can bind the ranks, or hosts are filled in rank order."""
    return bound_alike(placement) is not None or placement.fills_in_rank_order()


def write(placement: HostPlacement) -> str:
    """Write one host name for each rank; line i is rank i."""
    return "".join(placement.name(rank) + "\n" for rank in range(placement.rank_count))
