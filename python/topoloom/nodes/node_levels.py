# SPDX-License-Identifier: BSD-3-Clause
"""Derives the levels of a node from the resources that its cores share."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from topoloom.nodes.core_shape import (
    CROSSED,
    SHARED,
    Container,
    CoreShape,
    find_core_shape,
    list_bits,
)
from topoloom.nodes.network_interfaces import NicNetwork, classify_interfaces
from topoloom.nodes.node_parts import (
    COSTS,
    NIC,
    SHARED_RESOURCES,
    Device,
    NodeParts,
    compress_port_costs,
)
from topoloom.support.number_ranges import join_numbers
from topoloom.support.units import counted

#: Cost of a hop between nodes. A two-hop route through one switch costs 32.
HOP_WEIGHT = COSTS["hop"]


class NearDevice(NamedTuple):
    """A device, and the bit mask of its nearest CPUs."""

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
        Bit mask of the CPUs (hardware threads) of each core; the cores of each
        container are consecutive.
    containers
        Resources shared by cores, in any order.
    devices
        GPUs and NICs.
    """

    cores: Sequence[int]
    containers: Sequence[Container]
    devices: Sequence[NearDevice] = ()

    def find_shape(self) -> CoreShape:
        """Find the levels, and the place of each core in them."""
        return find_core_shape(self.cores, self.containers)

    def restrict_to(self, cpus: int) -> NodeCores:
        """Remove CPUs that are not in a bit mask, then cores without CPUs."""
        cores = [core & cpus for core in self.cores if core & cpus]
        kept = (Container(kind, mask & cpus) for kind, mask in self.containers)
        devices = [device._replace(cpus=device.cpus & cpus) for device in self.devices]
        return NodeCores(cores, [part for part in kept if part.cpus], devices)

    def classify_nics(self) -> NodeCores:
        """Set the kind of each NIC to ``nic`` or ``ethernet``: used by MPI or not."""
        cards = [device for device in self.devices if device.kind == NIC]
        kinds = iter(classify_interfaces([device.network for device in cards]))
        devices = [
            device._replace(kind=next(kinds)) if device.kind == NIC else device
            for device in self.devices
        ]
        return replace(self, devices=devices)


def format_levels(inside: NodeCores) -> str:
    """Format levels as ``+node:4:2,distance=2:16``.

    If cores differ in distance to the NICs, ``,port=0:8`` follows. The places of the
    levels include the vacant ones of `list_vacant_places`.
    """
    shape = inside.find_shape()
    distances = [level.distance for level in shape.levels]
    port = compress_port_costs(_spread_over_places(_compute_port_costs(inside), shape))
    return (
        f"+node:{join_numbers(shape.sizes)},distance={join_numbers(distances)}"
        f"{',port=' if port else ''}{join_numbers(port)}"
    )


def list_vacant_places(inside: NodeCores) -> tuple[int, ...]:
    """List the places of the levels that have no core; () for even nodes."""
    return inside.find_shape().list_vacant_places()


def describe_omitted_resources(inside: NodeCores) -> list[str]:
    """Describe the shared resources that are in no level, one sentence per kind."""
    return [
        f"{counted(number, f'{name} resource')} of the node left out of its levels: "
        "they overlap others, or would leave most places vacant"
        for name, number in sorted(inside.find_shape().omitted.items())
    ]


def add_hop_weight(levels: str) -> str:
    """Append the cost of a hop between nodes to text from `format_levels`."""
    if not levels:
        return ""
    distances, mark, port = levels.partition(",port=")
    return f"{distances}:{HOP_WEIGHT}{mark}{port}"


def make_node_parts(inside: NodeCores) -> NodeParts:
    """Build the level names, the CPUs of each slot, and the devices."""
    cpus = tuple(tuple(list_bits(core)) for core in inside.cores)
    devices = []
    for device in inside.devices:
        near = _find_nearest_cpus(device, inside)
        slots = tuple(i for i, core in enumerate(inside.cores) if core & near)
        devices.append(Device(device.name, device.kind, slots, device.numa, device.pci))
    shape = inside.find_shape()
    names = tuple(level.name for level in shape.levels)
    shared = tuple(
        (name, size)
        for name, size in _list_shared_resources(inside, shape).items()
        if name not in names
    )
    return NodeParts(names, cpus, tuple(devices), shared=shared)


def format_nodes(nodes: int, levels: str) -> str:
    """Format the text of a machine of equal nodes, connected by one switch."""
    if nodes == 1:
        return f"torus:1{levels}"
    return f"tree:{nodes}{add_hop_weight(levels)}"


def _find_nearest_cpus(device: NearDevice, inside: NodeCores) -> int:
    """Return the bit mask of the node's CPUs nearest to a device."""
    every = sum(inside.cores)
    # A device that is near no core has the same distance from all cores.
    return device.cpus & every or every


