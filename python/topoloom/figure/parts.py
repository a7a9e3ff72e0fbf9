# SPDX-License-Identifier: BSD-3-Clause
"""Divides a machine that has too many lines for one picture into similar parts.

Parts are the groups of a dragonfly, the planes of a HyperX, or the subtrees below the
highest switches of a tree. In a torus, a part has equal coordinates on the three
longest axes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from topoloom.figure.layout import number_leaf_spine_groups
from topoloom.figure.links import Array
from topoloom.figure.network import DrawnNetwork
from topoloom.machines.topology_forms import get_drawing

#: kinds of drawings in which a large grid is shown only by its faces
GRIDS = ("grid", "rings")


@dataclass(frozen=True)
class DrawnParts:
    """A division of a machine into parts."""

    name: str  # noun for a part, such as "group"
    #: int array of shape (vertices,): the part of each vertex; a switch above all parts
    #: is a separate part.
    part: Array
    #: `whole`, `inside`: the topology of parts, and the topology within one part, as
    #: ``[topology]``.
    whole: dict[str, Any]
    inside: dict[str, Any]


def find_parts(topology: dict[str, Any], network: DrawnNetwork) -> DrawnParts | None:
    """Find the parts; None unless at least two parts have several vertices."""
    found = _divide_into_parts(topology, network)
    if found is None or (np.bincount(found.part) > 1).sum() < 2:
        return None
    return found


def _divide_into_parts(
    topology: dict[str, Any], network: DrawnNetwork
) -> DrawnParts | None:
    drawing, size = get_drawing(topology), topology.get("size", [])
    vertex = np.arange(len(network.nodes))
    if drawing == "leaf_spine_groups":
        part = number_leaf_spine_groups(size)
        group = {"drawing": drawing, "size": [1, *size[1:]]}
        return DrawnParts("group", part, _describe_complete_axes(size[:1]), group)
    if drawing in ("groups", "joined_axes") and len(size) > 1:
        name = "group" if drawing == "groups" else "plane"
        part = vertex // int(np.prod(size[1:]))
        return DrawnParts(
            name,
            part,
            _describe_complete_axes(size[:1]),
            _describe_complete_axes(size[1:]),
        )
    if drawing == "cube":
        inner = topology["dimensions"] // 2
        outer = topology["dimensions"] - inner
        tables = [{"drawing": drawing, "dimensions": d} for d in (outer, inner)]
        return DrawnParts("cube", vertex >> inner, tables[0], tables[1])
    if drawing in GRIDS and len(size) > 3:
        order = np.argsort([-extent for extent in size], kind="stable").tolist()
        axes, others = sorted(order[:3]), sorted(order[3:])
        at = np.unravel_index(vertex, size)
        long = [size[axis] for axis in axes]
        part = np.ravel_multi_index([at[axis] for axis in axes], long)
        short = [size[axis] for axis in others]
        tables = [{"drawing": drawing, "size": extents} for extents in (long, short)]
        return DrawnParts("point", part, tables[0], tables[1])
    if network.has_switches:
        name = "branch"
        if drawing == "gpu_domains":
            name = "unit" if network.height.max() > 1 else "domain"
        return DrawnParts(name, _number_subtrees(network), topology, topology)
    return None


def _describe_complete_axes(size: list[int]) -> dict[str, Any]:
    """Describe the topology of routers that are fully connected along each axis."""
    if len(size) == 1:
        return {"drawing": "circle"}
    return {"drawing": "joined_axes", "size": size}


def _number_subtrees(network: DrawnNetwork) -> Array:
    """Assign numbers to the highest switches, and to the components below them."""
    top = network.height == network.height.max()
    ends = network.ends[~top[network.ends].any(axis=1)]
    label = np.arange(len(top))
    while True:
        lower = label[ends].min(axis=1)
        if (label[ends] == lower[:, None]).all():
            break
        np.minimum.at(label, ends[:, 0], lower)
        np.minimum.at(label, ends[:, 1], lower)
    return np.asarray(np.unique(label, return_inverse=True)[1].reshape(-1))
