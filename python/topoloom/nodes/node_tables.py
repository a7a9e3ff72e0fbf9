# SPDX-License-Identifier: BSD-3-Clause
"""The table ``node`` of placement files, or tables ``nodes`` if nodes differ."""

from __future__ import annotations

import math
from typing import Any

from topoloom._core import Error, Machine
from topoloom.nodes.hosts import slots_per_host
from topoloom.nodes.node_parts import MAX_CPUS, NO_PARTS, Levels, NodeParts, NodeType
from topoloom.nodes.node_parts_table import KEYS, read_parts, read_vacant, write_parts
from topoloom.support.files import prefix_errors
from topoloom.support.number_ranges import compress_ranges, expand_ranges
from topoloom.support.toml_values import (
    check_integers,
    check_keys,
    check_type,
    get_entry,
)
from topoloom.support.units import counted

_NODE_KEYS = ("names", *KEYS)
_TYPE_KEYS = ("nodes", "levels", "distance", "port", "vacant", "slots", *_NODE_KEYS)


def write_nodes(node: NodeParts) -> dict[str, Any]:
    """Build the tables that `read_nodes` reads."""
    table = {**_write_names(node), **write_parts(node)}
    types = _write_types(node)
    return {**({"node": table} if table else {}), **({"nodes": types} if types else {})}


def _write_names(node: NodeParts) -> dict[str, Any]:
    return {"names": list(node.names)} if node.names else {}


def _write_types(node: NodeParts) -> list[dict[str, Any]]:
    return [
        {
            "nodes": compress_ranges(kind.nodes),
            "levels": list(kind.levels.sizes),
            "distance": list(kind.levels.distance),
            **({"port": list(kind.levels.port)} if kind.levels.port else {}),
            **(
                {"vacant": compress_ranges(kind.levels.vacant)}
                if kind.levels.vacant
                else {}
            ),
            "slots": compress_ranges(kind.slots),
            **_write_names(kind.parts),
            **write_parts(kind.parts),
        }
        for kind in node.types
    ]


def read_nodes(document: dict[str, Any], machine: Machine) -> NodeParts:
    """Read node tables; errors begin with ``node.KEY`` or ``nodes[N].KEY``."""
    if "nodes" in document:
        tables = get_entry(document, "nodes", list, "nodes")
        if machine.nodes_per_host > 1:
            raise Error("nodes: all nodes of a host must be equal; use node instead")
        return _read_types(tables, machine.node_count, machine.slots_per_node)
    if "node" not in document:
        return NO_PARTS
    table = get_entry(document, "node", dict, "node")
    check_keys(table, _NODE_KEYS, "node.")
    names = _read_level_names(table, len(machine.levels))
    return read_parts(table, slots_per_host(machine), names)


def _read_level_names(table: dict[str, Any], levels: int) -> tuple[str, ...]:
    """Read the names of the levels of a node."""
    names = get_entry(table, "names", list, "node.names") if "names" in table else []
    if not all(isinstance(name, str) and name.isprintable() for name in names):
        raise Error("node.names must be printable strings")
    if names and len(names) != levels:
        raise Error(f"node.names must name the {counted(levels, 'level')} of a node")
    return tuple(names)


def _read_types(tables: list[Any], node_count: int, per_node: int) -> NodeParts:
    types: list[NodeType] = []
    nodes_so_far: set[int] = set()
    for number, given in enumerate(tables):
        where = f"nodes[{number}]"
        table = check_type(given, dict, where)
        check_keys(table, _TYPE_KEYS, f"{where}.")
        listed = {}
        for key, most in (("nodes", node_count), ("slots", min(per_node, MAX_CPUS))):
            with prefix_errors(f"{where}.{key}"):
                listed[key] = expand_ranges(get_entry(table, key, str, key), most)
        sizes = check_integers(
            get_entry(table, "levels", list, "levels"), 1, f"{where}.levels"
        )
        distance = check_integers(table.get("distance"), 0, f"{where}.distance")
        port = (
            check_integers(table["port"], 0, f"{where}.port") if "port" in table else []
        )
        places = math.prod(sizes)
        vacant = read_vacant(table, places, where)
        levels = Levels(tuple(sizes), tuple(distance), tuple(port), vacant)
        if places - len(vacant) != len(listed["slots"]) or len(sizes) != len(distance):
            raise Error(f"{where}: levels, distance and slots do not match")
        if nodes_so_far & set(listed["nodes"]):
            raise Error(
                f"{where}.nodes: node {min(nodes_so_far & set(listed['nodes']))} twice"
            )
        nodes_so_far |= set(listed["nodes"])
        with prefix_errors(where):
            names = _read_level_names(table, len(sizes))
            parts = read_parts(table, len(listed["slots"]), names, places)
        types.append(NodeType(listed["nodes"], levels, listed["slots"], parts))
    if types and len(nodes_so_far) < node_count:
        raise Error("nodes does not list the slots of all nodes")
    return NodeParts(types=tuple(types))
