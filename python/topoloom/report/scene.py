# SPDX-License-Identifier: BSD-3-Clause
"""Computes 3-D positions of a machine's vertices, and finds wrap-around links.

Grids are placed by coordinates; steps along axes after the third are short. Switched
networks are placed by level, with nodes at the bottom. Other networks are placed on a
plane by `figure.layout`. Nodes with links to routers are placed around their routers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from topoloom._core import MachineText
from topoloom.figure.layout import place_on_circle, place_vertices
from topoloom.figure.network import DrawnNetwork, make_network
from topoloom.figure.parts import GRIDS
from topoloom.machines.topology_forms import get_drawing
from topoloom.machines.topology_keys import write_topology

if TYPE_CHECKING:
    from topoloom._core import Machine
    from topoloom.figure.links import Array

STORED = 65_535  # maximum coordinate after quantization
#: directions of a grid's axes, the longest first: x, y, z, then oblique directions
_AXIS_DIRECTIONS = np.array(
    [(1, 0, 0), (0, 1, 0), (0, 0, 1), (0.8, 0.55, 0.2), (-0.5, 0.8, 0.3), (0.5, 0.3, 1)]
)
MAX_IN_A_ROW = 24  # maximum number of lowest-level switches in one row


@dataclass(frozen=True)
class Scene:
    """The geometry of a machine on the page."""

    #: float array of shape (vertices, 3): x to the right, y up, z away from the reader.
    coordinates: Array
    flat: bool  # whether all vertices lie on one plane, which the page does not rotate
    #: int array of shape (vertices,): number of nodes attached to each vertex; 1 for a
    #: node, 0 for a switch.
    nodes: Array
    vertex: Array  # int array of shape (nodes,): the vertex of each node
    #: float array of shape (axes, 3): the vector of a step along each axis of a grid;
    #: empty for other networks.
    steps: Array


def make_scene(machine: Machine) -> Scene:
    """Compute the coordinates of every vertex. O(vertices + links)."""
    from topoloom._core import Wiring

    topology = write_topology(MachineText(machine.text))
    vertex = np.asarray(Wiring(machine).vertex, dtype=np.int64)
    network = make_network(machine, topology)
    steps = np.zeros((0, 3))
    shape = [int(extent) for extent in machine.shape]
    drawing = get_drawing(topology)
    if drawing in GRIDS and not _is_ring(machine, shape):
        steps = _compute_steps(shape)
        coordinates = np.indices(shape).reshape(len(shape), -1).T @ steps
    elif drawing in ("joined_axes", "cube"):
        coordinates = _bend_rows(shape)
    elif network.has_switches:
        coordinates = _place_levels(network)
    elif len(shape) == 1:
        coordinates = _project_to_plane(place_on_circle(len(network.nodes)))
    else:
        coordinates = _project_to_plane(place_vertices(topology, network))
    flat = bool(np.ptp(coordinates[:, 2]) == 0)
    nodes = network.nodes
    if machine.host_hops:
        coordinates = np.concatenate(
            [coordinates, _place_around_routers(coordinates, network, flat)]
        )
        nodes = np.arange(len(coordinates)) >= len(nodes)
    coordinates = coordinates - (coordinates.min(axis=0) + coordinates.max(axis=0)) / 2
    return Scene(coordinates, flat, nodes.astype(np.int64), vertex, steps)


def find_wrapping_links(scene: Scene, shape: list[int], ends: Array) -> Array:
    """Find the wrap-around links of a grid, which are drawn as two stubs.

    Parameters
    ----------
    ends : int array of shape ``(links, 2)``
        Vertices of each link.

    Returns
    -------
    int array of shape ``(links,)``
        0 for a link between neighbors. For a link that closes an axis, 1 + 2 * axis in
        the - direction, and 2 + 2 * axis in the + direction.
    """
    out = np.zeros(len(ends), dtype=np.uint8)
    if len(scene.steps) == 0 or len(ends) == 0:
        return out
    between = (ends < math.prod(shape)).all(axis=1)
    if not between.all():  # other links lead to nodes
        out[between] = find_wrapping_links(scene, shape, ends[between])
        return out
    at = np.array(np.unravel_index(ends, shape)).transpose(1, 2, 0)
    steps = at[:, 1] - at[:, 0]
    # On an axis of length 2, the second link between the same ends is the wrap-around.
    _, first, which = np.unique(ends, axis=0, return_index=True, return_inverse=True)
    closing = np.abs(steps).sum(axis=1) != 1
    closing |= first[which.reshape(-1)] != np.arange(len(ends))
    far = np.abs(steps) == np.array(shape) - 1
    axis = np.where(far.any(axis=1), far.argmax(axis=1), np.abs(steps).argmax(axis=1))
    upward = steps[np.arange(len(ends)), axis] < 0
    out[closing] = (1 + 2 * axis + upward)[closing]
    return out


def quantize(coordinates: Array) -> tuple[Array, float]:
    """Quantize coordinates to integers ``(3, vertices)``; also return the unit."""
    unit = max(float(np.abs(coordinates).max(initial=0)), 1e-9) * 2 / STORED
    numbers = np.round(coordinates.T / unit + STORED / 2)
    return np.ascontiguousarray(numbers.astype(np.uint16)), unit


def _is_ring(machine: Machine, shape: list[int]) -> bool:
    long = [axis for axis, extent in enumerate(shape) if extent > 1]
    return len(long) == 1 and bool(machine.wraps[long[0]]) and shape[long[0]] > 2


def _compute_steps(shape: list[int]) -> Array:
    """Return the vector of a step along each axis; the longest axis points right."""
    order = np.argsort([-extent for extent in shape], kind="stable").tolist()
    steps = np.zeros((len(shape), 3))
    length = 1.0
    for number, axis in enumerate(order):
        if number and number % 3 == 0:
            length *= 0.75 / max(shape[axis] - 1, 1)
        steps[axis] = length * _AXIS_DIRECTIONS[number % len(_AXIS_DIRECTIONS)]
    return steps


def _bend_rows(shape: list[int]) -> Array:
    """Bend the rows of a grid, so that long links do not cover shorter ones."""
    if max(shape) == 2:  # in a hypercube, all links have the same length
        return np.asarray(
            np.indices(shape).reshape(len(shape), -1).T @ _compute_steps(shape)
        )
    steps = _compute_steps(shape)
    at = np.indices(shape).reshape(len(shape), -1).T
    coordinates = np.asarray(at @ steps)
    for axis, extent in enumerate(shape):
        if extent > 2:
            across = 4 * at[:, axis] * (extent - 1 - at[:, axis]) / (extent - 1)
            side = np.roll(steps[axis], 1) + np.roll(steps[axis], 2)
            coordinates = coordinates + 0.12 * across[:, None] * side
    return coordinates


def _project_to_plane(coordinates: Array) -> Array:
    return np.column_stack([coordinates, np.zeros(len(coordinates))])


def _place_around_routers(routers: Array, network: DrawnNetwork, flat: bool) -> Array:
    """Place the nodes of each router on a circle around it, or below it in 3-D."""
    on_each = int(network.nodes.max())
    along = routers[network.ends[:, 0]] - routers[network.ends[:, 1]]
    radius = 0.25 * float(np.linalg.norm(along, axis=1).min(initial=4.0))
    x, y = place_on_circle(on_each).T
    if flat:
        offsets = np.stack([x, y, np.zeros(on_each)], axis=1)
    else:
        wide = 0.8 if on_each > 1 else 0.0
        offsets = np.stack([wide * x, np.full(on_each, -0.6), wide * y], axis=1)
    around: Array = routers[:, None, :] + radius * offsets[None, :, :]
    return around.reshape(-1, 3)


def _place_levels(network: DrawnNetwork) -> Array:
    """Place nodes in blocks below their switch, and switches above their neighbors."""
    height, count = network.height, len(network.nodes)
    source, target = np.concatenate([network.ends, network.ends[:, ::-1]]).T
    leaf = _find_lowest_switches(
        source, target, np.flatnonzero(height == 0), height, count
    )
    leaves, leaf = np.unique(leaf, return_inverse=True)
    columns = _choose_columns(leaves, source, target, height)
    cell, within = np.arange(len(leaves)), _number_members(leaf)
    centers = np.stack([cell % columns, cell // columns], axis=1).astype(float)
    several = columns < len(leaves)
    largest = int(np.bincount(leaf).max())
    side = math.ceil(math.sqrt(largest)) if several else largest
    offsets = np.stack([within % side, within // side], axis=1) - [
        (side - 1) / 2,
        (-(-largest // side) - 1) / 2,
    ]
    coordinates = np.zeros((count, 3))
    ground = np.flatnonzero(height == 0)
    coordinates[ground[:, None], [0, 2]] = centers[leaf] + 0.7 * offsets / side
    wide = max(columns, -(-len(leaves) // columns))
    storey = 0.42 * wide / np.ptp(height)
    for level in sorted(np.unique(height[height != 0]).tolist(), key=abs):
        _raise_switches(coordinates, network, level, storey, source, target)
    return coordinates


def _find_lowest_switches(
    source: Array, target: Array, nodes: Array, height: Array, count: int
) -> Array:
    """Find each node's switch: its first lowest neighbor, or else the node itself."""
    order = np.lexsort((target, height[target], source))
    kept = order[height[target][order] != 0]
    first = np.arange(count)
    found, index = np.unique(source[kept], return_index=True)
    first[found] = target[kept][index]
    return np.asarray(first[nodes])


