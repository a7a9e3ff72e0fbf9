# SPDX-License-Identifier: BSD-3-Clause
"""From what the cores of a node share to the levels of a machine's short text."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from topoloom.nodes.network_interfaces import NicNetwork, interface_kinds
from topoloom.nodes.node_parts import (
    COSTS,
    NIC,
    NO_PARTS,
    Device,
    NodeParts,
    compress_port_costs,
)

#: What cores may share, and what a level of cores that share it is called in
#: `node_parts.COSTS`. Of what has equal costs, the first gives its name.
SHARED = {
    "L2Cache": "L2",
    "L3Cache": "L3",
    "NUMANode": "numa",
    "Die": "die",
    "Group": "group",
    "Package": "package",
}
#: Of these, what a core does not share with a network interface makes the route longer.
_CROSSED = ("NUMANode", "Die", "Group", "Package")
_NODE = "node"
#: What a hop between nodes weighs: a route of two hops, over one switch, costs 32.
HOP_WEIGHT = COSTS["hop"]


class Container(NamedTuple):
    """What cores share: a key of `SHARED`, and the set of its CPUs as a bit mask."""

    kind: str
    cpus: int


class NearDevice(NamedTuple):
    """A device, and the CPUs that it is nearest to as a bit mask."""

    name: str
    kind: str
    cpus: int
    numa: int | None = None
    pci: str = ""
    network: NicNetwork = NicNetwork.ETHERNET


@dataclass(frozen=True)
class NodeCores:
    """The inside of a node.

    Attributes
    ----------
    cores
        The CPUs (hardware threads) of each core as a bit mask; what shares a container
        stands side by side.
    containers
        What the cores share, in any order.
    devices
        GPUs and network interfaces.
    """

    cores: Sequence[int]
    containers: Sequence[Container]
    devices: Sequence[NearDevice] = ()

    def restrict_to(self, cpus: int) -> NodeCores:
        """Keep the cores that have one of these CPUs."""
        cores = [core & cpus for core in self.cores if core & cpus]
        kept = (Container(kind, mask & cpus) for kind, mask in self.containers)
        devices = [device._replace(cpus=device.cpus & cpus) for device in self.devices]
        return NodeCores(cores, [part for part in kept if part.cpus], devices)

    def classify_nics(self) -> NodeCores:
        """Tell the network interfaces that MPI uses from those that it leaves alone."""
        cards = [device for device in self.devices if device.kind == NIC]
        kinds = iter(interface_kinds([device.network for device in cards]))
        told = [
            device._replace(kind=next(kinds)) if device.kind == NIC else device
            for device in self.devices
        ]
        return replace(self, devices=told)


def format_levels(inside: NodeCores) -> str:
    """Write the levels, as ``+node:4:2,distance=2:16``; nothing for a single core.

    Containers that not all cores have, or that do not hold equally many, make no level:
    an irregular node gets the coarser levels that are true of all of it. With network
    interfaces that are not near to all cores, ``,port=0:8`` follows.
    """
    levels = _levels(inside)
    if not levels:
        return ""
    sizes = [1, *(size for size, _ in levels)]
    arities = [size // inner for inner, size in itertools.pairwise(sizes)]
    distances = [COSTS[name] for _, name in levels]
    port = compress_port_costs(_port_costs(inside))
    return (
        f"+node:{_joined(arities)},distance={_joined(distances)}"
        f"{',port=' if port else ''}{_joined(port)}"
    )


def add_hop_weight(levels: str) -> str:
    """Add what a hop between nodes weighs to `format_levels`, if it is not empty."""
    if not levels:
        return ""
    distances, mark, port = levels.partition(",port=")
    return f"{distances}:{HOP_WEIGHT}{mark}{port}"


def make_node_parts(inside: NodeCores) -> NodeParts:
    """Name the levels of `format_levels`, the CPUs of each slot, and the devices."""
    levels = _levels(inside)
    if not levels:
        return NO_PARTS
    cpus = tuple(tuple(_bits(core)) for core in inside.cores)
    devices = []
    for device in inside.devices:
        near = _near(device, inside)
        slots = tuple(i for i, core in enumerate(inside.cores) if core & near)
        devices.append(Device(device.name, device.kind, slots, device.numa, device.pci))
    return NodeParts(tuple(name for _, name in levels), cpus, tuple(devices))


def format_nodes(nodes: int, levels: str) -> str:
    """Write equal nodes as a machine; several of them are on one switch."""
    if nodes == 1:
        return f"torus:1{levels}"
    return f"tree:{nodes}{add_hop_weight(levels)}"


def _near(device: NearDevice, inside: NodeCores) -> int:
    """Choose the CPUs that a device is nearest to, of those that count."""
    every = sum(inside.cores)
    # What is near to no core that counts is equally far from all that do.
    return device.cpus & every or every


def _port_costs(inside: NodeCores) -> list[int]:
    """Find what the route of each core to the nearest network interface costs.

    That is the cost of the largest container of the core which the interface is not in.
    An interface that is in no container may be anywhere.
    """
    crossed = sorted(
        (COSTS[SHARED[kind]], cpus)
        for kind, cpus in inside.containers
        if kind in _CROSSED
    )
    nics = {_near(device, inside) for device in inside.devices if device.kind == NIC}
    ways = []
    for near in nics:
        if all(near & ~cpus for _, cpus in crossed):
            continue
        cost_of: dict[int, int] = {}  # by CPU
        for cost, cpus in crossed:
            if not cpus & near:
                cost_of.update(dict.fromkeys(_bits(cpus), cost))
        ways.append([cost_of.get(_lowest(core), 0) for core in inside.cores])
    return [min(costs) for costs in zip(*ways, strict=True)]


def _levels(inside: NodeCores) -> list[tuple[int, str]]:
    """Choose the levels, bottom-up: cores in one of them, and what these share."""
    # A core is known by its first CPU.
    core_of = {_lowest(core): index for index, core in enumerate(inside.cores)}
    count = len(core_of)
    firsts = sum(1 << cpu for cpu in core_of)
    shared = {(kind, mask & firsts) for kind, mask in inside.containers}
    packages = [mask for kind, mask in shared if kind == "Package" and mask]
    shares = {count: _NODE if len(packages) > 1 else SHARED["Package"]}
    layers = _layers(shared, packages, count)
    for kind, name in SHARED.items():
        for masks in (masks for (k, _), masks in layers.items() if k == kind):
            size = _regular_size(masks, core_of)
            if size and COSTS[name] < COSTS[shares.get(size, _NODE)]:
                shares[size] = name
    return _chain(shares)


def _layers(
    shared: Iterable[tuple[str, int]], packages: list[int], count: int
) -> dict[tuple[str, int], list[int]]:
    """Sort containers by kind and size, for groups of one kind may be nested.

    What reaches over several packages says nothing of how near its cores are, and a
    die or group that is a whole package no more than that.
    """
    whole = set(packages)
    package_of: dict[int, int] = {}
    if sum(mask.bit_count() for mask in packages) <= count:
        package_of = {cpu: mask for mask in packages for cpu in _bits(mask)}
    layers: dict[tuple[str, int], list[int]] = {}
    for kind, mask in shared:
        if kind in ("Die", "Group") and mask in whole:
            continue
        if mask and not mask & ~package_of.get(_lowest(mask), mask):
            layers.setdefault((kind, mask.bit_count()), []).append(mask)
    return layers


def _regular_size(masks: list[int], core_of: dict[int, int]) -> int:
    """Count the cores in each mask if they cut the cores into equal runs, else 0."""
    sizes = {mask.bit_count() for mask in masks}
    if len(sizes) != 1 or (size := sizes.pop()) * len(masks) != len(core_of):
        return 0
    runs = sorted(sorted(core_of[cpu] for cpu in _bits(mask)) for mask in masks)
    in_order = list(itertools.chain.from_iterable(runs)) == list(range(len(core_of)))
    return size if in_order else 0


def _chain(shares: dict[int, str]) -> list[tuple[int, str]]:
    """Choose levels, bottom-up: the size of each divides the next, and is nearer."""
    levels: list[tuple[int, str]] = []
    for size in sorted(shares, reverse=True):
        name = shares[size]
        if size > 1 and (
            not levels
            or (levels[0][0] % size == 0 and COSTS[name] < COSTS[levels[0][1]])
        ):
            levels.insert(0, (size, name))
    return levels


def _bits(mask: int) -> Iterator[int]:
    while mask:
        yield _lowest(mask)
        mask &= mask - 1


def _lowest(mask: int) -> int:
    return (mask & -mask).bit_length() - 1


def _joined(numbers: Iterable[int]) -> str:
    return ":".join(map(str, numbers))
