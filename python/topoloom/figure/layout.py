# SPDX-License-Identifier: BSD-3-Clause
"""Computes layouts of a machine's vertices by the kind of topology.

Layouts return an array ``(vertices, 2)`` in the order of `Wiring`: routers in the order
of coordinates; in switched networks, nodes, then switches level by level.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from topoloom.figure.links import Array
from topoloom.machines.topology_forms import get_drawing

if TYPE_CHECKING:
    from topoloom.figure.network import DrawnNetwork

DEPTH = np.array((0.42, 0.3))  # step along the depth axis, as a vector on the page
ROW = 0.45  # distance between rows, in page widths
MIN_GAP = 0.3  # minimal distance between vertices of a row, relative to the average
MAX_SPRING_VERTICES = 400  # vertices


def place_vertices(topology: dict[str, Any], network: DrawnNetwork) -> Array:
    """Place the vertices with the layout function of the topology."""
    drawing, count = get_drawing(topology), len(network.nodes)
    size = topology.get("size", [])
    if drawing == "groups":
        return _place_groups(size[0], count)
    if drawing == "leaf_spine_groups":
        group = number_leaf_spine_groups(size)
        places = np.empty((count, 2))
        places[np.argsort(group, kind="stable")] = _place_groups(size[0], count)
        return places
    if drawing == "circle":
        return place_on_circle(count)
    if drawing == "cube":
        return _place_hypercube(topology["dimensions"])
    if size:
        closed = drawing == "rings" and topology.get("wrap", [True])[0]
        return (
            place_on_circle(size[0])
            if len(size) == 1 and closed
            else place_on_grid(size)
        )
    if network.has_switches:
        return _place_levels(network)
    return (
        _place_by_springs(network)
        if count <= MAX_SPRING_VERTICES
        else place_on_circle(count)
    )


def number_leaf_spine_groups(size: list[int]) -> Array:
    """Return the group of each switch of a Dragonfly+: all leaves, then all spines."""
    groups, leaves, spines = size
    numbers = np.arange(groups)
    return np.concatenate([np.repeat(numbers, leaves), np.repeat(numbers, spines)])


def place_on_circle(count: int) -> Array:
    """Place vertices on a circle, clockwise from the top."""
    angle = np.pi / 2 - 2 * np.pi * np.arange(count) / count
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)


def place_on_grid(size: list[int]) -> Array:
    """Place a grid: axes lead right, up and into depth, the longest axis first.

    Steps along further axes are short, so that they fit into gaps of the first three.
    """
    order = np.argsort([-extent for extent in size], kind="stable")
    view = np.zeros((len(size), 2))
    step = 1.0
    for number, axis in enumerate(order):
        if number and number % 3 == 0:
            step /= size[axis] + 2.0
        ways = (np.array((1.0, 0.0)), np.array((0.0, 1.0)), DEPTH)
        view[axis] = step * ways[number % 3]
    coordinates = np.indices(size).reshape(len(size), -1).T
    found: Array = coordinates @ view
    return found


def _place_hypercube(dimensions: int) -> Array:
    """Project a hypercube so that its outermost corners form a polygon.

    The polygon is not quite regular: otherwise, inner corners would coincide.
    """
    axis = np.arange(dimensions)
    angle = np.pi * axis / dimensions
    view = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    view *= 1 + 0.02 * axis[:, None]
    corners = np.indices((2,) * dimensions).reshape(dimensions, -1).T - 0.5
    found: Array = corners @ view
    return found


def _place_groups(groups: int, vertices: int) -> Array:
    """Place groups on a circle, and the routers of each group on a small circle."""
    routers = vertices // groups
    centers = place_on_circle(groups)
    radius = min(0.42, 0.8 * np.sin(np.pi / max(groups, 2)))
    small = place_on_circle(routers) * radius if routers > 1 else np.zeros((1, 2))
    return np.asarray((centers[:, None, :] + small[None, :, :]).reshape(-1, 2))


def _place_levels(network: DrawnNetwork) -> Array:
    """Place nodes in a row, and each switch above the center of its lower neighbors."""
    height, count = network.height, len(network.nodes)
    source, target = np.concatenate([network.ends, network.ends[:, ::-1]]).T
    coordinates = np.zeros((count, 2))
    for level in sorted(np.unique(height).tolist(), key=abs):
        row = np.flatnonzero(height == level)
        even = (np.arange(len(row)) + 0.5) / len(row)
        middle = even
        if level:
            nearer = (height[source] == level) & (np.abs(height[target]) < abs(level))
            number = np.bincount(source[nearer], minlength=count)
            total = np.bincount(source[nearer], coordinates[target[nearer], 0], count)
            middle = total[row] / np.maximum(number[row], 1)
        order = np.argsort(middle, kind="stable")
        if np.diff(middle[order]).min(initial=1.0) > MIN_GAP / len(row):
            coordinates[row, 0] = middle
        else:
            coordinates[row[order], 0] = even
        coordinates[row, 1] = ROW * level
    return coordinates


def _place_by_springs(network: DrawnNetwork, rounds: int = 200) -> Array:
    """Place vertices by spring forces (Fruchterman and Reingold 1991)."""
    count = len(network.nodes)
    source, target = network.ends.T
    coordinates = place_on_circle(count)
    apart = 1.8 / np.sqrt(max(count, 1))
    for heat in np.linspace(0.2, 0.005, rounds):
        between = coordinates[:, None, :] - coordinates[None, :, :]
        squared = np.maximum((between**2).sum(axis=2), 1e-6)
        force = (between * (apart**2 / squared)[:, :, None]).sum(axis=1)
        pull = coordinates[target] - coordinates[source]
        pull *= np.linalg.norm(pull, axis=1, keepdims=True) / apart
        np.add.at(force, source, pull)
        np.subtract.at(force, target, pull)
        length = np.maximum(np.linalg.norm(force, axis=1, keepdims=True), 1e-9)
        coordinates = coordinates + force / length * np.minimum(length, heat)
    centered: Array = coordinates - coordinates.mean(axis=0)
    return centered
