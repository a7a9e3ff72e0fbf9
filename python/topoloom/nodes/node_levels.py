# SPDX-License-Identifier: BSD-3-Clause
"""Derives the levels of a node from the resources that its cores share."""

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
from topoloom.support.number_ranges import join_numbers

#: hwloc's types of shared resources, and the names of their levels in
#: `node_parts.COSTS`. Of levels with equal costs, the first gives the name.
SHARED = {
    "L2Cache": "L2",
    "L3Cache": "L3",
    "NUMANode": "numa",
    "Die": "die",
    "Group": "group",
    "Package": "package",
}
#: A route to a NIC outside of one of these costs more.
_CROSSED = ("NUMANode", "Die", "Group", "Package")
_NODE = "node"
#: Weight of a hop between nodes. A two-hop route through one switch costs 32.
HOP_WEIGHT = COSTS["hop"]


class Container(NamedTuple):
    """A shared resource: a key of `SHARED`, and its CPUs as a bit mask."""

    kind: str
    cpus: int


class NearDevice(NamedTuple):
    """A device, and the nearest CPUs as a bit mask."""

    name: str
    kind: str
    cpus: int
    numa: int | None = None
    pci: str = ""
    network: NicNetwork = NicNetwork.ETHERNET


@dataclass(frozen=True)
class NodeCores:
    """The cores and devices of a node.

    Attributes
    ----------
    cores
        The CPUs (hardware threads) of each core as a bit mask; cores of a container are
        consecutive.
    containers
        Shared resources, in any order.
    devices
        GPUs and NICs.
    """

    cores: Sequence[int]
    containers: Sequence[Container]
    devices: Sequence[NearDevice] = ()

    def restrict_to(self, cpus: int) -> NodeCores:
        """Keep the cores with one of these CPUs."""
        cores = [core & cpus for core in self.cores if core & cpus]
        kept = (Container(kind, mask & cpus) for kind, mask in self.containers)
        devices = [device._replace(cpus=device.cpus & cpus) for device in self.devices]
        return NodeCores(cores, [part for part in kept if part.cpus], devices)

    def classify_nics(self) -> NodeCores:
        """Mark the NICs that MPI uses, and those that it does not."""
        cards = [device for device in self.devices if device.kind == NIC]
        kinds = iter(interface_kinds([device.network for device in cards]))
        devices = [
            device._replace(kind=next(kinds)) if device.kind == NIC else device
            for device in self.devices
        ]
        return replace(self, devices=devices)


def format_levels(inside: NodeCores) -> str:
    """Write the levels, ``+node:4:2,distance=2:16``; "" for a single core.

    Only containers that divide all cores equally make a level, so an irregular node has
    fewer levels. If a NIC is not near to all cores, ``,port=0:8`` follows.
    """
    levels = _levels(inside)
    if not levels:
        return ""
    sizes = [1, *(size for size, _ in levels)]
    arities = [size // inner for inner, size in itertools.pairwise(sizes)]
    distances = [COSTS[name] for _, name in levels]
    port = compress_port_costs(_port_costs(inside))
    return (
        f"+node:{join_numbers(arities)},distance={join_numbers(distances)}"
        f"{',port=' if port else ''}{join_numbers(port)}"
    )


def add_hop_weight(levels: str) -> str:
    """Add the weight of a hop between nodes to `format_levels`, unless empty."""
    if not levels:
        return ""
    distances, mark, port = levels.partition(",port=")
    return f"{distances}:{HOP_WEIGHT}{mark}{port}"


def make_node_parts(inside: NodeCores) -> NodeParts:
    """Return the names of levels, the CPUs of each slot, and the devices."""
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
    """Write a machine of equal nodes, on one switch if there are several."""
    if nodes == 1:
        return f"torus:1{levels}"
    return f"tree:{nodes}{add_hop_weight(levels)}"


def _near(device: NearDevice, inside: NodeCores) -> int:
    """Return the CPUs of the node that a device is nearest to."""
    every = sum(inside.cores)
    # A device near to no core of the node is equally far from all.
    return device.cpus & every or every


def _port_costs(inside: NodeCores) -> list[int]:
    """Return the cost of the route from each core to the nearest NIC.

    It is the cost of the core's largest container without the NIC. A NIC in no
    container is equally far from all cores.
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
    """Choose the levels, bottom-up: number of cores, and name."""
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
    return _nest_levels(shares)


def _layers(
    shared: Iterable[tuple[str, int]], packages: list[int], count: int
) -> dict[tuple[str, int], list[int]]:
    """Sort containers by kind and size, since groups of one kind may be nested.

    Drop those that span packages, and dies or groups that are a whole package.
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
    """Return the number of cores per mask if masks are equal runs of cores, else 0."""
    sizes = {mask.bit_count() for mask in masks}
    if len(sizes) != 1 or (size := sizes.pop()) * len(masks) != len(core_of):
        return 0
    runs = sorted(sorted(core_of[cpu] for cpu in _bits(mask)) for mask in masks)
    in_order = list(itertools.chain.from_iterable(runs)) == list(range(len(core_of)))
    return size if in_order else 0


def _nest_levels(shares: dict[int, str]) -> list[tuple[int, str]]:
    """Choose levels, bottom-up, whose sizes divide each other and whose costs rise."""
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
