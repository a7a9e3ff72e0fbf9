# SPDX-License-Identifier: BSD-3-Clause
"""Converts between nodes and hosts. A host is a node, or the GPUs of a rail network.

In a rail network each node is a GPU; the GPUs of a host are consecutive nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from topoloom._core import Allocation, Error, Machine, MachineText
from topoloom.support.number_ranges import join_numbers
from topoloom.support.units import counted

Ids = npt.NDArray[np.int64]


def host_count(machine: Machine) -> int:
    """Count the hosts of a machine."""
    return machine.node_count // machine.nodes_per_host


def slots_per_host(machine: Machine) -> int:
    """Count the slots of each host."""
    return machine.slots_per_node * machine.nodes_per_host


def list_hosts_of_nodes(
    machine: Machine, nodes: Sequence[int] | npt.NDArray[Any]
) -> Ids:
    """List the hosts of these nodes, in the order of their first nodes."""
    numbers = np.asarray(nodes, dtype=np.int64) // machine.nodes_per_host
    _, first = np.unique(numbers, return_index=True)
    return numbers[np.sort(first)]


def list_nodes_of_hosts(
    machine: Machine, hosts: Sequence[int] | npt.NDArray[Any]
) -> Ids:
    """List the nodes of these hosts, host by host."""
    each = machine.nodes_per_host
    first = np.asarray(hosts, dtype=np.int64) * each
    return (first[:, None] + np.arange(each)).ravel()


def format_host_count(machine: Machine, nodes: int, hosts: int | None = None) -> str:
    """Format a number of nodes: ``4 nodes``, or ``2 hosts`` in a rail network."""
    each = machine.nodes_per_host
    if each == 1:
        return counted(nodes, "node")
    return counted(-(-nodes // each) if hosts is None else hosts, "host")


def format_allocated_share(allocation: Allocation) -> str:
    """Format ``4 of 16 nodes``, or ``2 of 8 hosts`` in a rail network."""
    machine = allocation.machine
    if machine.nodes_per_host == 1:
        return f"{len(allocation.nodes):,} of {machine.node_count:,} nodes"
    hosts = len(list_hosts_of_nodes(machine, allocation.nodes))
    return f"{hosts:,} of {counted(host_count(machine), 'host')}"


def list_node_names(
    machine: Machine, nodes: Sequence[int] | npt.NDArray[Any], names: Sequence[str]
) -> tuple[str, ...]:
    """Return the host name of each node.

    `names` has one name per host, in the order of `list_hosts_of_nodes`, or one per
    node. Raises `topoloom.Error` for a wrong number of names, and if nodes of one host
    have different names.
    """
    return tuple(_assign_host_names(machine, nodes, names)[1])


def list_host_names(
    machine: Machine, nodes: Sequence[int] | npt.NDArray[Any], names: Sequence[str]
) -> list[str]:
    """Return the name of each host; see `list_node_names` for `names`."""
    return _assign_host_names(machine, nodes, names)[0]


def _assign_host_names(
    machine: Machine, nodes: Sequence[int] | npt.NDArray[Any], names: Sequence[str]
) -> tuple[list[str], list[str]]:
    if machine.nodes_per_host == 1:
        if len(names) != len(nodes):
            raise Error(
                f"{counted(len(names), 'host name')} for an allocation of "
                f"{counted(len(nodes), 'node')}; "
                "pass one name per node, in the allocation's order"
            )
        return list(names), list(names)
    numbers = (np.asarray(nodes, np.int64) // machine.nodes_per_host).tolist()
    hosts = list_hosts_of_nodes(machine, nodes).tolist()
    if len(names) == len(hosts):
        name_of = dict(zip(hosts, names, strict=True))
    elif len(names) == len(nodes):
        name_of = {}
        for host, name in zip(numbers, names, strict=True):
            if name_of.setdefault(host, name) != name:
                raise Error(
                    f"{name_of[host]} and {name} are one host, of "
                    f"{machine.nodes_per_host} GPUs; name each host once"
                )
    else:
        raise Error(
            f"{counted(len(names), 'host name')} for an allocation of "
            f"{counted(len(hosts), 'host')} of "
            f"{counted(machine.nodes_per_host, 'GPU')} each; "
            "pass one name per host, in the allocation's order"
        )
    return [name_of[host] for host in hosts], [name_of[host] for host in numbers]


def make_host_machine(machine: Machine) -> Machine:
    """Convert a rail network to a machine whose nodes are hosts; keep other machines.

    A host is down if one of its nodes is down.
    """
    if machine.nodes_per_host == 1:
        return machine
    gpus, domains, units = map(int, MachineText(machine.text).topology.body.split(":"))
    levels = [gpus // machine.nodes_per_host, domains, units]
    text = "tree:" + join_numbers([n for n in levels if n > 1] or [1])
    up = np.bincount(machine.nodes_up // machine.nodes_per_host, minlength=1)
    down = np.flatnonzero(up < machine.nodes_per_host).tolist()
    down += range(len(up), host_count(machine))
    return Machine(text + (f"+down:{','.join(map(str, down))}" if down else ""))


def list_fully_allocated_hosts(free: Allocation) -> Ids:
    """List the hosts whose slots are all in the allocation, in allocation order."""
    machine = free.machine
    slots = np.asarray(free.slots, np.int64) // slots_per_host(machine)
    counts = np.bincount(slots, minlength=host_count(machine))
    hosts = list_hosts_of_nodes(machine, free.nodes)
    whole: Ids = hosts[counts[hosts] == slots_per_host(machine)]
    return whole
