# SPDX-License-Identifier: BSD-3-Clause
"""The nodes of a machine from files of their own: ``gpu[1-4]=gpu.xml``."""

from __future__ import annotations

from collections.abc import Sequence

from topoloom._core import Error, Machine, MachineText
from topoloom.allocations.allocation_file import read_allocation
from topoloom.importers.described import Described
from topoloom.importers.insides import Inside, type_text, with_insides
from topoloom.machines.machine_file import describe_machine
from topoloom.machines.node_toml import hop_weight
from topoloom.nodes.node_parts import NodeParts
from topoloom.support.files import exists, prefix_errors
from topoloom.support.hostlist import compress_hostlist
from topoloom.support.number_ranges import expand_ranges


def join_nodes(network: Described, texts: Sequence[str]) -> Described:
    """Put nodes into a network.

    Parameters
    ----------
    network
        The machine; what it says of the inside of nodes is replaced.
    texts
        Each ``FILE`` or ``HOSTS=FILE``: a machine whose nodes are taken, such as one
        from hwloc, or a text such as ``+node:8:2``.

    Raises
    ------
    topoloom.Error
        If a file says nothing of the inside of nodes, or hosts are unknown, have two
        nodes or none.
    OSError
        If a file cannot be read.
    """
    bare = Machine(MachineText(network.text).network)
    insides = [
        inside for text in texts for inside in _insides(text, network.hosts, bare)
    ]
    joined = with_insides(network, insides)
    Machine(joined.text)  # refuses costs that do not fit together
    return joined


def _insides(text: str, hosts: Sequence[str], bare: Machine) -> list[Inside]:
    which, equals, source = text.partition("=")
    if not equals or which.startswith("+") or exists(text):
        which, source = "", text
    nodes = _nodes(bare, which, hosts, text) if which else None
    if source.startswith("+"):
        if MachineText(f"torus:1{source}").node is None:
            raise Error(f"'{source}' says nothing of a node; write +node:8:2")
        return [Inside(source, NodeParts(), nodes, f"'{source}'")]
    given = describe_machine(source)
    if given.node.types:
        if which:
            raise Error(
                f"{text}: the nodes of {source} differ; name it without hosts, "
                "which it has itself"
            )
        return _of_types(given, source, hosts)
    machine = Machine(given.text)
    section = MachineText(given.text).node
    if section is None and machine.node_count > 1:
        raise Error(
            f"{source}: says nothing of the cores of its nodes; name hwloc's "
            "XML of one (lstopo node.xml), a TOML with [node], or write +node:8:2"
        )
    inside = f"+{section.text}" if section else ""
    weight = hop_weight(machine) if given.node.names else None
    return [Inside(inside, given.node, nodes, source, weight)]


def _nodes(
    bare: Machine, which: str, hosts: Sequence[str], where: str
) -> tuple[int, ...]:
    """Find nodes by the names of hosts, or by their numbers: ``0-3,8``."""
    if not any(letter.isalpha() for letter in which):
        with prefix_errors(where):
            return expand_ranges(which.replace(" ", ""), bare.node_count)
    try:
        listed = read_allocation(bare, which, hosts)
    except Error as error:
        raise Error(f"{where}: {str(error).removeprefix('line 1: ')}") from None
    return tuple(listed.allocation.nodes.tolist())


def _of_types(given: Described, source: str, hosts: Sequence[str]) -> list[Inside]:
    """Take nodes that differ by the names of their hosts."""
    machine = Machine(given.text)
    number = {host: node for node, host in enumerate(hosts)}
    insides = []
    for kind in given.node.types:
        names = [given.hosts[node] for node in kind.nodes] if given.hosts else []
        if not names:
            raise Error(f"{source}: its nodes differ, but have no host names")
        nodes = [number[name] for name in names if name in number]
        if nodes:
            called = f"{compress_hostlist(names)} of {source}"
            text = type_text(machine, kind)
            insides.append(Inside(text, kind.parts, tuple(nodes), called))
    if not insides:
        raise Error(f"{source}: has none of the hosts of the network")
    return insides
