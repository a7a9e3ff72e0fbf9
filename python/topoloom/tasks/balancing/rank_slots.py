# SPDX-License-Identifier: BSD-3-Clause
"""Where the ranks are whose tasks move: as a file says, or in order on a machine."""

from __future__ import annotations

from pathlib import Path

from topoloom._core import Error
from topoloom.machines.machine_file import load_machine
from topoloom.placements.placement_file import load_placement
from topoloom.support.units import counted
from topoloom.tasks.balancing.balance import Ranks, block_ranks
from topoloom.tasks.problem import Where, load_nodes


def placed_ranks(
    count: int, machine: str | None, placement: Path | None, where: Where
) -> Ranks | None:
    """Find where ranks are; None where neither a machine nor a placement is named.

    A placement may name its machine again, but no other.
    """
    if placement is None:
        if machine is not None:
            given, _ = load_nodes(machine, where)
            return block_ranks(given.allocation, count)
        if where.allocation or where.allocate:
            raise Error("an allocation is of a machine; name that, too")
        return None
    if where.allocation or where.allocate:
        raise Error(f"{placement} says which allocation it is for; leave out yours")
    file = load_placement(placement)
    if machine is not None and load_machine(machine).text != file.machine.text:
        raise Error(
            f"{placement} is for {file.machine.text}, not {machine}; "
            "leave out the machine"
        )
    if len(file.placement.slots) != count:
        raise Error(
            f"{placement} places {counted(len(file.placement.slots), 'rank')}, "
            f"but there are loads of {count}"
        )
    return Ranks(file.allocation, file.placement)
