# SPDX-License-Identifier: BSD-3-Clause
"""Positions of a grid without hosts: the key ``vacant`` in ``[topology]``.

Each entry is a box of coordinates. If routers have several nodes, the node within the
router is the last coordinate. On a ring bus, entries are ranges of stations::

    size = [25, 16, 24]
    hosts = "nid[00000-09599]"          # names for all positions
    vacant = ["0-11,0-15,0"]            # 192 positions have no host
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import Any

from topoloom._core import Error
from topoloom.nodes.host_text import format_vacant_name
from topoloom.support.number_ranges import expand_ranges


def name_vacant_positions(
    topology: dict[str, Any], hosts: tuple[str, ...]
) -> tuple[str, ...]:
    """Replace the host names of vacant positions by names of vacant nodes."""
    boxes = topology.get("vacant", [])
    if not isinstance(boxes, list) or not all(isinstance(box, str) for box in boxes):
        raise Error('topology.vacant must be a list of boxes, such as ["0-3,0-7,0"]')
    if not boxes:
        return hosts
    extents = _find_extents(topology)
    if len(hosts) != math.prod(extents):
        raise Error(
            f"topology.vacant needs topology.hosts for all {math.prod(extents)} "
            f"positions, found {len(hosts)}"
        )
    names = list(hosts)
    for box in boxes:
        for node in _list_nodes(box, extents):
            names[node] = format_vacant_name(node)
    return tuple(names)


def _find_extents(topology: dict[str, Any]) -> list[int]:
    if "stations" in topology:
        return [topology["stations"]]
    size = topology.get("size")
    if not isinstance(size, list):
        raise Error("topology.vacant requires topology.size, or a ring bus")
    nodes = topology.get("nodes", 1)
    return [*size, nodes] if nodes > 1 else list(size)


def _list_nodes(box: str, extents: Sequence[int]) -> list[int]:
    """List the nodes in a box such as ``0-3,2,0-7``."""
    parts = box.replace(" ", "").split(",")
    if len(parts) != len(extents):
        raise Error(
            f"topology.vacant: '{box}' has {len(parts)} coordinates, not {len(extents)}"
        )
    try:
        along = [*map(expand_ranges, parts, extents)]
    except Error as error:
        raise Error(f"topology.vacant: in '{box}' {error}") from None
    nodes = []
    for place in product(*along):
        node = 0
        for at, extent in zip(place, extents, strict=True):
            node = node * extent + at
        nodes.append(node)
    return nodes
