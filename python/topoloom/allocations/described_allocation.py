# SPDX-License-Identifier: BSD-3-Clause
"""The allocation that comes with a machine: what a job was given of it, or all."""

from __future__ import annotations

import numpy as np

from topoloom._core import Allocation, Error, Machine
from topoloom.allocations.allocation_file import AllocatedHosts
from topoloom.importers.described import Described
from topoloom.importers.torus_places import drop_vacant, vacant_nodes


def described_allocation(machine: Machine, described: Described) -> AllocatedHosts:
    """Make the allocation that belongs to a description of this machine.

    Raises
    ------
    topoloom.Error
        If it names a host or a slot that the machine does not have, or one twice.
    """
    if not described.allocated:
        return _all(machine, described.hosts)
    node_of = {host: node for node, host in enumerate(described.hosts)}
    per_node = machine.slots_per_node
    nodes: list[int] = []
    slots: list[int] = []
    for host, given in described.allocated:
        if host not in node_of:
            raise Error(f"allocation: the machine has no host {host}")
        if given and not 0 <= min(given) <= max(given) < per_node:
            raise Error(
                f"allocation: host {host} has no slot {max(given)}; "
                f"slots count from 0 to {per_node - 1}"
            )
        nodes.append(node_of[host])
        slots += [node_of[host] * per_node + s for s in given or range(per_node)]
    allocation = Allocation(
        machine, np.array(nodes, np.uint32), np.array(slots, np.uint32)
    )
    return AllocatedHosts(allocation, tuple(node.host for node in described.allocated))


def _all(machine: Machine, hosts: tuple[str, ...]) -> AllocatedHosts:
    """Take every node, but for places that have no host."""
    vacant = vacant_nodes(hosts)
    if not vacant:
        return AllocatedHosts(Allocation.whole(machine), hosts or None)
    nodes = [node for node in range(len(hosts)) if node not in vacant]
    if not nodes:
        raise Error(f"allocation: no node of {machine.name} has a host")
    return AllocatedHosts(Allocation(machine, nodes), tuple(drop_vacant(hosts)))
