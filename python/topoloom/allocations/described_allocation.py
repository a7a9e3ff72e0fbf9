# SPDX-License-Identifier: BSD-3-Clause
"""The allocation that comes with a machine: what a job was given of it, or all."""

from __future__ import annotations

import numpy as np

from topoloom._core import Allocation, Error, Machine
from topoloom.allocations.allocation_file import AllocatedHosts
from topoloom.importers.described import Described
from topoloom.importers.torus_places import drop_vacant, vacant_nodes
from topoloom.nodes.hosts import slots_per_host


def described_allocation(machine: Machine, described: Described) -> AllocatedHosts:
    """Make the allocation that belongs to a description of this machine.

    Raises
    ------
    topoloom.Error
        If it names a host or a slot that the machine does not have, or one twice.
    """
    if not described.allocated:
        return _all(machine, described.hosts)
    hosts = described.hosts[:: machine.nodes_per_host]
    number_of = {host: number for number, host in enumerate(hosts)}
    per_host, per_node = slots_per_host(machine), machine.slots_per_node
    nodes: list[int] = []
    names: list[str] = []
    slots: list[int] = []
    for host, given in described.allocated:
        if host not in number_of:
            raise Error(f"allocation: the machine has no host {host}")
        if given and not 0 <= min(given) <= max(given) < per_host:
            raise Error(
                f"allocation: host {host} has no slot {max(given)}; "
                f"slots count from 0 to {per_host - 1}"
            )
        taken = [number_of[host] * per_host + s for s in given or range(per_host)]
        own = dict.fromkeys(slot // per_node for slot in taken)
        nodes += own
        names += [host] * len(own)
        slots += taken
    allocation = Allocation(
        machine, np.array(nodes, np.uint32), np.array(slots, np.uint32)
    )
    return AllocatedHosts(allocation, tuple(names))


def _all(machine: Machine, hosts: tuple[str, ...]) -> AllocatedHosts:
    """Take every node, but for places that have no host."""
    vacant = vacant_nodes(hosts)
    if not vacant:
        return AllocatedHosts(Allocation.whole(machine), hosts or None)
    nodes = [node for node in range(len(hosts)) if node not in vacant]
    if not nodes:
        raise Error(f"allocation: no node of {machine.name} has a host")
    return AllocatedHosts(Allocation(machine, nodes), tuple(drop_vacant(hosts)))
