# SPDX-License-Identifier: BSD-3-Clause
"""What is inside a node beyond the numbers of its levels: their names, CPUs, devices.

The short text of a machine has no words for these; TOML descriptions and placements
carry them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

#: The distance of two slots by the nearest thing that they share; "hop" is what a hop
#: between nodes weighs. Ranks of nearness, each twice the one before: a route of two
#: hops, over one switch, is twice as long as any inside a node.
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
#: What levels of sockets are called.
_PACKAGES = ("package", "socket")
#: A network interface that MPI uses, and one that it leaves to others, which have a
#: better one beside them.
NIC, ETHERNET = "nic", "ethernet"
DEVICE_KINDS = ("gpu", NIC, ETHERNET)
#: More than any node has; bounds what a file can make us keep and compute.
MAX_CPUS = 16_384
MAX_DEVICES = 1024


@dataclass(frozen=True)
class Device:
    """A GPU or a network interface of a node.

    Attributes
    ----------
    name
        As programs know it: ``cuda0``, ``mlx5_0``.
    kind
        One of `DEVICE_KINDS`.
    slots
        The slots of the node that it is nearest to, ascending.
    numa
        Its NUMA domain, as the system numbers them; None if unknown.
    pci
        Its address on the PCI bus; empty if unknown.
    """

    name: str
    kind: str
    slots: tuple[int, ...]
    numa: int | None = None
    pci: str = ""


@dataclass(frozen=True)
class NodeParts:
    """What is known of the inside of each node; empty where nothing is.

    Attributes
    ----------
    names
        What the slots of each level share, bottom-up: ``("L3", "package", "node")``.
    cpus
        ``cpus[slot]`` are the CPUs (hardware threads) of a slot, as the system numbers
        them.
    devices
        GPUs and network interfaces.
    memory_size
        Bytes of memory; 0 where unknown.
    types
        Where nodes differ, the types of them; the rest is empty then.
    """

    names: tuple[str, ...] = ()
    cpus: tuple[tuple[int, ...], ...] = ()
    devices: tuple[Device, ...] = ()
    memory_size: int = 0
    types: tuple[NodeType, ...] = ()

    def of_nodes(self, nodes: Sequence[int]) -> list[NodeParts]:
        """Tell what is known of each of these nodes."""
        if not self.types:
            return [self] * len(nodes)
        parts = {node: kind.parts for kind in self.types for node in kind.nodes}
        return [parts[node] for node in nodes]


class Levels(NamedTuple):
    """The levels of a node, bottom-up, their distances, and the costs of its port."""

    sizes: tuple[int, ...]
    distance: tuple[int, ...]  # ascending
    port: tuple[int, ...] = ()  # of equal runs of slots

    @property
    def slot_count(self) -> int:
        """Slots of the node."""
        return math.prod(self.sizes)

    def port_costs(self) -> list[int]:
        """Write the costs out, slot by slot."""
        if not self.port:
            return [0] * self.slot_count
        run = self.slot_count // len(self.port)
        return [cost for cost in self.port for _ in range(run)]


@dataclass(frozen=True)
class NodeType:
    """Nodes of a machine that are alike inside, where others differ.

    Attributes
    ----------
    nodes
        Which nodes, ascending.
    levels
        Theirs, whatever the levels of the machine are.
    slots
        ``slots[i]`` is the machine's slot, counted on the node, of their own slot i:
        the machine's nodes are all of one shape, of which these have a part.
    parts
        What is known of them, by their own slots.
    """

    nodes: tuple[int, ...]
    levels: Levels
    slots: tuple[int, ...]
    parts: NodeParts

    @property
    def package_count(self) -> int:
        """Count the packages of each of these nodes."""
        return package_count(self.levels.sizes, self.parts.names)


#: of a machine whose nodes nothing more is known of
NO_PARTS = NodeParts()


def package_count(sizes: Sequence[int], names: Sequence[str]) -> int:
    """Count the packages of a node, where one of its levels is called so; else 1.

    >>> package_count([8, 4, 2], ["L3", "package", "node"])
    2
    """
    named = [level for level, name in enumerate(names) if name in _PACKAGES]
    return math.prod(sizes[named[-1] + 1 :]) if named else 1


def compress_port_costs(costs: Sequence[int]) -> list[int]:
    """Say port costs of equal runs of slots by as few runs as can be; none for all 0.

    >>> compress_port_costs([0, 0, 8, 8])
    [0, 8]
    """
    for runs in range(1, len(costs) + 1):
        run, rest = divmod(len(costs), runs)
        short = list(costs[:: run or 1])
        if not rest and [cost for cost in short for _ in range(run)] == list(costs):
            return short if any(short) else []
    return []
