# SPDX-License-Identifier: BSD-3-Clause
"""Names of levels, CPUs and devices of a node.

The short text of a machine cannot express these; TOML descriptions and placements do.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

#: The distance of two slots by the smallest resource that they share; "hop" is the
#: weight of a hop between nodes. Each is twice the one before: a route of two hops,
#: over one switch, is twice as long as any inside a node.
COSTS = {
    "L2": 1,
    "L3": 2,
    "numa": 4,
    "die": 4,
    "group": 4,
    "package": 8,
    "node": 16,
    "hop": 16,
}
#: Names of levels of sockets.
_PACKAGES = ("package", "socket")
#: A NIC that MPI uses, and a slower one that it does not use.
NIC, ETHERNET = "nic", "ethernet"
DEVICE_KINDS = ("gpu", NIC, ETHERNET)
#: More than any node has; bounds the memory and time that a file can cost.
MAX_CPUS = 16_384
MAX_DEVICES = 1024


@dataclass(frozen=True)
class Device:
    """A GPU or a NIC of a node.

    Attributes
    ----------
    name
        The name that programs use: ``cuda0``, ``mlx5_0``.
    kind
        One of `DEVICE_KINDS`.
    slots
        The nearest slots of the node, ascending.
    numa
        Its NUMA domain by the system's number; None if unknown.
    pci
        Its PCI address; empty if unknown.
    """

    name: str
    kind: str
    slots: tuple[int, ...]
    numa: int | None = None
    pci: str = ""


@dataclass(frozen=True)
class NodeParts:
    """Known structure of the inside of nodes; empty if unknown.

    Attributes
    ----------
    names
        Resource shared by the slots of each level, bottom-up: ``("L3", "package",
        "node")``.
    cpus
        ``cpus[slot]`` are the CPUs (hardware threads) of a slot by the system's
        numbers.
    devices
        GPUs and NICs.
    memory_size
        Bytes of memory; 0 if unknown.
    types
        The types of nodes, if nodes differ; the other attributes are empty then.
    """

    names: tuple[str, ...] = ()
    cpus: tuple[tuple[int, ...], ...] = ()
    devices: tuple[Device, ...] = ()
    memory_size: int = 0
    types: tuple[NodeType, ...] = ()

    def of_nodes(self, nodes: Sequence[int]) -> list[NodeParts]:
        """Return the parts of each of these nodes."""
        if not self.types:
            return [self] * len(nodes)
        parts = {node: kind.parts for kind in self.types for node in kind.nodes}
        return [parts[node] for node in nodes]


class Levels(NamedTuple):
    """The levels of a node, bottom-up, their distances, and its port costs."""

    sizes: tuple[int, ...]
    distance: tuple[int, ...]  # ascending
    port: tuple[int, ...] = ()  # of equal runs of slots

    @property
    def slot_count(self) -> int:
        """Number of slots of the node."""
        return math.prod(self.sizes)

    def port_costs(self) -> list[int]:
        """Return the port cost of each slot."""
        if not self.port:
            return [0] * self.slot_count
        run = self.slot_count // len(self.port)
        return [cost for cost in self.port for _ in range(run)]


@dataclass(frozen=True)
class NodeType:
    """Nodes that are alike, in a machine whose nodes differ.

    Attributes
    ----------
    nodes
        Their numbers, ascending.
    levels
        Their own levels, which differ from those of the machine.
    slots
        ``slots[i]`` is the slot of the machine's node shape for local slot i.
    parts
        Their CPUs and devices by local slots.
    """

    nodes: tuple[int, ...]
    levels: Levels
    slots: tuple[int, ...]
    parts: NodeParts

    @property
    def package_count(self) -> int:
        """Number of packages of each of these nodes."""
        return package_count(self.levels.sizes, self.parts.names)


#: The parts of nodes about which nothing is known.
NO_PARTS = NodeParts()


def package_count(sizes: Sequence[int], names: Sequence[str]) -> int:
    """Count the packages of a node by the names of its levels; else 1.

    >>> package_count([8, 4, 2], ["L3", "package", "node"])
    2
    """
    named = [level for level, name in enumerate(names) if name in _PACKAGES]
    return math.prod(sizes[named[-1] + 1 :]) if named else 1


def compress_port_costs(costs: Sequence[int]) -> list[int]:
    """Reduce the port costs of slots to those of equal runs; [] if all are 0.

    >>> compress_port_costs([0, 0, 8, 8])
    [0, 8]
    """
    for runs in range(1, len(costs) + 1):
        run, rest = divmod(len(costs), runs)
        short = list(costs[:: run or 1])
        if not rest and [cost for cost in short for _ in range(run)] == list(costs):
            return short if any(short) else []
    return []
