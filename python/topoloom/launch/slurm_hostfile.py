# SPDX-License-Identifier: BSD-3-Clause
"""Slurm host file: the host of each rank, one line a rank, for `srun -m arbitrary`.

Open MPI reads the same file with its sequential mapper (`--map-by seq`).
"""

from __future__ import annotations

from topoloom.launch.host_placement import HostPlacement

NAME = "slurm-hostfile"
SUMMARY = "Slurm: the host of each rank, one a line"
USE = "SLURM_HOSTFILE=FILE srun -m arbitrary -n {ranks} ./app"
NAMES_SLOTS = False


def write(placed: HostPlacement) -> str:
    """Write one host name for each rank; line i is rank i."""
    return "".join(placed.name(rank) + "\n" for rank in range(placed.rank_count))
