# SPDX-License-Identifier: BSD-3-Clause
"""Writes machine descriptions as TOML that users can edit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from topoloom._core import Machine, MachineText
from topoloom.allocations.allocation_toml import format_allocation_tables
from topoloom.importers.machine_description import AllocatedNode
from topoloom.machines.machine_toml import FORMAT, VERSION
from topoloom.machines.node_toml import write_node
from topoloom.machines.node_types_toml import write_node_types
from topoloom.machines.topology_keys import write_down, write_topology
from topoloom.nodes.node_parts import NO_PARTS, NodeParts
from topoloom.support.files import write_text
from topoloom.support.hostlist import compress_hostlist
from topoloom.support.toml_document import format_toml


def write_machine_toml(
    path: str | Path,
    machine: Machine,
    name: str,
    hosts: Sequence[str] = (),
    allocated: Sequence[AllocatedNode] = (),
    node: NodeParts = NO_PARTS,
    remarks: Sequence[str] = (),
    switches: Sequence[str] = (),
    tables: Mapping[str, dict[str, Any]] | None = None,
    labels: Sequence[str] = (),
) -> None:
    """Write a machine as TOML that `read_machine_toml` reads.

    Remarks become comments; `tables` maps names to additional tables.
    """
    text = MachineText(machine.text)
    insides: list[dict[str, Any]] = []
    sections = {"topology": write_topology(text)}
    if hosts:
        named = hosts[:: machine.nodes_per_host]
        sections["topology"]["hosts"] = compress_hostlist(named)
    if switches:
        sections["topology"]["switch_names"] = list(switches)
    if any(labels):
        sections["topology"]["labels"] = list(labels)
    if down := write_down(text):
        sections["down"] = down
    if len(node.types) == 1:
        (table,) = write_node_types(machine, node, hosts)
        sections["node"] = {
            key: table[key] for key in table if key not in ("hosts", "nodes")
        }
    elif node.types:
        insides = write_node_types(machine, node, hosts)
    elif inside := write_node(machine, node):
        sections["node"] = inside
    lines = [
        f'format = "{FORMAT}"',
        f"version = {VERSION}",
        f"name = {format_toml(name)}",
    ]
    for title, table in sections.items():
        lines += ["", f"[{title}]"]
        if title == "topology":
            lines += [f"# {remark}" for remark in remarks]
        lines += [f"{key} = {format_toml(value)}" for key, value in table.items()]
    for table in insides:
        lines += ["", "[[node]]"]
        lines += [f"{key} = {format_toml(value)}" for key, value in table.items()]
    lines += format_allocation_tables(allocated)
    for title, table in (tables or {}).items():
        lines += ["", f"[{title}]"]
        lines += [f"{key} = {format_toml(value)}" for key, value in table.items()]
    write_text(path, "\n".join(lines) + "\n")
