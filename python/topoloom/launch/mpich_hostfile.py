# SPDX-License-Identifier: BSD-3-Clause
"""MPICH (Hydra) hostfile: `host:N`, filled from the top in rank order.

Hydra lets a host return further down, so every placement can be said; but the stretches
of a host that returns do not share one shared-memory communicator. Hydra refuses the
`slots=` of Open MPI, and Open MPI the `:N` of Hydra.
"""

from __future__ import annotations

from topoloom.launch.host_placement import HostPlacement

NAME = "mpich-hostfile"
SUMMARY = "MPICH: hosts and how many ranks each takes, in rank order; hosts may return"
USE = "mpiexec -f FILE -n {ranks} ./app"
NAMES_SLOTS = False


def write(placed: HostPlacement) -> str:
    """Write one line for each stretch of ranks on one host."""
    return "".join(f"{placed.hosts[host]}:{count}\n" for host, count in placed.runs())
