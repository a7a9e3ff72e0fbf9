# SPDX-License-Identifier: BSD-3-Clause
"""Types of nodes as tables, in placements: which slots of the machine they have."""

from __future__ import annotations

import math
from typing import Any

from topoloom._core import Error
from topoloom.nodes.node_parts import MAX_CPUS, Levels, NodeParts, NodeType
from topoloom.nodes.node_parts_table import KEYS, read_parts, write_parts
from topoloom.support.files import named
from topoloom.support.number_ranges import compress_ranges, expand_ranges
from topoloom.support.toml_values import entry, numbers, refuse_unknown, typed

_KEYS = ("nodes", "levels", "distance", "port", "slots", *KEYS)


def write_types(node: NodeParts) -> list[dict[str, Any]]:
    """Make the tables that `read_types` reads."""
    return [
        {
            "nodes": compress_ranges(kind.nodes),
            "levels": list(kind.levels.sizes),
            "distance": list(kind.levels.distance),
            **({"port": list(kind.levels.port)} if kind.levels.port else {}),
            "slots": compress_ranges(kind.slots),
            **write_parts(kind.parts),
        }
        for kind in node.types
    ]


def read_types(tables: list[Any], node_count: int, per_node: int) -> NodeParts:
    """Read and check the tables of a machine's nodes.

    Raises
    ------
    topoloom.Error
        ``nodes[N].KEY ...`` and what is wrong with it.
    """
    types: list[NodeType] = []
    taken: set[int] = set()
    for number, given in enumerate(tables):
        where = f"nodes[{number}]"
        table = typed(given, dict, where)
        refuse_unknown(table, _KEYS, f"{where}.")
        listed = {}
        for key, most in (("nodes", node_count), ("slots", min(per_node, MAX_CPUS))):
            with named(f"{where}.{key}"):
                listed[key] = expand_ranges(entry(table, key, str, key), most)
        sizes = numbers(entry(table, "levels", list, "levels"), 1, f"{where}.levels")
        distance = numbers(table.get("distance"), 0, f"{where}.distance")
        port = numbers(table["port"], 0, f"{where}.port") if "port" in table else []
        levels = Levels(tuple(sizes), tuple(distance), tuple(port))
        if math.prod(sizes) != len(listed["slots"]) or len(sizes) != len(distance):
            raise Error(f"{where}: levels, distance and slots do not fit together")
        if taken & set(listed["nodes"]):
            raise Error(
                f"{where}.nodes: node {min(taken & set(listed['nodes']))} twice"
            )
        taken |= set(listed["nodes"])
        with named(where):
            parts = read_parts(table, len(listed["slots"]))
        types.append(NodeType(listed["nodes"], levels, listed["slots"], parts))
    if types and len(taken) < node_count:
        raise Error("nodes does not tell the slots of all nodes")
    return NodeParts(types=tuple(types))
