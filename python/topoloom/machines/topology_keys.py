# SPDX-License-Identifier: BSD-3-Clause
"""The kinds of ``[topology]``: what keys each has, and their place in the short text.

A new kind is an entry of `KINDS`; reading and writing follow from it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from topoloom._core import Error
from topoloom.machines import graph_toml
from topoloom.machines.topology_options import (
    CARDS,
    FORWARD,
    HOST,
    NODES,
    ORDER,
    ROUTES,
    TWIST,
    WORD,
    WRAP,
    Option,
    listed,
    one,
    per_axis,
    per_class,
    per_level,
    split_numbers,
    whole,
)
from topoloom.support.nearest import unknown_name
from topoloom.support.toml_values import entry, numbers, refuse_unknown, typed
from topoloom.support.units import parse_bandwidth, parse_latency


class Kind(NamedTuple):
    """A kind of topology: ``kind:body,option,...`` in the short text."""

    #: the key that is the body; none for a graph, which has a body of its own
    body: str
    #: between the body's numbers; "" where it is one number
    separator: str
    options: dict[str, Option]


def _speeds(form: Any, *classes: str, **more: bool) -> dict[str, Option]:
    return {
        "bandwidth": form(parse_bandwidth, *classes, **more),
        "latency": form(parse_latency, *classes, **more),
    }


_TORUS = {
    "nodes": NODES,
    "cards": CARDS,
    "order": ORDER,
    "ties": WORD,
    **_speeds(per_axis, ways=True),
}

_JOINED = {"nodes": NODES, "cards": CARDS, "order": ORDER, **_speeds(per_axis)}

KINDS = {
    "torus": Kind("size", "x", {"wrap": WRAP, **_TORUS}),
    "mesh": Kind("size", "x", _TORUS),
    "twisted": Kind(
        "size",
        "x",
        {
            "twist": TWIST,
            "nodes": NODES,
            "cards": CARDS,
            **_speeds(per_axis, ways=True),
        },
    ),
    "hyperx": Kind("size", "x", _JOINED),
    "hypercube": Kind("dimensions", "", _JOINED),
    "ring": Kind(
        "stations",
        "",
        {"rings": whole(1), "transfers": whole(1), "ties": WORD, **_speeds(one)},
    ),
    "tree": Kind("levels", ":", {"distance": listed(0), **_speeds(per_level)}),
    "fattree": Kind(
        "levels",
        ":",
        {
            "up": listed(1),
            "parallel": listed(1),
            "routing": WORD,
            **_speeds(per_level),
        },
    ),
    "dragonfly": Kind(
        "size",
        "x",
        {
            "nodes": NODES,
            "cards": CARDS,
            "global": whole(1),
            "arrangement": WORD,
            "routing": WORD,
            **_speeds(per_class, "local", "row", "column", "global", HOST),
        },
    ),
    "rails": Kind(
        "levels",
        ":",
        {
            "rails": whole(1),
            "spines": whole(1),
            "cross": WORD,
            **_speeds(per_class, "nvlink", "rail", "spine"),
        },
    ),
    "graph": Kind("", "", {**_speeds(one), "routes": ROUTES, "forward": FORWARD}),
}


def read_topology(topology: dict[str, Any], folder: Path) -> str:
    """Say in a short text what the table ``[topology]`` says, without its hosts."""
    name = entry(topology, "kind", str, "topology.kind")
    if name not in KINDS:
        raise Error(unknown_name("topology.kind", name, KINDS))
    kind = KINDS[name]
    bodies = (kind.body,) if kind.body else graph_toml.KEYS
    refuse_unknown(topology, ("kind", *bodies, *kind.options, "hosts"), "topology.")
    if kind.body:
        body, count = _read_body(kind, topology)
    else:
        body, count = graph_toml.read_body(topology, folder), 0
    parts = [f"{name}:{body}"]
    for key, option in kind.options.items():
        if key in topology:
            parts += option.read(key, topology[key], count)
    return ",".join(parts)


def _read_body(kind: Kind, topology: dict[str, Any]) -> tuple[str, int]:
    where = f"topology.{kind.body}"
    value = entry(topology, kind.body, list if kind.separator else int, where)
    if kind.separator:
        extents = numbers(value, 1, where)
        return kind.separator.join(map(str, extents)), len(extents)
    if value < 1:
        raise Error(f"{where} must be 1 or more")
    return str(value), value


def write_topology(text: str) -> dict[str, Any]:
    """Make the table ``[topology]`` of a short text without failures and nodes."""
    head, *items = text.split(",")
    name, _, body = head.partition(":")
    kind = KINDS[name]
    table: dict[str, Any] = {"kind": name}
    if not kind.body:
        table |= graph_toml.write_body(
            body, [item for item in items if "=" not in item]
        )
    elif kind.separator:
        table[kind.body] = split_numbers(body, kind.separator)
    else:
        table[kind.body] = int(body)
    for item in items:
        key, equals, value = item.partition("=")
        if equals:
            key, _, part = key.partition(".")
            key = {"route": "routes", "hosts": "cards"}.get(key, key)
            table[key] = kind.options[key].write(table.get(key), part, value)
    return table


def read_down(down: dict[str, Any]) -> str:
    """Say in a short text what the table ``[down]`` says."""
    refuse_unknown(down, ("nodes", "vertices", "links"), "down.")
    items = [str(node) for node in _ids(down, "nodes")]
    items += [f"v{vertex}" for vertex in _ids(down, "vertices")]
    for index, link in enumerate(typed(down.get("links", []), list, "down.links")):
        if not graph_toml.is_link(link):
            raise Error(f'down.links[{index}] must be "0-1" (both ways) or "0>1"')
        items.append(link)
    if not items:
        raise Error("[down] must name nodes, vertices or links")
    return "+down:" + ",".join(items)


def _ids(down: dict[str, Any], key: str) -> list[int]:
    return numbers(down[key], 0, f"down.{key}") if key in down else []


def write_down(text: str) -> dict[str, Any]:
    """Make the table ``[down]`` of what follows ``+down:``."""
    table: dict[str, Any] = {}
    for item in text.split(","):
        if graph_toml.is_link(item):
            table.setdefault("links", []).append(item)
        elif item.startswith("v"):
            table.setdefault("vertices", []).append(int(item[1:]))
        else:
            table.setdefault("nodes", []).append(int(item))
    return table
