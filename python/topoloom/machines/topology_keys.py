# SPDX-License-Identifier: BSD-3-Clause
"""Converts ``[topology]`` and ``[down]`` to machine text and back."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from topoloom._core import Error, MachineText
from topoloom.machines import graph_toml
from topoloom.machines.topology_forms import SectionForm, topology_forms
from topoloom.machines.topology_options import HOST, OptionConversion, make_option
from topoloom.support.name_lookup import describe_unknown_name
from topoloom.support.number_ranges import join_numbers, split_numbers
from topoloom.support.toml_values import (
    check_integers,
    check_keys,
    check_type,
    get_entry,
)


class TopologyKind(NamedTuple):
    """A kind of topology: ``kind:body,option,...`` in machine text."""

    #: key of the body; "" for a graph, whose body has several keys
    body: str
    #: separator of the body's numbers; "" if the body is one number
    separator: str
    options: dict[str, OptionConversion]


@cache
def list_topology_kinds() -> dict[str, TopologyKind]:
    """Return each kind of topology by name."""
    return {
        form.name: TopologyKind(form.body, form.separator, _make_options(form))
        for form in topology_forms()
    }


def _make_options(form: SectionForm) -> dict[str, OptionConversion]:
    names = {option.name for option in form.options}
    hosts = (HOST,) if "hosts" in names else ()
    return {
        _TOML_KEYS.get(option.name, option.name): make_option(option, hosts)
        for option in form.options
        if option.name != "hosts"  # ``hosts=free`` is ``cards = 0`` in TOML
    }


#: Options whose TOML keys have different names.
_TOML_KEYS = {"route": "routes", "table": "tables"}


def read_topology(topology: dict[str, Any], folder: Path) -> str:
    """Convert ``[topology]``, without its host names, to machine text."""
    name = get_entry(topology, "kind", str, "topology.kind")
    if name not in list_topology_kinds():
        raise Error(describe_unknown_name("topology.kind", name, list_topology_kinds()))
    kind = list_topology_kinds()[name]
    bodies = (kind.body,) if kind.body else graph_toml.KEYS
    hosts = ("hosts", "vacant", "switch_names", "labels")
    check_keys(topology, ("kind", *bodies, *kind.options, *hosts), "topology.")
    if kind.body:
        body, count = _read_body(kind, topology)
    else:
        body, count = graph_toml.read_graph_body(topology, folder), 0
    parts = [f"{name}:{body}"]
    for key, option in kind.options.items():
        if key in topology:
            parts += option.read(key, topology[key], count)
    return ",".join(parts)


def _read_body(kind: TopologyKind, topology: dict[str, Any]) -> tuple[str, int]:
    where = f"topology.{kind.body}"
    value = get_entry(topology, kind.body, list if kind.separator else int, where)
    if kind.separator:
        extents = check_integers(value, 1, where)
        return join_numbers(extents, kind.separator), len(extents)
    if value < 1:
        raise Error(f"{where} must be 1 or more")
    return str(value), value


def write_topology(text: MachineText) -> dict[str, Any]:
    """Build the table ``[topology]`` from machine text."""
    topology = text.topology
    kind = list_topology_kinds()[topology.name]
    table: dict[str, Any] = {"kind": topology.name}
    if not kind.body:
        table |= graph_toml.write_graph_body(topology.body, topology.items)
    elif kind.separator:
        table[kind.body] = split_numbers(topology.body, kind.separator)
    else:
        table[kind.body] = int(topology.body)
    for option, value in topology.options:
        key, _, part = option.partition(".")
        key = {**_TOML_KEYS, "hosts": "cards"}.get(key, key)
        table[key] = kind.options[key].write(table.get(key), part, value)
    return table


def read_down(down: dict[str, Any]) -> str:
    """Convert ``[down]`` to machine text."""
    check_keys(down, ("nodes", "vertices", "links"), "down.")
    items = [str(node) for node in _read_ids(down, "nodes")]
    items += [f"v{vertex}" for vertex in _read_ids(down, "vertices")]
    for index, link in enumerate(check_type(down.get("links", []), list, "down.links")):
        if not graph_toml.is_link(link):
            raise Error(f'down.links[{index}] must be "0-1" (both ways) or "0>1"')
        items.append(link)
    if not items:
        raise Error("[down] must name nodes, vertices or links")
    return "+down:" + ",".join(items)


def _read_ids(down: dict[str, Any], key: str) -> list[int]:
    return check_integers(down[key], 0, f"down.{key}") if key in down else []


def write_down(text: MachineText) -> dict[str, Any]:
    """Build the table ``[down]`` from machine text; empty if nothing is down."""
    table: dict[str, Any] = {}
    for item in text.down:
        if graph_toml.is_link(item):
            table.setdefault("links", []).append(item)
        elif item.startswith("v"):
            table.setdefault("vertices", []).append(int(item[1:]))
        else:
            table.setdefault("nodes", []).append(int(item))
    return table