def _compute_port_costs(inside: NodeCores) -> list[int]:
    """Compute the cost of the route from each core to its nearest NIC.

    The cost is that of the largest container which has the core but not the NIC. A NIC
    outside all containers has the same distance from all cores.
    """
    boundaries = sorted(
        (COSTS[SHARED[kind]], cpus)
        for kind, cpus in inside.containers
        if kind in CROSSED
    )
    nics = {
        _find_nearest_cpus(device, inside)
        for device in inside.devices
        if device.kind == NIC
    }
    routes = []
    for near in nics:
        if all(near & ~cpus for _, cpus in boundaries):
            continue
        cost_of: dict[int, int] = {}  # by CPU
        for cost, cpus in boundaries:
            if not cpus & near:
                cost_of.update(dict.fromkeys(list_bits(cpus), cost))
        routes.append([cost_of.get(_lowest_bit(core), 0) for core in inside.cores])
    return [min(costs) for costs in zip(*routes, strict=True)]


def _spread_over_places(costs: list[int], shape: CoreShape) -> list[int]:
    """Extend costs by core to all places; a vacant one costs as much as the last."""
    if not costs:
        return []
    of_place = dict(zip(shape.places, costs, strict=True))
    spread = [costs[0]]
    for place in range(1, math.prod(shape.sizes)):
        spread.append(of_place.get(place, spread[-1]))
    return spread


def _list_shared_resources(inside: NodeCores, shape: CoreShape) -> dict[str, int]:
    """List the places per cache, NUMA domain and package that several cores share."""
    even = len(inside.cores) == math.prod(shape.sizes)
    regular = _list_regular_resources(inside) if even else []
    sizes: dict[str, set[int]] = {}
    for name, size in [*regular, *([] if even else _match_levels(inside, shape))]:
        sizes.setdefault(name, set()).add(size)
    return {
        name: size
        for name in SHARED_RESOURCES
        if len(sizes.get(name, ())) == 1 and (size := min(sizes[name])) > 1
    }


def _match_levels(inside: NodeCores, shape: CoreShape) -> list[tuple[str, int]]:
    """List resources whose cores are those of a level: name and places."""
    steps = itertools.accumulate(shape.sizes, operator.mul)
    parts = {
        frozenset(
            sum(1 << _lowest_bit(core) for core in inside.cores[first:end])
            for first, end in itertools.pairwise([*level.starts, len(inside.cores)])
        ): places
        for level, places in zip(shape.levels, steps, strict=True)
    }
    firsts = _list_first_cpus(inside)
    found = []
    for kind, name in SHARED.items():
        masks = {mask & firsts for other, mask in inside.containers if other == kind}
        if places := parts.get(frozenset(masks - {0})):
            found.append((name, places))
    return found


def _list_regular_resources(inside: NodeCores) -> list[tuple[str, int]]:
    """List resources that are equal runs of cores: pairs of name and core count."""
    # Each core is identified by its first CPU.
    core_of = {_lowest_bit(core): index for index, core in enumerate(inside.cores)}
    firsts = _list_first_cpus(inside)
    shared = {(kind, mask & firsts) for kind, mask in inside.containers}
    packages = [mask for kind, mask in shared if kind == "Package" and mask]
    layers = _group_containers(shared, packages, len(core_of))
    return [
        (name, size)
        for kind, name in SHARED.items()
        for masks in (masks for (k, _), masks in layers.items() if k == kind)
        if (size := _find_regular_size(masks, core_of))
    ]


def _list_first_cpus(inside: NodeCores) -> int:
    """Return the bit mask of the first CPU of each core."""
    return sum(1 << _lowest_bit(core) for core in inside.cores)


def _group_containers(
    shared: Iterable[tuple[str, int]], packages: list[int], count: int
) -> dict[tuple[str, int], list[int]]:
    """Group containers by kind and size, because containers of one kind can be nested.

    Drop containers that span packages, and dies or groups that equal a package.
    """
    whole = set(packages)
    package_of: dict[int, int] = {}
    if sum(mask.bit_count() for mask in packages) <= count:
        package_of = {cpu: mask for mask in packages for cpu in list_bits(mask)}
    layers: dict[tuple[str, int], list[int]] = {}
    for kind, mask in shared:
        if kind in ("Die", "Group") and mask in whole:
            continue
        if mask and not mask & ~package_of.get(_lowest_bit(mask), mask):
            layers.setdefault((kind, mask.bit_count()), []).append(mask)
    return layers


def _find_regular_size(masks: list[int], core_of: dict[int, int]) -> int:
    """Return the cores per mask if masks are equal runs of cores, else 0."""
    sizes = {mask.bit_count() for mask in masks}
    if len(sizes) != 1 or (size := sizes.pop()) * len(masks) != len(core_of):
        return 0
    runs = sorted(sorted(core_of[cpu] for cpu in list_bits(mask)) for mask in masks)
    in_order = list(itertools.chain.from_iterable(runs)) == list(range(len(core_of)))
    return size if in_order else 0


def _lowest_bit(mask: int) -> int:
    return (mask & -mask).bit_length() - 1
