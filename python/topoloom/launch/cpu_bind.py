# SPDX-License-Identifier: BSD-3-Clause
"""How ranks get their CPUs under srun, as an option or by themselves.

``srun --cpu-bind`` has one list for all nodes: entry i is for the i-th rank of every
node. It binds ranks that are on the same slots of each node. Any ranks can look for
their entry in a list of all, and bind themselves with taskset as they start.
"""

from __future__ import annotations

from topoloom.launch.host_placement import HostPlacement
from topoloom.launch.launch import LONGEST_ARGUMENT
from topoloom.number_ranges import compress_ranges

#: ``$0`` is the list, ``$@`` the program. Nothing has to lie on a disk of the nodes.
_BIND_MYSELF = (
    'exec taskset -c "$(echo "$0" | cut -d" " -f"$((SLURM_PROCID + 1))")" "$@"'
)


def bind_myself(placed: HostPlacement) -> tuple[str, ...] | None:
    """Build what stands before a program that binds itself; None if it is too long."""
    listed = " ".join(compress_ranges(placed.cpus(r)) for r in range(placed.rank_count))
    if len(listed) > LONGEST_ARGUMENT:
        return None
    return ("sh", "-c", _BIND_MYSELF, listed)


def cpu_bind(placed: HostPlacement) -> str | None:
    """Write ``map_cpu:0,2`` or ``mask_cpu:0x3,0xc``; None if nodes differ."""
    if placed.bind is None:
        return None
    longest = max(placed.ranks_of_hosts(), key=len)
    listed = [placed.cpus(rank) for rank in longest]
    for ranks in placed.ranks_of_hosts():
        if any(placed.cpus(r) != cpus for r, cpus in zip(ranks, listed, strict=False)):
            return None
    if all(len(cpus) == 1 for cpus in listed):
        return "map_cpu:" + ",".join(str(cpus[0]) for cpus in listed)
    masks = (sum(1 << cpu for cpu in cpus) for cpus in listed)
    return "mask_cpu:" + ",".join(f"{mask:#x}" for mask in masks)
