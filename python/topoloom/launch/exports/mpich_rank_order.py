# SPDX-License-Identifier: BSD-3-Clause
"""Cray `MPICH_RANK_ORDER`: the rank on each slot, in launcher order.

Other formats list a slot per rank; here the position is the slot and the value is the
rank. The launcher starts equally many ranks on each node, so the format cannot express
placements with free slots between ranks.
"""

from __future__ import annotations

import re

import numpy as np

from topoloom._core import Error
from topoloom.launch.export_format import ExportFormat, HybridOptions
from topoloom.launch.host_placement import HostPlacement
from topoloom.launch.hybrid_ranks import bind_to_known_cores
from topoloom.launch.rank_location import (
    RankLocation,
    list_numbered_lines,
    list_slots_of_hosts,
    order_by_rank,
)
from topoloom.launch.srun_options import (
    is_block_distribution,
    list_block_options,
    list_core_options,
)
from topoloom.launch.uniform_binding import find_cpus_in_slot_order, format_cpu_lists

RANKS_PER_LINE = 32


def write(placement: HostPlacement) -> str:
    """Write the order; raise `topoloom.Error` if slots between ranks are empty."""
    counts = placement.ranks_per_host()
    used = int(np.count_nonzero(counts))
    full = int(counts[0]) if counts.size else 0
    for index, count in enumerate(counts[:used]):
        most = full if index < used - 1 else count
        if not 0 < most == count <= full:
            raise Error(
                "MPICH_RANK_ORDER cannot express this placement: it fills every node "
                f"with equally many ranks, but host '{placement.hosts[0]}' has {full} "
                f"and '{placement.hosts[index]}' has {count}; export to slurm-hostfile "
                "instead"
            )
    lines = [
        f"# {placement.rank_count} ranks on {used} nodes, {full} on a node; "
        "position = slot, value = rank"
    ]
    order = placement.launch_order().tolist()
    for start in range(0, len(order), RANKS_PER_LINE):
        lines.append(",".join(map(str, order[start : start + RANKS_PER_LINE])))
    return "\n".join(lines) + "\n"


def read(text: str, job: HostPlacement, ranks: int) -> list[RankLocation]:
    """Read the rank on each position.

    Each node has equally many positions: as the comment of `write` says, or as many as
    the ranks need.
    """
    stated = re.search(r"^# .*, ([0-9]{1,7}) on a node", text)
    each = int(stated[1]) if stated else -(-ranks // len(job.hosts))
    order: list[int] = []
    for number, line in list_numbered_lines(text):
        for word in line.replace(",", " ").split():
            match = re.fullmatch(r"([0-9]{1,9})(?:-([0-9]{1,9}))?", word)
            if not match:
                raise Error(f"line {number}: '{word}' is not a rank")
            order += range(int(match[1]), int(match[2] or match[1]) + 1)
    if sorted(order) != list(range(ranks)):
        raise Error(f"expected each rank from 0 to {ranks - 1} once")
    slots = list_slots_of_hosts(job)
    listed = []
    for position, rank in enumerate(order):
        host, index = divmod(position, each)
        if host >= len(slots) or index >= len(slots[host]):
            raise Error(f"{ranks} ranks do not fit with {each} on a node")
        listed.append((rank, RankLocation(host, slots[host][index])))
    return order_by_rank(listed, ranks)


def _fills_first_slots(placement: HostPlacement) -> bool:
    """Return whether the ranks of each host are on its first slots, without gaps."""
    order = placement.launch_order()
    host = placement.host[order]
    first = np.searchsorted(host, host)
    number = np.arange(host.size) - first
    return bool(
        np.array_equal(placement.slot[order], number * placement.slots_per_rank)
    )


def _keeps_slots(placement: HostPlacement) -> bool:
    """Return whether ranks get the cores of their slots: see `list_block_options`."""
    is_dealt = placement.has_several_packages and not is_block_distribution(placement)
    return _fills_first_slots(placement) and not is_dealt


def _get_usage_values(placement: HostPlacement) -> dict[str, str]:
    return {
        "distribution": " ".join(list_block_options(placement)),
        "srun_options": "".join(f"{word} " for word in list_core_options(placement)),
        "pals_options": _format_pals_binding(placement),
    }


def _format_pals_binding(placement: HostPlacement) -> str:
    """Format the CPUs of the i-th rank of each node, or the CPUs per rank."""
    if placement.cores_per_rank == 1:
        return ""
    cpus = find_cpus_in_slot_order(bind_to_known_cores(placement))
    if cpus is None or () in cpus:
        return f"--cpu-bind depth -d {placement.cores_per_rank} "
    return f"--cpu-bind list:{format_cpu_lists(cpus, ':')} "


FORMAT = ExportFormat(
    name="mpich-rank-order",
    summary="Cray MPICH: the rank on each slot, to be named MPICH_RANK_ORDER",
    usage=(
        "{variables}MPICH_RANK_REORDER_METHOD=3 MPICH_RANK_REORDER_FILE=FILE "
        "srun -N {nodes} {distribution} {srun_options}{sharing}-n {ranks} ./app   "
        "(PALS: instead of srun, mpiexec -n {ranks} --ppn {ranks_per_node} "
        "{pals_options}./app)"
    ),
    write=write,
    usage_values=_get_usage_values,
    keeps_slots=_keeps_slots,
    starts_with=r"# [0-9]+ ranks on|[0-9]+(-[0-9]+)?([, ]+[0-9]+(-[0-9]+)?)+,?$",
    read=read,
    sharing="--overcommit",
    hybrid=HybridOptions(binds=True),
)
