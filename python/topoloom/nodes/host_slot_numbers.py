# SPDX-License-Identifier: BSD-3-Clause
"""Converts between global slot numbers and slot numbers of a host.

If nodes differ, the machine numbers more slots per node than most nodes have.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from topoloom._core import Allocation, Machine
from topoloom.nodes.hosts import Ids, host_count, slots_per_host
from topoloom.nodes.node_parts import NodeParts


class HostSlotNumbers:
    """Local slot numbers of each host, and conversion to global slot numbers.

    Attributes
    ----------
    counts
        The number of slots of each host.
    """

    def __init__(self, machine: Machine, node: NodeParts) -> None:
        self._machine = machine
        self._types = node.types
        self._per_host = slots_per_host(machine)
        count = host_count(machine)
        self.counts: Ids = np.full(count, self._per_host, np.int64)
        self._type: Ids = np.zeros(count, np.int64)
        self._local = np.arange(self._per_host, dtype=np.int64)[None, :]
        if node.types:  # Node types exist only on machines where each node is a host.
            self._local = np.full((len(node.types), self._per_host), -1, np.int64)
        for number, kind in enumerate(node.types):
            at = np.array(kind.nodes, np.int64)
            self._type[at] = number
            self.counts[at] = len(kind.slots)
            self._local[number, list(kind.slots)] = np.arange(len(kind.slots))

    def to_local_slots(self, slots: npt.ArrayLike) -> Ids:
        """Convert global slots to local slots of hosts; -1 for nonexistent slots."""
        given = np.asarray(slots, np.int64)
        host, index = np.divmod(given, self._per_host)
        return self._local[self._type[host], index]

    def global_slot(self, host: int, local: int) -> int:
        """Convert a local slot of a host to a global slot."""
        index = self._types[self._type[host]].slots[local] if self._types else local
        return host * self._per_host + index

    def count(self, nodes: npt.ArrayLike) -> int:
        """Count the existing slots of some nodes."""
        per_node = self._machine.slots_per_node
        first = np.asarray(nodes, np.int64)[:, None] * per_node
        return int(
            np.count_nonzero(self.to_local_slots(first + np.arange(per_node)) >= 0)
        )

    def drop_missing(self, allocation: Allocation) -> Allocation:
        """Remove slots that do not exist from an allocation."""
        if not self._types:
            return allocation
        is_existing = self.to_local_slots(allocation.slots) >= 0
        if is_existing.all():
            return allocation
        return Allocation(
            self._machine, allocation.nodes, allocation.slots[is_existing]
        )
