# SPDX-License-Identifier: BSD-3-Clause
"""Which slots of a machine exist, and how its hosts number them themselves."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from topoloom._core import Allocation, Machine
from topoloom.nodes.hosts import Ids, host_count, slots_per_host
from topoloom.nodes.node_parts import NodeParts


class HostSlots:
    """The slots of a machine, host by host; all of them unless nodes differ.

    Attributes
    ----------
    counts
        The slots of each host.
    """

    def __init__(self, machine: Machine, node: NodeParts) -> None:
        self._machine = machine
        self._types = node.types
        self._per_host = slots_per_host(machine)
        count = host_count(machine)
        self.counts: Ids = np.full(count, self._per_host, np.int64)
        self._type: Ids = np.zeros(count, np.int64)
        self._own = np.arange(self._per_host, dtype=np.int64)[None, :]
        if node.types:  # Nodes that differ are hosts.
            self._own = np.full((len(node.types), self._per_host), -1, np.int64)
        for number, kind in enumerate(node.types):
            at = np.array(kind.nodes, np.int64)
            self._type[at] = number
            self.counts[at] = len(kind.slots)
            self._own[number, list(kind.slots)] = np.arange(len(kind.slots))

    def own(self, slots: npt.ArrayLike) -> Ids:
        """Find what hosts call these slots; -1 for those that do not exist."""
        given = np.asarray(slots, np.int64)
        host, place = np.divmod(given, self._per_host)
        return self._own[self._type[host], place]

    def of_machine(self, host: int, own: int) -> int:
        """Find what the machine calls a slot of a host."""
        place = self._types[self._type[host]].slots[own] if self._types else own
        return host * self._per_host + place

    def count_on(self, nodes: npt.ArrayLike) -> int:
        """Count the slots of some nodes."""
        per_node = self._machine.slots_per_node
        first = np.asarray(nodes, np.int64)[:, None] * per_node
        return int(np.count_nonzero(self.own(first + np.arange(per_node)) >= 0))

    def existing(self, allocation: Allocation) -> Allocation:
        """Leave out the slots that do not exist."""
        if not self._types:
            return allocation
        kept = self.own(allocation.slots) >= 0
        if kept.all():
            return allocation
        return Allocation(self._machine, allocation.nodes, allocation.slots[kept])
