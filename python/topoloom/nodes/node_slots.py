# SPDX-License-Identifier: BSD-3-Clause
"""Which slots of a machine exist, and how its nodes number them themselves."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from topoloom._core import Allocation, Machine
from topoloom.nodes.node_parts import NodeParts

Ids = npt.NDArray[np.int64]


class NodeSlots:
    """The slots of a machine, node by node; all of them unless nodes differ.

    Attributes
    ----------
    counts
        The slots of each node.
    """

    def __init__(self, machine: Machine, node: NodeParts) -> None:
        self._machine = machine
        self._types = node.types
        self.per_node = machine.slots_per_node
        count = machine.node_count
        self.counts: Ids = np.full(count, self.per_node, np.int64)
        self._type: Ids = np.zeros(count, np.int64)
        self._own = np.arange(self.per_node, dtype=np.int64)[None, :]
        if node.types:
            self._own = np.full((len(node.types), self.per_node), -1, np.int64)
        for number, kind in enumerate(node.types):
            at = np.array(kind.nodes, np.int64)
            self._type[at] = number
            self.counts[at] = len(kind.slots)
            self._own[number, list(kind.slots)] = np.arange(len(kind.slots))

    def own(self, slots: npt.ArrayLike) -> Ids:
        """Find what nodes call these slots; -1 for those that do not exist."""
        given = np.asarray(slots, np.int64)
        node, place = np.divmod(given, self.per_node)
        return self._own[self._type[node], place]

    def of_machine(self, node: int, own: int) -> int:
        """Find what the machine calls a slot of a node."""
        place = self._types[self._type[node]].slots[own] if self._types else own
        return node * self.per_node + place

    def existing(self, allocation: Allocation) -> Allocation:
        """Leave out the slots that do not exist."""
        kept = self.own(allocation.slots) >= 0
        if kept.all():
            return allocation
        return Allocation(self._machine, allocation.nodes, allocation.slots[kept])
