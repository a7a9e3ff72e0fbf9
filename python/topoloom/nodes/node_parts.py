# SPDX-License-Identifier: BSD-3-Clause
"""Names of levels, CPUs and devices of a node.

The short text of a machine cannot express these; TOML descriptions and placements do.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

#: The distance of two slots by the smallest resource that they share; "hop" is the cost
#: of a hop between nodes. Costs double from level to level: a route of two hops,
#: through one switch, costs twice as much as the longest route in a node.
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
#: Names of levels that are sockets.
_PACKAGES = ("package", "socket")
#: Device kinds: a NIC that MPI uses, and a slower NIC that MPI does not use.
NIC, ETHERNET = "nic", "ethernet"
DEVICE_KINDS = ("gpu", NIC, ETHERNET)
#: Resources by which launchers distribute ranks.
SHARED_RESOURCES = ("L2", "L3", "numa", "package")
#: Limits, larger than on any real node, on memory and time for malformed files.
MAX_CPUS = 16_384
MAX_DEVICES = 1024


@dataclass(frozen=True)
class Device:
    """A GPU or a NIC of a node.

    Attributes
    ----------
    name
        The device name in programs: ``cuda0``, ``mlx5_0``.
    kind
        One of `DEVICE_KINDS`.
    slots
        The nearest slots of the node, ascending.
    numa
        NUMA domain, numbered as by the operating system; None if unknown.
    pci
        PCI address; empty if unknown.
    """

    name: str
    kind: str
    slots: tuple[int, ...]
    numa: int | None = None
    pci: str = ""


@dataclass(frozen=True)
class NodeParts:
    """Known internal structure of nodes; attributes are empty if unknown.

    Attributes
    ----------
    names
        Resource shared by the slots of each level, bottom-up: ``("L3", "package",
        "node")``.
    cpus
        ``cpus[slot]`` are the CPUs (hardware threads) of a slot, numbered as by the
        operating system.
    devices
        GPUs and NICs.
    memory_size
        Bytes of memory of a node; 0 if unknown.
    types
        Node types, if nodes differ or have vacant places; all other attributes are
        empty in this case.
    shared
        Places per resource, for resources that are no level of their own because a
        smaller or closer one has the same slots: ``(("numa", 24), ("package", 24))``.
    """

    names: tuple[str, ...] = ()
    cpus: tuple[tuple[int, ...], ...] = ()
    devices: tuple[Device, ...] = ()
    memory_size: int = 0
    types: tuple[NodeType, ...] = ()
    shared: tuple[tuple[str, int], ...] = ()

    def of_nodes(self, nodes: Sequence[int]) -> list[NodeParts]:
        """Return the structure of each of these nodes."""
        if not self.types:
            return [self] * len(nodes)
        return [self.types[i].parts for i in self.type_indices(nodes)]

    def type_indices(self, nodes: Sequence[int]) -> list[int]:
        """Return the index in `types` of each of these nodes' type."""
        type_of = {node: i for i, kind in enumerate(self.types) for node in kind.nodes}
        return [type_of[node] for node in nodes]


class Levels(NamedTuple):
    """Levels of a node, bottom-up; their distances; costs of routes to its NIC.

    The levels have places for slots. Places without a slot, such as those of reserved
    cores, are vacant.
    """

    sizes: tuple[int, ...]
    distance: tuple[int, ...]  # ascending
    port: tuple[int, ...] = ()  # cost for each of several equally long runs of places
    vacant: tuple[int, ...] = ()  # places without a slot, ascending

    def list_places(self) -> list[int]:
        """List the place of each slot."""
        vacant = set(self.vacant)
        return [i for i in range(math.prod(self.sizes)) if i not in vacant]

    def port_costs(self) -> list[int]:
        """Return the cost of the route from each place to the NIC."""
        places = math.prod(self.sizes)
        if not self.port:
            return [0] * places
        run = places // len(self.port)
        return [cost for cost in self.port for _ in range(run)]


@dataclass(frozen=True)
class NodeType:
    """A group of identical nodes in a machine whose nodes differ or lack slots.

    Attributes
    ----------
    nodes
        Ids of these nodes, ascending.
    levels
        Levels of these nodes, which differ from the levels of the machine.
    slots
        ``slots[i]`` is the slot in the machine's node shape that stands for local slot
        i.
    parts
        CPUs and devices of these nodes, by local slot.
    """

    nodes: tuple[int, ...]
    levels: Levels
    slots: tuple[int, ...]
    parts: NodeParts

    @property
    def package_count(self) -> int:
        """Number of equal packages per node; 1 if they differ in slots."""
        return 1 if self.has_uneven_packages else len(self._count_slots_of_packages())

    @property
    def has_uneven_packages(self) -> bool:
        """Whether the packages of a node differ in slots."""
        return len(set(self._count_slots_of_packages())) > 1

    def _count_slots_of_packages(self) -> list[int]:
        count = package_count(self.levels.sizes, self.parts.names)
        size = math.prod(self.levels.sizes) // count
        slots = Counter(place // size for place in self.levels.list_places())
        return [slots[package] for package in range(count)]


#: Nodes of unknown structure.
NO_PARTS = NodeParts()


def list_resource_sizes(arities: Sequence[int], parts: NodeParts) -> dict[str, int]:
    """List the slots per resource: those of the levels, and those they coincide with.

    >>> list_resource_sizes([8, 2], NodeParts(("L3", "node"), shared=(("package", 8),)))
    {'L3': 8, 'node': 16, 'package': 8}
    """
    sizes = dict(
        zip(parts.names, itertools.accumulate(arities, operator.mul), strict=False)
    )
    for name in _PACKAGES:
        if name in sizes:
            sizes["package"] = sizes[name]
    return {**sizes, **dict(parts.shared)}


def package_count(sizes: Sequence[int], names: Sequence[str]) -> int:
    """Count the packages of a node by its level names; 1 without a package level.

    >>> package_count([8, 4, 2], ["L3", "package", "node"])
    2
    """
    named = [level for level, name in enumerate(names) if name in _PACKAGES]
    return math.prod(sizes[named[-1] + 1 :]) if named else 1


def compress_port_costs(costs: Sequence[int]) -> list[int]:
    """Compress port costs to one per run of equal length and cost; [] if all are 0.

    >>> compress_port_costs([0, 0, 8, 8])
    [0, 8]
    """
    for runs in range(1, len(costs) + 1):
        run, rest = divmod(len(costs), runs)
        short = list(costs[:: run or 1])
        if not rest and [cost for cost in short for _ in range(run)] == list(costs):
            return short if any(short) else []
    return []
