# SPDX-License-Identifier: BSD-3-Clause
"""The common shape of heterogeneous nodes, and the slots that each node has in it.

In the core, all nodes of a machine have one shape. If nodes differ, this is the
smallest shape that contains every node with unchanged distances: it has one level per
distance, large enough for the largest node. Nodes lack some slots of this shape::

    2 packages of 4 cores       distance 8:16    4 . . .   4 . . .
    1 package of 6 cores        distance 8       6 . . . . .
    the shape of both           +node:6:2,distance=8:16
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

from topoloom._core import Error
from topoloom.nodes.node_parts import MAX_CPUS, Levels, compress_port_costs


class CommonNodeShape(NamedTuple):
    """A node shape, and the slots of the shape that each node has."""

    levels: Levels
    #: For each node, the slot of the shape for each local slot; ascending.
    slots: list[tuple[int, ...]]


def find_common_shape(nodes: Sequence[Levels]) -> CommonNodeShape:
    """Find the smallest shape that contains all of these nodes.

    Nodes whose port costs differ get separate slots of the shape. Raises
    `topoloom.Error` if the shape has too many slots.
    """
    distance = sorted({d for node in nodes for d in node.distance})
    by_distance = [_multiply_sizes_by_distance(node, distance) for node in nodes]
    shape = _overlay(nodes, by_distance, distance, apart=False)
    shape = shape or _overlay(nodes, by_distance, distance, apart=True)
    assert shape is not None
    return shape


def _multiply_sizes_by_distance(node: Levels, distance: Sequence[int]) -> list[int]:
    sizes = [1] * len(distance)
    for size, far in zip(node.sizes, node.distance, strict=True):
        sizes[distance.index(far)] *= size
    return sizes


def _overlay(
    nodes: Sequence[Levels],
    by_distance: list[list[int]],
    distance: Sequence[int],
    apart: bool,
) -> CommonNodeShape | None:
    """Overlay nodes, or place them side by side; None if their port costs differ."""
    sizes = [max(column) for column in zip(*by_distance, strict=True)]
    tops = [sizes_of_node[-1] for sizes_of_node in by_distance]
    first = [0] * len(nodes)
    if apart:
        first = list(itertools.accumulate([0, *tops[:-1]]))
        sizes[-1] = sum(tops)
    if math.prod(sizes) > MAX_CPUS:
        raise Error(
            f"the nodes differ too much for a common shape of at most {MAX_CPUS:,} "
            "slots; use fewer levels, or the same levels for all nodes"
        )
    steps = [1, *itertools.accumulate(sizes[:-1], int.__mul__)]
    slots: list[tuple[int, ...]] = []
    costs: dict[int, int] = {}
    for node, own, top in zip(nodes, by_distance, first, strict=True):
        places = [top * steps[-1]]
        for size, step in zip(reversed(own), reversed(steps), strict=True):
            places = [at + i * step for at in places for i in range(size)]
        port_costs = node.port_costs()
        existing = node.list_places()
        slots.append(tuple(places[i] for i in existing))
        for i in existing:
            if costs.setdefault(places[i], port_costs[i]) != port_costs[i]:
                return None
    filled = [costs.get(0, next(iter(costs.values()), 0))]
    for place in range(1, math.prod(sizes)):
        filled.append(
            costs.get(place, filled[-1])
        )  # if no node has the slot, any cost is valid
    port = compress_port_costs(filled)
    used_levels = [level for level, size in enumerate(sizes) if size > 1] or [0]
    levels = Levels(
        tuple(sizes[level] for level in used_levels),
        tuple(distance[level] for level in used_levels),
        tuple(port),
    )
    return CommonNodeShape(levels, slots)
