# SPDX-License-Identifier: BSD-3-Clause
"""The tables [[node]] of a TOML machine whose nodes differ.

Each table describes some nodes, with the keys of ``[node]``::

    [[node]]
    hosts = "gpu[1-4]"                  # or nodes = "0-3"
    levels = [24, 2]

    [[node]]                            # without hosts or nodes: all other nodes
    levels = [64, 2]

Bandwidths, latencies, startups and the cost of a hop must be equal for all nodes; each
table can repeat them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from topoloom._core import Error, Machine
from topoloom.importers.machine_description import MachineDescription
from topoloom.importers.node_groups import NodeGroup
from topoloom.machines.node_toml import (
    HOP,
    find_explicit_hop_weight,
    hop_weight,
    read_node,
    write_nic,
)
from topoloom.nodes.node_parts import NodeParts, NodeType
from topoloom.nodes.node_parts_table import write_parts
from topoloom.support.hostlist import compress_hostlist, expand_hostlist
from topoloom.support.number_ranges import compress_ranges, expand_ranges
from topoloom.support.toml_values import get_entry


def read_node_types(
    tables: list[Any], described: MachineDescription
) -> list[NodeGroup]:
    """Read the tables of node types; `described` is the network with host names."""
    if not tables or not all(isinstance(table, dict) for table in tables):
        raise Error("node must be a table [node], or tables headed [[node]]")
    count = Machine(described.text).node_count
    node_of = {host: node for node, host in enumerate(described.hosts)}
    groups = []
    for number, table in enumerate(tables):
        where = f"node[{number}]"
        rest = {key: table[key] for key in table if key not in ("hosts", "nodes")}
        try:
            nodes = _read_node_ids(table, count, node_of)
            text, parts, vacant = read_node(rest)
        except Error as error:
            what = str(error)
            if what.startswith("node."):
                raise Error(f"{where}.{what.removeprefix('node.')}") from None
            raise Error(f"{where}: {what}") from None
        groups.append(NodeGroup(text, parts, nodes, where, vacant=vacant))
    return groups


def _read_node_ids(
    table: dict[str, Any], count: int, node_of: dict[str, int]
) -> tuple[int, ...] | None:
    if "hosts" in table and "nodes" in table:
        raise Error("node.hosts and node.nodes are mutually exclusive; keep one")
    if "nodes" in table:
        listed = get_entry(table, "nodes", str, "node.nodes")
        return expand_ranges(listed.replace(" ", ""), count)
    if "hosts" not in table:
        return None
    nodes = []
    for host in expand_hostlist(get_entry(table, "hosts", str, "node.hosts")):
        if host not in node_of:
            known = "topology.hosts has no" if node_of else "topology.hosts is missing:"
            raise Error(f"node.hosts: {known} host {host}")
        nodes.append(node_of[host])
    return tuple(nodes)


def write_node_types(
    machine: Machine, node: NodeParts, hosts: Sequence[str] = ()
) -> list[dict[str, Any]]:
    """Build the tables that `read_node_types` reads."""
    return [_write_node_type(machine, kind, hosts) for kind in node.types]


def _write_node_type(
    machine: Machine, kind: NodeType, hosts: Sequence[str]
) -> dict[str, Any]:
    if hosts:
        names = [hosts[node] for node in kind.nodes]
        table: dict[str, Any] = {"hosts": compress_hostlist(names)}
    else:
        table = {"nodes": compress_ranges(kind.nodes)}
    sizes, distance, port, vacant = kind.levels
    table["levels"] = list(sizes)
    hop = find_explicit_hop_weight(machine)
    if kind.parts.names:
        costs = dict(zip(kind.parts.names, distance, strict=True))
        weight = hop_weight(machine) if hop is None else hop
        table |= {"names": list(kind.parts.names), "costs": {**costs, HOP: weight}}
    elif any(distance) or hop is not None:
        table["distance"] = list(distance)
        if hop is not None:
            table["hop_weight"] = hop
    speeds = {key: value for key, value in write_nic(machine).items() if key != "port"}
    return {
        **table,
        **({"port": list(port)} if port else {}),
        **({"vacant": compress_ranges(vacant)} if vacant else {}),
        **speeds,
        **write_parts(kind.parts),
    }
