# SPDX-License-Identifier: BSD-3-Clause
"""The allocation stored in a machine description; all nodes by default."""

from __future__ import annotations

import numpy as np

from topoloom._core import Allocation, Error, Machine
from topoloom.allocations.allocation_file import AllocatedHosts
from topoloom.importers.machine_description import MachineDescription
from topoloom.nodes.host_slot_numbers import HostSlotNumbers
from topoloom.nodes.host_text import list_vacant_nodes


def described_allocation(
    machine: Machine, described: MachineDescription
) -> AllocatedHosts:
    """Build the allocation that a machine description contains.

    Raises `topoloom.Error` for an unknown host or slot, and for duplicates.
    """
    slots_of = HostSlotNumbers(machine, described.node)
    if not described.allocated:
        whole = _allocate_all_nodes(machine, described.hosts)
        return AllocatedHosts(slots_of.drop_missing(whole.allocation), whole.hosts)
    hosts = described.hosts[:: machine.nodes_per_host]
    number_of = {host: number for number, host in enumerate(hosts)}
    nodes: list[int] = []
    names: list[str] = []
    slots: list[int] = []
    for host, host_slots in described.allocated:
        if host not in number_of:
            raise Error(f"allocation: the machine has no host {host}")
        number = number_of[host]
        count = int(slots_of.counts[number])
        if host_slots and not 0 <= min(host_slots) <= max(host_slots) < count:
            raise Error(
                f"allocation: host {host} has no slot {max(host_slots)}; "
                f"its slots are 0 to {count - 1}"
            )
        used_slots = [
            slots_of.global_slot(number, slot) for slot in host_slots or range(count)
        ]
        own_nodes = dict.fromkeys(slot // machine.slots_per_node for slot in used_slots)
        nodes += own_nodes
        names += [host] * len(own_nodes)
        slots += used_slots
    allocation = Allocation(
        machine, np.array(nodes, np.uint32), np.array(slots, np.uint32)
    )
    return AllocatedHosts(allocation, tuple(names))


def _allocate_all_nodes(machine: Machine, hosts: tuple[str, ...]) -> AllocatedHosts:
    """Allocate all nodes except vacant ones."""
    whole = Allocation.whole(machine)
    if not hosts:
        return AllocatedHosts(whole)
    vacant = list_vacant_nodes(hosts)
    nodes = [node for node in whole.nodes.tolist() if node not in vacant]
    if not nodes:
        raise Error(f"allocation: no node of {machine.name} has a host")
    allocation = Allocation(machine, nodes) if len(nodes) < len(whole.nodes) else whole
    return AllocatedHosts(allocation, tuple(hosts[node] for node in nodes))
