# SPDX-License-Identifier: BSD-3-Clause
"""Links of a machine by the names of its hosts and switches."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from topoloom._core import Machine, MachineText
from topoloom.nodes.hosts import is_vacant

#: What the core calls a node or a switch.
_VERTEX = re.compile(r"(?:node|switch|level [0-9]+ (?:group|switch)) [0-9]+")


def vertex_words(machine: Machine) -> list[str]:
    """List what the core calls the nodes, and the switches of a tree or a graph."""
    text = MachineText(machine.text).topology
    words = [f"node {node}" for node in range(machine.node_count)]
    if text.name == "tree":
        groups = machine.node_count
        for level, size in enumerate(text.sizes, 1):
            groups //= size
            words += [f"level {level} group {group}" for group in range(groups)]
    elif text.name == "graph":
        switches = int(text.body.partition(":")[0].partition("+")[2] or 0)
        first = machine.node_count
        words += [f"switch {v}" for v in range(first, first + switches)]
    return words


def vertex_names(
    machine: Machine, hosts: Mapping[int, str], switches: Sequence[str] = ()
) -> dict[str, str]:
    """Map what the core calls nodes and switches to the names that they have.

    Parameters
    ----------
    hosts
        Names of nodes by their id.
    switches
        Names of all switches, in the order of their vertices.
    """
    names = {
        f"node {node}": host for node, host in hosts.items() if not is_vacant(host)
    }
    if switches:
        words = vertex_words(machine)[machine.node_count :]
        names |= dict(zip(words, switches, strict=False))
    return names


def named_link(link: str, names: Mapping[str, str]) -> str:
    """Write a link's name with those of its ends, where they have any.

    >>> named_link("node 3 -> switch 8", {"node 3": "cn04"})
    'cn04 -> switch 8'
    """
    return _VERTEX.sub(lambda found: names.get(found[0], found[0]), link)