def _choose_columns(leaves: Array, source: Array, target: Array, height: Array) -> int:
    """Choose the number of lowest-level switches per row: as many as share a parent."""
    if len(leaves) <= MAX_IN_A_ROW:
        return len(leaves)
    above = np.isin(source, leaves) & (height[target] > height[source])
    found, index = np.unique(source[above], return_index=True)
    _, pod = np.unique(target[above][index], return_counts=True)
    if len(found) == len(leaves) and len(pod) > 1:
        columns = int(pod.max())
        if 1 / 5 <= columns**2 / len(leaves) <= 5:
            return columns
    return math.ceil(math.sqrt(1.6 * len(leaves)))


def _number_members(group: Array) -> Array:
    """Assign the numbers 0, 1, ... to the members of each group."""
    order = np.argsort(group, kind="stable")
    sizes = np.bincount(group)
    first = np.cumsum(sizes) - sizes
    within = np.empty(len(group), dtype=np.int64)
    within[order] = np.arange(len(group)) - first[group[order]]
    return within


def _raise_switches(
    coordinates: Array,
    network: DrawnNetwork,
    level: int,
    storey: float,
    source: Array,
    target: Array,
) -> None:
    """Place the switches of a level above the center of their lower neighbors.

    Switches that have the same neighbors share the area above these neighbors.
    """
    height = network.height
    row = np.flatnonzero(height == level)
    nearer = (height[source] == level) & (np.abs(height[target]) < abs(level))
    low = np.full((len(height), 3), np.inf)
    high = np.full((len(height), 3), -np.inf)
    np.minimum.at(low, source[nearer], coordinates[target[nearer]])
    np.maximum.at(high, source[nearer], coordinates[target[nearer]])
    low, high = (np.where(np.isfinite(edge[row]), edge[row], 0) for edge in (low, high))
    box = np.round(np.concatenate([low, high], axis=1), 6)
    _, group = np.unique(box, axis=0, return_inverse=True)
    group = group.reshape(-1)
    number, size = _number_members(group), np.bincount(group)[group]
    wide, deep = (np.maximum(high - low, 0)[:, axis] for axis in (0, 2))
    ratio = (wide + 0.5) / (deep + 0.5)
    across = np.where(deep == 0, size, np.ceil(np.sqrt(size * ratio)).astype(int))
    across = np.where(wide == 0, np.where(deep == 0, size, 1), across)
    across = np.clip(across, 1, size)
    down = -(-size // across)
    middle = (low + high) / 2
    # A single switch is centered; several switches must be apart.
    reach = np.where(size > 1, 0.7, 0)
    x = ((number % across + 0.5) / across - 0.5) * np.maximum(wide, reach)
    z = ((number // across + 0.5) / down - 0.5) * np.where(down > 1, deep, 0)
    coordinates[row] = middle + np.stack([x, np.zeros(len(row)), z], axis=1)
    coordinates[row, 1] = storey * level
