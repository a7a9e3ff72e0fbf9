# SPDX-License-Identifier: BSD-3-Clause
"""The slots on which a launch line places ranks."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from topoloom._core import Allocation, Machine
from topoloom.launch.orders.launch_options import LaunchOrderRules
from topoloom.launch.orders.node_cores import (
    PACKAGE,
    LaunchError,
    NodeCores,
    RankCores,
)
from topoloom.nodes.host_slot_numbers import HostSlotNumbers
from topoloom.nodes.hosts import list_hosts_of_nodes, slots_per_host
from topoloom.nodes.node_parts import NodeParts, list_resource_sizes


def place_with_launch_line(
    rules: LaunchOrderRules, allocation: Allocation, ranks: int, node: NodeParts
) -> npt.NDArray[np.uint32]:
    """Return the slot of each rank.

    Raises `topoloom.Error` if the ranks do not fit, if the launch line starts another
    number of ranks, or if it needs resources that `node` does not describe.
    """
    if rules.ranks not in (None, ranks):
        raise LaunchError(f"starts {rules.ranks:,} ranks, but the job has {ranks:,}")
    machine = allocation.machine
    hosts = list_hosts_of_nodes(machine, allocation.nodes).tolist()
    places = _list_places_of_hosts(hosts, node)
    placed = rules.place(_list_node_cores(allocation, hosts, node, places), ranks)
    placed = [_number_cores_by_slot(rank, places[rank.node]) for rank in placed]
    check_cores(placed)
    numbers = HostSlotNumbers(machine, node)
    return np.array(
        [numbers.global_slot(hosts[rank.node], rank.cores[0]) for rank in placed],
        np.uint32,
    )


def _list_places_of_hosts(
    hosts: list[int], node: NodeParts
) -> list[npt.NDArray[np.int64] | None]:
    """Return the place of each slot of each host; None without vacant places."""
    of_type = [
        np.array(kind.levels.list_places()) if kind.levels.vacant else None
        for kind in node.types
    ]
    if not node.types:
        return [None] * len(hosts)
    return [of_type[i] for i in node.type_indices(hosts)]


def _number_cores_by_slot(
    rank: RankCores, places: npt.NDArray[np.int64] | None
) -> RankCores:
    if places is None:
        return rank
    slots = np.searchsorted(places, rank.cores).tolist()
    return RankCores(rank.node, tuple(slots))


def _list_node_cores(
    allocation: Allocation,
    hosts: list[int],
    node: NodeParts,
    places: list[npt.NDArray[np.int64] | None],
) -> list[NodeCores]:
    """Return the usable cores of each host, and the resources that they share.

    Cores have the numbers of their places, which determine what they share.
    """
    machine = allocation.machine
    slots = np.sort(allocation.slots.astype(np.int64))
    owner = slots // slots_per_host(machine)
    local = HostSlotNumbers(machine, node).to_local_slots(slots)
    sizes = _list_sizes_of_hosts(machine, hosts, node)
    first = np.searchsorted(owner, hosts, "left").tolist()
    end = np.searchsorted(owner, hosts, "right").tolist()
    cores = [local[first[i] : end[i]] for i in range(len(hosts))]
    numbers = [
        own if of_host is None else of_host[own]
        for own, of_host in zip(cores, places, strict=True)
    ]
    cpus = [
        tuple(parts.cpus[slot] for slot in own.tolist()) if parts.cpus else ()
        for own, parts in zip(cores, node.of_nodes(hosts), strict=True)
    ]
    return [
        NodeCores(tuple(own.tolist()), of_host, cpus_of_host)
        for own, of_host, cpus_of_host in zip(numbers, sizes, cpus, strict=True)
    ]


def _list_sizes_of_hosts(
    machine: Machine, hosts: list[int], node: NodeParts
) -> list[dict[str, int]]:
    if not node.types:
        return [list_resource_sizes(machine.levels, node)] * len(hosts)
    of_type = [
        list_resource_sizes(kind.levels.sizes, kind.parts) for kind in node.types
    ]
    return [of_type[i] for i in node.type_indices(hosts)]


def has_packages(machine: Machine, node: NodeParts) -> bool:
    """Return whether any host is known to have several packages."""
    shapes = [(tuple(machine.levels), node)]
    if node.types:
        shapes = [(kind.levels.sizes, kind.parts) for kind in node.types]
    return any(
        list_resource_sizes(levels, parts).get(PACKAGE, math.inf) < math.prod(levels)
        for levels, parts in shapes
    )


def check_cores(placed: list[RankCores]) -> None:
    """Raise an error if ranks share cores, or have cores that are not consecutive."""
    used: set[tuple[int, int]] = set()
    for rank, (node, cores) in enumerate(placed):
        if list(cores) != list(range(cores[0], cores[0] + len(cores))):
            listed = ", ".join(map(str, cores))
            raise LaunchError(
                f"gives rank {rank} the cores {listed} of a node, which are not "
                "consecutive; only consecutive cores are supported"
            )
        own = {(node, core) for core in cores}
        if own & used:
            raise LaunchError(f"places rank {rank} on a core of another rank")
        used |= own
