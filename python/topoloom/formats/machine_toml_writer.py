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
from topoloom.hostlist import compress_hostlist

_AXES = "xyzabcdefghijklmnopqrstuvw"


def write_machine_toml(
    path: str | Path,
    machine: Machine,
    name: str,
    hosts: Sequence[str] = (),
    allocated: Sequence[AllocatedNode] = (),
) -> None:
    """Write a machine as TOML; `read_machine_toml` makes the same machine of it."""
    network, _, inside = machine.text.partition("+node:")
    sections = {"topology": _topology(network)}
    if hosts:
        sections["topology"]["hosts"] = compress_hostlist(hosts)
    if inside:
        sections["node"] = _node(inside)
    lines = [f'format = "{FORMAT}"', f"version = {VERSION}", f"name = {_toml(name)}"]
    for title, table in sections.items():
        lines += ["", f"[{title}]"]
        lines += [f"{key} = {_toml(value)}" for key, value in table.items()]
    lines += allocation_lines(allocated)
    write_text(path, "\n".join(lines) + "\n")


def _topology(text: str) -> dict[str, Any]:
    head, *items = text.split(",")
    kind, _, body = head.partition(":")
    table: dict[str, Any] = {"kind": kind}
    if kind == "tree":
        table["levels"] = _numbers(body, ":")
    elif kind == "graph":
        counts, _, first = body.partition(":")
        nodes, _, switches = counts.partition("+")
        table["nodes"] = int(nodes)
        if switches:
            table["switches"] = int(switches)
        links = [first] if first else []
        table["links"] = links + [item for item in items if "=" not in item]
    else:
        table["size"] = _numbers(body, "x")
    for item in items:
        if "=" in item:
            _option(table, kind, *item.split("=", 1))
    return table


def _option(table: dict[str, Any], kind: str, key: str, value: str) -> None:
    name, _, axis = key.partition(".")
    if key == "wrap":
        table["wrap"] = [digit == "1" for digit in value]
    elif key == "nodes":
        table["nodes"] = int(value)
    elif key == "order":
        table["order"] = [_AXES[i] for i in _numbers(value, ":")]
    elif key == "distance":
        table["distance"] = _numbers(value, ":")
    elif key == "route":
        table.setdefault("routes", []).append(_numbers(value, ">"))
    elif kind in ("torus", "mesh") and name in ("bandwidth", "latency"):
        _axis_option(table, name, axis, value)
    elif kind == "tree" and ":" in value:
        table[key] = [_with_space(part) for part in value.split(":")]
    elif name in ("bandwidth", "latency"):
        table[key] = _with_space(value)
    else:
        table[key] = value


def _axis_option(table: dict[str, Any], name: str, axis: str, value: str) -> None:
    if not axis:
        given = table.get(name, {})
        axes = given if isinstance(given, dict) else {}
        table[name] = (
            {"default": _with_space(value), **axes} if axes else (_with_space(value))
        )
        return
    given = table.get(name, {})
    axes = given if isinstance(given, dict) else {"default": given}
    side = axis[-1] if axis[-1] in "+-" else ""
    letter = axis.removesuffix(side) if side else axis
    letter = _AXES[int(letter)] if letter.isdigit() else letter
    table[name] = {**axes, letter + side: _with_space(value)}


def _node(text: str) -> dict[str, Any]:
    levels, _, distance = text.partition(",distance=")
    table: dict[str, Any] = {"levels": _numbers(levels, ":")}
    if distance:
        numbers = _numbers(distance, ":")
        table["distance"] = numbers[: len(table["levels"])]
        if len(numbers) > len(table["levels"]):
            table["hop_weight"] = numbers[-1]
    return table


def _numbers(text: str, separator: str) -> list[int]:
    return [int(part) for part in text.split(separator)]


def _with_space(quantity: str) -> str:
    """Write ``9.4GB/s`` as ``9.4 GB/s``; a bare number gets its unit from the key."""
    return re.sub(r"^([0-9.]+(?:[eE][+-]?[0-9]+)?)\s*([A-Za-z])", r"\1 \2", quantity)


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        inner = ", ".join(f"{_key(k)} = {_toml(v)}" for k, v in value.items())
        return f"{{ {inner} }}"
    if isinstance(value, list):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    # JSON's texts, numbers, true and false are TOML's as well.
    return json.dumps(value)


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_]+", key) else json.dumps(key)
