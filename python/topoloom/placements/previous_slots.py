# SPDX-License-Identifier: BSD-3-Clause
"""Finds the slots of a previous placement on the current machine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from topoloom._core import Allocation, Error
from topoloom.placements.placement_file import PlacementFile
from topoloom.support.units import counted


def find_previous_slots(
    previous: PlacementFile,
    allocation: Allocation,
    hosts: Sequence[str] | None,
    ranks: int,
) -> Any:
    """Find the previous slot of every rank; -1 for new ranks and missing nodes.

    Nodes are identified by host name. If host names are missing on one side, both
    machines must be equal, and nodes are identified by number.
    """
    machine, before = allocation.machine, previous.machine
    if machine.slots_per_node != before.slots_per_node:
        raise Error(
            "the previous placement is for nodes of "
            f"{counted(before.slots_per_node, 'slot')}, but nodes of {machine.text} "
            f"have {machine.slots_per_node}"
        )
    if hosts is not None and previous.hosts is not None:
        current = {name: node for node, name in _list_named_nodes(allocation, hosts)}
        node_of = {
            node: current.get(name)
            for node, name in _list_named_nodes(previous.allocation, previous.hosts)
        }
    elif machine.text == before.text:
        node_of = {node: node for node in previous.allocation.nodes.tolist()}
    else:
        raise Error(
            f"the previous placement is for {before.text}, not {machine.text}, and "
            "nodes cannot be matched without host names of both"
        )
    slots = np.full(ranks, -1, dtype=np.int64)
    per_node = machine.slots_per_node
    for rank, slot in enumerate(previous.placement.slots[:ranks].tolist()):
        node = node_of.get(slot // per_node)
        if node is not None:
            slots[rank] = node * per_node + slot % per_node
    return slots


def _list_named_nodes(
    allocation: Allocation, hosts: Sequence[str]
) -> Iterator[tuple[int, tuple[str, int]]]:
    """Yield each node with its host name and its index on the host."""
    each = allocation.machine.nodes_per_host
    for node, host in zip(allocation.nodes.tolist(), hosts, strict=True):
        yield node, (host, node % each)


def count_moved_ranks(slots: Any, placement: Any) -> int:
    """Count the ranks whose slot differs from their previous slot."""
    return int(np.count_nonzero((slots >= 0) & (slots != placement.slots)))
