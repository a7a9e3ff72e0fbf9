# SPDX-License-Identifier: BSD-3-Clause
"""Maps a previous placement to the current machine and allocation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from topoloom._core import Allocation, Error
from topoloom.placements.placement_file import PlacementFile
from topoloom.support.units import counted


def previous_slots(
    previous: PlacementFile,
    allocation: Allocation,
    hosts: Sequence[str] | None,
    ranks: int,
) -> Any:
    """Find the current slot of every rank; -1 if it is new or its node is gone.

    Nodes are identified by host name. Without names on one side, the machine must be
    the same and nodes are identified by number.
    """
    machine, before = allocation.machine, previous.machine
    if machine.slots_per_node != before.slots_per_node:
        raise Error(
            "the previous placement is for nodes of "
            f"{counted(before.slots_per_node, 'slot')}, but those of "
            f"{machine.text} have {machine.slots_per_node}"
        )
    if hosts is not None and previous.hosts is not None:
        current = {name: node for node, name in _named(allocation, hosts)}
        node_of = {
            node: current.get(name)
            for node, name in _named(previous.allocation, previous.hosts)
        }
    elif machine.text == before.text:
        node_of = {node: node for node in previous.allocation.nodes.tolist()}
    else:
        raise Error(
            f"the previous placement is for {before.text}, not {machine.text}, and "
            "without host names on both sides it is unknown which nodes are the same"
        )
    slots = np.full(ranks, -1, dtype=np.int64)
    per_node = machine.slots_per_node
    for rank, slot in enumerate(previous.placement.slots[:ranks].tolist()):
        node = node_of.get(slot // per_node)
        if node is not None:
            slots[rank] = node * per_node + slot % per_node
    return slots


def _named(
    allocation: Allocation, hosts: Sequence[str]
) -> Iterator[tuple[int, tuple[str, int]]]:
    """List nodes with their host name and their index on the host."""
    each = allocation.machine.nodes_per_host
    for node, host in zip(allocation.nodes.tolist(), hosts, strict=True):
        yield node, (host, node % each)


def count_moved(slots: Any, placement: Any) -> int:
    """Count the ranks that leave their previous slot."""
    return int(np.count_nonzero((slots >= 0) & (slots != placement.slots)))
