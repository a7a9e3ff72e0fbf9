# SPDX-License-Identifier: BSD-3-Clause
"""Finds the slots of ranks from a placement file, or assigns slots in order."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from topoloom._core import Error
from topoloom.machines.machine_file import load_machine
from topoloom.placements.placement_file import load_placement
from topoloom.support.parameter_error import ParameterError
from topoloom.support.units import counted
from topoloom.tasks.balancing.balance import Ranks, block_ranks
from topoloom.tasks.problem import AllocationSpec, load_nodes, select_launched_slots


def find_rank_slots(
    count: int, machine: str | None, placement: Path | None, where: AllocationSpec
) -> Ranks | None:
    """Find the slots of the ranks; None if neither machine nor placement is given.

    With an allocation, ranks are on the slots that the launcher would use. If slots
    outnumber ranks, the ranks are spread over all nodes. With a placement, `machine`
    must be None or the placement's machine.
    """
    if placement is None:
        if machine is not None:
            given, described = load_nodes(machine, where)
            if count <= given.allocation.slot_count:
                given, _ = select_launched_slots(given, described, where, count)
            return block_ranks(given.allocation, count)
        if where.allocation or where.nodes:
            raise ParameterError("machine", "is missing, which an allocation requires")
        return None
    if where.allocation or where.nodes:
        raise Error(f"{placement} contains its allocation; leave out the allocation")
    file = load_placement(placement)
    if machine is not None and load_machine(machine).text != file.machine.text:
        raise Error(
            f"{placement} is for {file.machine.text}, not {machine}; "
            "leave out the machine"
        )
    if len(file.placement.slots) != count:
        raise Error(
            f"{placement} places {counted(len(file.placement.slots), 'rank')}, "
            f"but the loads are of {count}"
        )
    return Ranks(file.allocation, file.placement)


def format_ranks_by_node(ranks: Ranks) -> str:
    """Format the number of ranks per node, such as ``8 on each of 8 nodes``."""
    nodes = ranks.placement.slots // ranks.allocation.machine.slots_per_node
    _, counts = np.unique(nodes, return_counts=True)
    least, most = int(counts.min()), int(counts.max())
    if len(counts) == 1:
        return f"{most:,} on 1 node"
    each = (
        f"{most:,} on each of" if least == most else f"{least:,} to {most:,} on each of"
    )
    return f"{each} {len(counts):,} nodes"
