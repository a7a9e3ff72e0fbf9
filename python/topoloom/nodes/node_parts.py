# SPDX-License-Identifier: BSD-3-Clause
"""What is inside a node beyond the numbers of its levels: their names, CPUs, devices.

The short text of a machine has no words for these; TOML descriptions and placements
carry them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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
PACKAGES = ("package", "socket")
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
    """

    names: tuple[str, ...] = ()
    cpus: tuple[tuple[int, ...], ...] = ()
    devices: tuple[Device, ...] = ()
    memory_size: int = 0


#: of a machine whose nodes nothing more is known of
NO_PARTS = NodeParts()


def shortest_port(costs: Sequence[int]) -> list[int]:
    """Say port costs of equal runs of slots by as few runs as can be; none for all 0.

    >>> shortest_port([0, 0, 8, 8])
    [0, 8]
    """
    for runs in range(1, len(costs) + 1):
        run, rest = divmod(len(costs), runs)
        short = list(costs[:: run or 1])
        if not rest and [cost for cost in short for _ in range(run)] == list(costs):
            return short if any(short) else []
    return []
