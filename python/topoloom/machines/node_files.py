# SPDX-License-Identifier: BSD-3-Clause
"""Reads the nodes of a machine from separate files: ``gpu[1-4]=gpu.xml``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from topoloom._core import Error, Machine, MachineText
from topoloom.allocations.allocation_file import parse_allocation
from topoloom.importers.machine_description import MachineDescription
from topoloom.importers.network_speeds import is_assumed_network
from topoloom.importers.node_groups import NodeGroup, format_node_type, with_node_groups
from topoloom.machines.machine_file import describe_machine
from topoloom.machines.node_toml import hop_weight
from topoloom.nodes.node_parts import NodeParts
from topoloom.support.files import exists, prefix_errors
from topoloom.support.hostlist import compress_hostlist
from topoloom.support.number_ranges import expand_ranges


def replace_nodes_from_files(
    network: MachineDescription, texts: Sequence[str]
) -> MachineDescription:
    """Replace the nodes of a machine by nodes from other files.

    Each entry of `texts` is ``FILE`` or ``HOSTS=FILE``, where FILE is a machine with
    these nodes, such as hwloc's XML, or ``+node:8:2``. Remarks on these nodes are
    kept. Raises `topoloom.Error` for a file without node levels, and for unknown,
    duplicate or missing hosts.
    """
    bare = Machine(MachineText(network.text).network)
    files = [_read_file(text, network.hosts, bare) for text in texts]
    joined = with_node_groups(
        network, [group for file in files for group in file.nodes]
    )
    Machine(joined.text)  # raises an error if costs are inconsistent
    remarks = dict.fromkeys(remark for file in files for remark in file.remarks)
    return replace(joined, remarks=(*joined.remarks, *remarks))


class _NodeFile(NamedTuple):
    """The nodes of a file, and the remarks on them."""

    nodes: list[NodeGroup]
    remarks: Sequence[str] = ()


def _read_file(text: str, hosts: Sequence[str], bare: Machine) -> _NodeFile:
    which, equals, source = text.partition("=")
    if not equals or which.startswith("+") or exists(text):
        which, source = "", text
    nodes = _find_nodes(bare, which, hosts, text) if which else None
    if source.startswith("+"):
        if MachineText(f"torus:1{source}").node is None:
            raise Error(f"'{source}' has no node description; write +node:8:2")
        return _NodeFile([NodeGroup(source, NodeParts(), nodes, f"'{source}'")])
    given = describe_machine(source)
    groups = _list_groups(given, text, source, nodes, hosts)
    return _NodeFile(
        groups, [one for one in given.remarks if not is_assumed_network(one)]
    )


def _list_groups(
    given: MachineDescription,
    text: str,
    source: str,
    nodes: tuple[int, ...] | None,
    hosts: Sequence[str],
) -> list[NodeGroup]:
    """List the node types of `given`, which is the file `source` of `text`."""
    if len(given.node.types) == 1:
        (kind,) = given.node.types
        levels = format_node_type(Machine(given.text), kind)
        vacant = kind.levels.vacant
        hop = hop_weight(Machine(given.text))
        return [NodeGroup(levels, kind.parts, nodes, source, hop, vacant)]
    if given.node.types:
        if nodes is not None:
            raise Error(
                f"{text}: the nodes of {source} differ, so it contains their hosts; "
                f"pass {source} without hosts"
            )
        return _match_node_types(given, source, hosts)
    machine = Machine(given.text)
    section = MachineText(given.text).node
    if section is None and machine.node_count > 1:
        raise Error(
            f"{source}: has no node description; pass the XML of hwloc "
            "(lstopo node.xml), a TOML file with [node], or +node:8:2"
        )
    levels = f"+{section.text}" if section else ""
    weight = hop_weight(machine) if given.node.names else None
    return [NodeGroup(levels, given.node, nodes, source, weight)]


def _find_nodes(
    bare: Machine, which: str, hosts: Sequence[str], where: str
) -> tuple[int, ...]:
    """Find nodes by host names, or by ids such as ``0-3,8``."""
    if not any(letter.isalpha() for letter in which):
        with prefix_errors(where):
            return expand_ranges(which.replace(" ", ""), bare.node_count)
    try:
        listed = parse_allocation(bare, which, hosts)
    except Error as error:
        raise Error(f"{where}: {str(error).removeprefix('line 1: ')}") from None
    return tuple(listed.allocation.nodes.tolist())


def _match_node_types(
    given: MachineDescription, source: str, hosts: Sequence[str]
) -> list[NodeGroup]:
    """Assign the node types of another machine by host names."""
    machine = Machine(given.text)
    number = {host: node for node, host in enumerate(hosts)}
    groups = []
    for kind in given.node.types:
        names = [given.hosts[node] for node in kind.nodes] if given.hosts else []
        if not names:
            raise Error(f"{source}: its nodes differ, but have no host names")
        nodes = [number[name] for name in names if name in number]
        if nodes:
            called = f"{compress_hostlist(names)} of {source}"
            text = format_node_type(machine, kind)
            groups.append(
                NodeGroup(
                    text,
                    kind.parts,
                    tuple(nodes),
                    called,
                    vacant=kind.levels.vacant,
                )
            )
    if not groups:
        raise Error(f"{source}: contains none of the network's hosts")
    return groups
