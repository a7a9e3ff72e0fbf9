# SPDX-License-Identifier: BSD-3-Clause
"""Builds the machine and the allocation of a Slurm job."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from topoloom.importers.machine_description import AllocatedNode, MachineDescription
from topoloom.importers.node_groups import NodeGroup, with_node_groups
from topoloom.importers.slurm.scontrol_job import JobNode
from topoloom.importers.slurm.scontrol_nodes import (
    NodeShape,
    format_node_shape,
    query_node_shapes,
)
from topoloom.importers.slurm.topology_conf import (
    read_network_of_hosts,
    recognizes_slurm_conf,
)
from topoloom.nodes.node_levels import (
    NodeCores,
    add_hop_weight,
    format_levels,
    format_nodes,
    list_vacant_places,
    make_node_parts,
)
from topoloom.nodes.node_parts import NO_PARTS
from topoloom.support.child_processes import run_system_command
from topoloom.support.files import prefix_errors
from topoloom.support.units import counted


def describe_slurm_job(
    nodes: Sequence[JobNode], this_host: str, inside: Callable[[], NodeCores]
) -> MachineDescription | None:
    """Describe the network of a job's nodes, which are passed in launcher order.

    `inside` finds all cores of this host; the host may be outside the job. Returns None
    if Slurm does not report the sockets and cores of nodes.
    """
    hosts = [node.host for node in nodes]
    shapes = query_node_shapes(hosts)
    if not shapes.keys() >= set(hosts):
        return None
    allocated = tuple(
        AllocatedNode(node.host, _list_job_slots(node, shapes[node.host]))
        for node in nodes
    )
    if len({shapes[host][:2] for host in hosts}) > 1:
        differing = _describe_differing_nodes({host: shapes[host] for host in hosts})
        return replace(differing, allocated=allocated)
    shape = shapes[hosts[0]]
    found, known = shape.inside(), NO_PARTS
    remarks: tuple[str, ...] = ()
    # hwloc reports more about this host, if the host is a node of the job.
    if this_host in hosts:
        here = inside()
        if len(here.cores) == shape.core_count:
            found, known = here, make_node_parts(here)
        else:
            remarks = (
                f"{len(here.cores)} of {counted(shape.core_count, 'core')} of this "
                "node are visible here: caches, CPU numbers and devices are unknown",
            )
    levels = add_hop_weight(format_levels(found))
    network = _read_network(hosts) or MachineDescription(
        format_nodes(len(hosts), ""), tuple(hosts), network=""
    )
    vacant = list_vacant_places(found)
    group = NodeGroup(levels, known, None, "the nodes", vacant=vacant)
    return replace(
        with_node_groups(network, [group]),
        allocated=allocated,
        remarks=(*network.remarks, *remarks),
    )


def describe_by_cpu_counts(
    hosts: tuple[str, ...], cpus: Sequence[int], inside: NodeCores
) -> MachineDescription:
    """Describe a job without data from Slurm, with all nodes on one switch.

    Only the number of CPUs per node is known, not their ids. All nodes are assumed to
    equal this node, `inside` are the usable cores of this node.
    """
    threads = max(core.bit_count() for core in inside.cores)
    counts = [max(1, -(-count // threads)) for count in cpus]
    if max(counts) > len(inside.cores):
        # The affinity of this process may exclude CPUs of the job.
        inside = NodeShape(1, max(counts)).inside()
    allocated = tuple(
        AllocatedNode(host, tuple(range(count)) if count < len(inside.cores) else ())
        for host, count in zip(hosts, counts, strict=True)
    )
    levels, vacant = add_hop_weight(format_levels(inside)), list_vacant_places(inside)
    network = MachineDescription(format_nodes(len(hosts), ""), hosts, network="")
    described = with_node_groups(
        network, [NodeGroup(levels, NO_PARTS, None, "the nodes", vacant=vacant)]
    )
    return replace(described, allocated=allocated)


def _read_network(hosts: Sequence[str]) -> MachineDescription | None:
    """Read the switches from Slurm; None if Slurm reports no switches."""
    output = run_system_command("scontrol", "show", "topology")
    if not recognizes_slurm_conf(output.text):
        return None
    with prefix_errors("'scontrol show topology'"):
        return read_network_of_hosts(output.text, hosts)


def _describe_differing_nodes(shapes: Mapping[str, NodeShape]) -> MachineDescription:
    """Describe nodes of different shapes; nodes of unknown shape are like the first."""
    hosts = tuple(shapes)
    network = _read_network(hosts) or MachineDescription(
        format_nodes(len(hosts), ""), hosts, network=""
    )
    number = {host: node for node, host in enumerate(network.hosts)}
    insides = [
        NodeGroup(format_node_shape(shape), NO_PARTS, [number[host]], host)
        for host, shape in shapes.items()
    ]
    return with_node_groups(network, [*insides, insides[0]._replace(nodes=None)])


def _list_job_slots(node: JobNode, shape: NodeShape) -> tuple[int, ...]:
    """Return the job's slots (cores) on a node; () means all."""
    if node.cpus is None:
        cores = list(range(shape.core_count))
    else:
        cores = sorted({cpu // shape.threads for cpu in node.cpus})
    slots = _choose_task_cores(cores, node, shape)
    return () if len(slots) == shape.core_count else tuple(slots)


def _choose_task_cores(cores: list[int], node: JobNode, shape: NodeShape) -> list[int]:
    """Select one core for each task that fits, evenly spaced."""
    cores_a_task = -(-node.cpus_per_task // shape.cpus_per_core)
    count = max(1, len(cores) // cores_a_task)
    if node.tasks:
        count = min(count, node.tasks)
    return [cores[i * len(cores) // count] for i in range(count)]
