# SPDX-License-Identifier: BSD-3-Clause
"""From a machine's short text to a TOML description that one can go on editing."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from topoloom._core import Machine
from topoloom.discover.described import AllocatedNode
from topoloom.files import write_text
from topoloom.formats.allocation_toml import allocation_lines
from topoloom.formats.machine_toml import FORMAT, VERSION
from topoloom.formats.node_toml import write_node
from topoloom.formats.topology_keys import write_down, write_topology
from topoloom.hostlist import compress_hostlist
from topoloom.node_parts import NO_PARTS, NodeParts


def write_machine_toml(
    path: str | Path,
    machine: Machine,
    name: str,
    hosts: Sequence[str] = (),
    allocated: Sequence[AllocatedNode] = (),
    node: NodeParts = NO_PARTS,
) -> None:
    """Write a machine as TOML; `read_machine_toml` makes the same machine of it."""
    outside = machine.text.partition("+node:")[0]
    network, _, down = outside.partition("+down:")
    sections = {"topology": write_topology(network)}
    if hosts:
        sections["topology"]["hosts"] = compress_hostlist(hosts)
    if down:
        sections["down"] = write_down(down)
    if inside := write_node(machine, node):
        sections["node"] = inside
    lines = [f'format = "{FORMAT}"', f"version = {VERSION}", f"name = {_toml(name)}"]
    for title, table in sections.items():
        lines += ["", f"[{title}]"]
        lines += [f"{key} = {_toml(value)}" for key, value in table.items()]
    lines += allocation_lines(allocated)
    write_text(path, "\n".join(lines) + "\n")


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        inner = ", ".join(f"{_key(k)} = {_toml(v)}" for k, v in value.items())
        return f"{{ {inner} }}"
    if isinstance(value, list):
        if value and isinstance(value[0], dict):
            return "[\n" + "".join(f"    {_toml(item)},\n" for item in value) + "]"
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    # JSON's texts, numbers, true and false are TOML's as well.
    return json.dumps(value)


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_]+", key) else json.dumps(key)
