# SPDX-License-Identifier: BSD-3-Clause
"""Draws a machine as a text tree, from the top level down to slots.

Example::

74 groups, each connected to all others, 9 global links per router
└─ 32 routers, fully connected
   └─ 4 nodes
      └─ 8 x 8 slots
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from topoloom._core import Machine, MachineText
from topoloom.machines.topology_keys import write_down, write_topology
from topoloom.machines.topology_options import AXES
from topoloom.nodes.host_text import drop_vacant
from topoloom.nodes.node_parts import NO_PARTS, NodeParts, NodeType
from topoloom.support.hostlist import compress_hostlist
from topoloom.support.number_ranges import compress_ranges
from topoloom.support.plain_text import shorten


def outline(
    machine: Machine, node: NodeParts = NO_PARTS, hosts: Sequence[str] = ()
) -> list[str]:
    """Draw the levels of a machine as a tree, one line per level.

    If nodes differ, a line per node type follows.
    """
    text = MachineText(machine.text)
    topology = write_topology(text)
    if describe := _PARTS.get(topology["kind"]):
        parts = describe(topology)
    else:
        parts = [_plural(machine.node_count, "node")]
    if machine.slots_per_node > 1 and not node.types:
        *groups, slots = reversed(machine.levels)
        parts += [_plural(count, "group") for count in groups]
        parts.append(_plural(slots, "slot"))
    lines = [
        part if depth == 0 else "   " * (depth - 1) + "└─ " + part
        for depth, part in enumerate(parts)
    ]
    indent = "   " * (len(parts) - 1)
    lines += [
        f"{indent}└─ {format_type_nodes(kind, hosts)}: {format_type_slots(kind)}"
        for kind in node.types
    ]
    if machine.has_failures:
        lines.append(f"without {_format_failures(write_down(text))}")
    return lines


def format_type_nodes(kind: NodeType, hosts: Sequence[str]) -> str:
    """List the nodes of a type by host name or id."""
    if not hosts:
        return shorten(f"nodes {compress_ranges(kind.nodes)}")
    return shorten(compress_hostlist(drop_vacant(hosts[node] for node in kind.nodes)))


def format_type_slots(kind: NodeType) -> str:
    """Format the levels of a node type, top-down: ``2 x 32 slots``."""
    *groups, slots = reversed(kind.levels.sizes)
    vacant = len(kind.levels.vacant)
    what = _plural(slots, "place" if vacant else "slot")
    text = " x ".join([*map(str, groups), what])
    return f"{text}, {vacant:,} vacant" if vacant else text


def _plural(count: int, what: str) -> str:
    ending = "es" if what.endswith("ch") else "s"
    return f"{count:,} {what}" + ("" if count == 1 else ending)


def _format_failures(down: dict[str, Any]) -> str:
    names = {"nodes": "node", "vertices": "router or switch", "links": "link"}
    return ", ".join(f"{names[key]} {', '.join(map(str, down[key]))}" for key in down)


def _add_nodes_per_router(topology: dict[str, Any], routers: str) -> list[str]:
    nodes = topology.get("nodes", 1)
    if nodes == 1:
        return [routers.replace("routers", "nodes")]
    return [routers, _plural(nodes, "node")]


def _format_grid(topology: dict[str, Any]) -> str:
    return " x ".join(map(str, topology["size"])) + " routers"


def _describe_torus(topology: dict[str, Any]) -> list[str]:
    size = topology["size"]
    if math.prod(size) == 1:
        return [_plural(topology.get("nodes", 1), "node")]
    wrap = topology.get("wrap", [topology["kind"] != "mesh"] * len(size))
    rings = [AXES[axis] if axis < len(AXES) else str(axis) for axis in range(len(size))]
    open_axes = [name for name, closed in zip(rings, wrap, strict=True) if not closed]
    if not open_axes:
        how = "a ring along each axis" if len(size) > 1 else "a ring"
    elif len(open_axes) == len(size):
        how = "a line along each axis" if len(size) > 1 else "a line"
    else:
        how = f"a ring along each axis but {', '.join(open_axes)}"
    if "twist" in topology:
        how += f", those of {', '.join(topology['twist'])} shifted"
    return _add_nodes_per_router(topology, f"{_format_grid(topology)}, {how}")


def _describe_hyperx(topology: dict[str, Any]) -> list[str]:
    return _add_nodes_per_router(
        topology, f"{_format_grid(topology)}, fully connected along each axis"
    )


def _describe_hypercube(topology: dict[str, Any]) -> list[str]:
    dimensions = topology["dimensions"]
    text = f"{2**dimensions:,} routers, each connected to {dimensions}"
    return _add_nodes_per_router(topology, text)


def _describe_ring(topology: dict[str, Any]) -> list[str]:
    rings = topology.get("rings", 1)
    text = (
        f"{topology['stations']} stations, {_plural(rings, 'ring')} in each direction"
    )
    if "transfers" in topology:
        text += f" with {_plural(topology['transfers'], 'transfer')} at once"
    return [text]


def _describe_tree(topology: dict[str, Any]) -> list[str]:
    *groups, nodes = reversed(topology["levels"])
    return [
        *(_plural(count, "group") for count in groups),
        _plural(nodes, "node"),
    ]


def _describe_fattree(topology: dict[str, Any]) -> list[str]:
    down = topology["levels"]
    up = topology.get("up", [1, *down[:-1]])
    cables = topology.get("parallel", [1] * len(down))
    parts = [_plural(math.prod(up), "switch")]
    for level in reversed(range(len(down))):
        roots = math.prod(up[:level])
        part = _plural(down[level], "switch" if level else "node")
        if roots > 1:
            part = f"{_plural(down[level], 'subtree')} of {_plural(roots, 'switch')}"
        if up[level] * cables[level] > 1:
            part += f", {_plural(cables[level], 'link')} to each of {up[level]} above"
        parts.append(part)
    return parts


def _describe_dragonfly(topology: dict[str, Any]) -> list[str]:
    groups, *routers = topology["size"]
    joined = (
        "fully connected" if len(routers) == 1 else "connected along rows and columns"
    )
    text = f"{_plural(groups, 'group')}, each connected to all others"
    if "global" in topology:
        text += f", {_plural(topology['global'], 'global link')} per router"
    inner = f"{' x '.join(map(str, routers))} routers, {joined}"
    return [text, *_add_nodes_per_router(topology, inner)]


def _describe_dragonfly_plus(topology: dict[str, Any]) -> list[str]:
    groups, leaves, spines = topology["size"]
    text = f"{_plural(groups, 'group')}, each connected to all others"
    if "global" in topology:
        text += f", {_plural(topology['global'], 'global link')} per spine"
    leaf = "1 leaf" if leaves == 1 else f"{leaves} leaves"
    inner = f"{leaf}, each connected to {_plural(spines, 'spine')}"
    return [text, inner, _plural(topology.get("nodes", 1), "node")]


def _describe_rails(topology: dict[str, Any]) -> list[str]:
    gpus, domains, units = topology["levels"]
    rails, host = topology.get("rails", gpus), topology.get("host", gpus)
    return [
        _plural(units, "scalable unit"),
        f"{_plural(domains, 'NVLink domain')} on {_plural(rails, 'rail')}",
        *([_plural(gpus // host, "host")] if host < gpus else []),
        _plural(host, "GPU"),
    ]


def _describe_graph(topology: dict[str, Any]) -> list[str]:
    switches = topology.get("switches", 0)
    between = f" and {_plural(switches, 'switch')}" if switches else ""
    links = sum(1 if ">" in link else 2 for link in topology["links"])
    return [f"{_plural(topology['nodes'], 'node')}{between}, {links:,} links"]


_PARTS: dict[str, Callable[[dict[str, Any]], list[str]]] = {
    "torus": _describe_torus,
    "mesh": _describe_torus,
    "twisted": _describe_torus,
    "hyperx": _describe_hyperx,
    "hypercube": _describe_hypercube,
    "ring": _describe_ring,
    "tree": _describe_tree,
    "fattree": _describe_fattree,
    "dragonfly": _describe_dragonfly,
    "dragonflyplus": _describe_dragonfly_plus,
    "rails": _describe_rails,
    "graph": _describe_graph,
}
