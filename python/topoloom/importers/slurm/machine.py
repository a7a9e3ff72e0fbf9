# SPDX-License-Identifier: BSD-3-Clause
"""The machine of a Slurm job, and what the job was given of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from topoloom.importers.described import AllocatedNode, Described
from topoloom.importers.insides import Inside, with_insides
from topoloom.importers.slurm.conf import read_slurm_part, recognizes_slurm_conf
from topoloom.importers.slurm.job import JobNode
from topoloom.importers.slurm.nodes import NodeShape, ask_node_shapes, node_text
from topoloom.nodes.node_levels import (
    Inside as Cores,
    levels_text,
    node_parts,
    nodes_text,
    weigh_hops,
)
from topoloom.nodes.node_parts import NO_PARTS
from topoloom.support.files import prefix_errors
from topoloom.support.program_output import run_program


def describe_slurm_job(
    nodes: Sequence[JobNode], this_host: str, inside: Callable[[], Cores]
) -> Described | None:
    """Describe the network that the job's nodes are on, and the job's part of it.

    Parameters
    ----------
    nodes
        The job's nodes in the launcher's order.
    this_host
        The name of the node that this process is on; it need not be one of the job's.
    inside
        Finds the inside of this node, whole.

    None where Slurm does not report the sockets and cores of the nodes.
    """
    hosts = [node.host for node in nodes]
    shapes = ask_node_shapes(hosts)
    if not shapes.keys() >= set(hosts):
        return None
    allocated = tuple(
        AllocatedNode(node.host, _slots(node, shapes[node.host])) for node in nodes
    )
    if len({shapes[host][:2] for host in hosts}) > 1:
        differing = _differing({host: shapes[host] for host in hosts})
        return replace(differing, allocated=allocated)
    shape = shapes[hosts[0]]
    found, known = shape.inside(), NO_PARTS
    # hwloc knows more, but only of a node of the job.
    if this_host in hosts:
        here = inside()
        if len(here.cores) == shape.core_count:
            found, known = here, node_parts(here)
    levels = levels_text(found)
    network = _network(hosts)
    if network is None:
        text = nodes_text(len(hosts), levels)
        return Described(text, tuple(hosts), allocated, known, network="")
    text = network.text + weigh_hops(levels)
    return replace(network, text=text, allocated=allocated, node=known)


def describe_counted(
    hosts: tuple[str, ...], cpus: Sequence[int], inside: Cores
) -> Described:
    """Describe the job where Slurm is not there to be asked: nodes on one switch.

    Which cores a job has of a node is not known then, only how many CPUs. All nodes
    are taken for ones like this, whose usable cores are `inside`.
    """
    threads = max(core.bit_count() for core in inside.cores)
    counts = [max(1, -(-count // threads)) for count in cpus]
    if max(counts) > len(inside.cores):
        # This process may use less of the node than the job.
        inside = NodeShape(1, max(counts)).inside()
    allocated = tuple(
        AllocatedNode(host, tuple(range(count)) if count < len(inside.cores) else ())
        for host, count in zip(hosts, counts, strict=True)
    )
    text = nodes_text(len(hosts), levels_text(inside))
    return Described(text, hosts, allocated, network="")


def _network(hosts: Sequence[str]) -> Described | None:
    """Ask for the switches; None where Slurm knows none."""
    told = run_program("scontrol", "show", "topology")
    if not recognizes_slurm_conf(told.text):
        return None
    with prefix_errors("'scontrol show topology'"):
        return read_slurm_part(told.text, hosts)


def _differing(shapes: Mapping[str, NodeShape]) -> Described:
    """Describe nodes that differ; those beside the job are taken for the first one."""
    hosts = tuple(shapes)
    network = _network(hosts) or Described(
        nodes_text(len(hosts), ""), hosts, network=""
    )
    number = {host: node for node, host in enumerate(network.hosts)}
    insides = [
        Inside(node_text(shape), NO_PARTS, [number[host]], host)
        for host, shape in shapes.items()
    ]
    return with_insides(network, [*insides, insides[0]._replace(nodes=None)])


def _slots(node: JobNode, shape: NodeShape) -> tuple[int, ...]:
    """Find the job's slots on a node: its cores; () for all of them."""
    if node.cpus is None:
        cores = list(range(shape.core_count))
    else:
        cores = sorted({cpu // shape.threads for cpu in node.cpus})
    slots = _task_places(cores, node, shape)
    return () if len(slots) == shape.core_count else tuple(slots)


def _task_places(cores: list[int], node: JobNode, shape: NodeShape) -> list[int]:
    """Keep a core for each task that fits as the job asked for them, evenly spread."""
    cores_a_task = -(-node.cpus_a_task // shape.cpus_a_core)
    count = max(1, len(cores) // cores_a_task)
    if node.tasks:
        count = min(count, node.tasks)
    return [cores[i * len(cores) // count] for i in range(count)]
