# SPDX-License-Identifier: BSD-3-Clause
"""Names of links, derived from the names of hosts and switches."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from topoloom._core import Machine, MachineText
from topoloom.nodes.host_text import is_vacant

#: The core's default name of a node or switch.
_VERTEX = re.compile(r"(?:node|switch|level [0-9]+ (?:group|switch)) [0-9]+")


def list_default_vertex_names(machine: Machine) -> list[str]:
    """List the default names of nodes, and of switches of a tree or graph."""
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
    """Map default names of nodes and switches to real names.

    `hosts` maps node ids to names; `switches` are the names of all switches.
    """
    names = {
        f"node {node}": host for node, host in hosts.items() if not is_vacant(host)
    }
    if switches:
        words = list_default_vertex_names(machine)[machine.node_count :]
        names |= dict(zip(words, switches, strict=False))
    return names


def format_link(link: str, names: Mapping[str, str]) -> str:
    """Replace default names in the name of a link.

    >>> format_link("node 3 -> switch 8", {"node 3": "cn04"})
    'cn04 -> switch 8'
    """
    return _VERTEX.sub(lambda found: names.get(found[0], found[0]), link)
