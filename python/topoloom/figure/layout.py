# SPDX-License-Identifier: BSD-3-Clause
"""Where the vertices of a machine stand on the page, by the drawing of its topology.

Each layout takes the table ``[topology]`` and the network, and returns an array
``(vertices, 2)``. Vertices are numbered as `Wiring` numbers them: routers in the order
of their coordinates; in switched networks nodes first, then the switches level by
level.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from topoloom.figure.links import Array
from topoloom.machines.topology_forms import drawing_of

if TYPE_CHECKING:
    from topoloom.figure.network import Network

DEPTH = np.array((0.42, 0.3))  # where a step away from the reader leads
ROW = 0.45  # between two rows, in widths of the page
NEAR = 0.3  # of the way from one to the next in a row; nearer ones are spread out
MAX_SPRINGS = 400  # vertices


def layout(topology: dict[str, Any], network: Network) -> Array:
    """Find where the vertices stand."""
    drawing, count = drawing_of(topology), len(network.nodes)
    size = topology.get("size", [])
    if drawing == "groups":
        return _groups(size[0], count)
    if drawing == "leaf_spine_groups":
        group = groups_of_leaves_and_spines(size)
        places = np.empty((count, 2))
        places[np.argsort(group, kind="stable")] = _groups(size[0], count)
        return places
    if drawing == "circle":
        return circle(count)
    if drawing == "cube":
        return _cube(topology["dimensions"])
    if size:
        closed = drawing == "rings" and topology.get("wrap", [True])[0]
        return circle(size[0]) if len(size) == 1 and closed else grid(size)
    if network.switched:
        return _rows(network)
    return _springs(network) if count <= MAX_SPRINGS else circle(count)


def groups_of_leaves_and_spines(size: list[int]) -> Array:
    """Give the group of each switch of a Dragonfly+: all leaves, then all spines."""
    groups, leaves, spines = size
    numbers = np.arange(groups)
    return np.concatenate([np.repeat(numbers, leaves), np.repeat(numbers, spines)])


def circle(count: int) -> Array:
    """Clockwise from the top."""
    angle = np.pi / 2 - 2 * np.pi * np.arange(count) / count
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)


def grid(size: list[int]) -> Array:
    """Place coordinates: the longest axis to the right, then up, then away.

    Further axes are drawn small, inside what the first three leave free.
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


def _cube(dimensions: int) -> Array:
    """Project a hypercube so that its outermost corners form a polygon.

    One of equal sides would put corners on each other.
    """
    axis = np.arange(dimensions)
    angle = np.pi * axis / dimensions
    view = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    view *= 1 + 0.02 * axis[:, None]
    corners = np.indices((2,) * dimensions).reshape(dimensions, -1).T - 0.5
    found: Array = corners @ view
    return found


def _groups(groups: int, vertices: int) -> Array:
    """Place groups on a circle, and the routers of each on a small one."""
    routers = vertices // groups
    centers = circle(groups)
    radius = min(0.42, 0.8 * np.sin(np.pi / max(groups, 2)))
    small = circle(routers) * radius if routers > 1 else np.zeros((1, 2))
    return np.asarray((centers[:, None, :] + small[None, :, :]).reshape(-1, 2))


def _rows(network: Network) -> Array:
    """Nodes in one row, each switch over the middle of what is attached to it."""
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
        if np.diff(middle[order]).min(initial=1.0) > NEAR / len(row):
            coordinates[row, 0] = middle
        else:
            coordinates[row[order], 0] = even
        coordinates[row, 1] = ROW * level
    return coordinates


def _springs(network: Network, rounds: int = 200) -> Array:
    """Pull joined vertices together and push all apart (Fruchterman, Reingold 1991)."""
    count = len(network.nodes)
    source, target = network.ends.T
    coordinates = circle(count)
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
