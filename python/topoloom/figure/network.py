# SPDX-License-Identifier: BSD-3-Clause
"""Converts a machine to vertices and lines for drawing; merges parts to vertices."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from topoloom._core import Wiring
from topoloom.figure.links import Array
from topoloom.machines.topology_forms import get_drawing

if TYPE_CHECKING:
    from topoloom._core import Machine


@dataclass(frozen=True)
class DrawnNetwork:
    """Vertices (routers, switches or nodes), and the lines between them."""

    #: int array of shape (vertices,): number of nodes attached to each vertex; 1 for a
    #: node.
    nodes: Array
    #: int array of shape (vertices,): number of lines to the nearest node; negative for
    #: NVLink switches, which are drawn below the nodes.
    height: Array
    #: int array of shape (lines, 2): both vertices of each line, the lower first.
    ends: Array
    #: array of shape (lines,): bandwidth of the fastest link of each line, in one
    #: direction.
    bandwidth: Array
    #: int array of shape (lines,): number of cables; the two directions share a cable.
    cables: Array

    @property
    def has_switches(self) -> bool:
        """Whether some vertices are switches without nodes."""
        return bool((self.nodes == 0).any())


def make_network(machine: Machine, topology: dict[str, Any]) -> DrawnNetwork:
    """Make the network of a machine's working links; parallel links are merged.

    Nodes attached to routers are part of the router's vertex.
    """
    wiring = Wiring(machine)
    home = find_routers(machine, wiring.vertex_count, topology)
    links = home[np.stack([wiring.link_from, wiring.link_to], axis=1)]
    between = links[:, 0] != links[:, 1]
    links = links[between]
    nodes = np.bincount(home[wiring.vertex], minlength=int(home.max()) + 1)
    ends, bandwidth, count = _merge_lines(
        links, wiring.bandwidth[between], np.ones(len(links))
    )
    height = _count_heights(nodes, links)
    if get_drawing(topology) == "gpu_domains":  # NVLink switches below GPUs
        gpus, domains, units = topology["levels"]
        first = gpus * domains * units
        height[first : first + domains * units] = -1
    return DrawnNetwork(nodes, height, ends, bandwidth, -(-count // 2))


def find_routers(machine: Machine, vertices: int, topology: dict[str, Any]) -> Array:
    """Return each vertex's router, or the vertex if nodes have no links to routers.

    Routers are numbered first, then nodes in router order. Spines of a Dragonfly+, the
    last routers, have no nodes.
    """
    if not machine.host_hops:
        return np.arange(vertices)
    routers = vertices - machine.node_count
    has_spines = get_drawing(topology) == "leaf_spine_groups"
    with_nodes = math.prod(topology["size"][:2]) if has_spines else routers
    on_each = machine.node_count // with_nodes
    return np.concatenate(
        [np.arange(routers), np.arange(machine.node_count) // on_each]
    )


def fold_parts(network: DrawnNetwork, part: Array) -> DrawnNetwork:
    """Replace each part by a vertex, and all cables between two parts by a line."""
    ends = part[network.ends]
    between = ends[:, 0] != ends[:, 1]
    lines = _merge_lines(
        ends[between], network.bandwidth[between], network.cables[between]
    )
    height = np.zeros(int(part.max()) + 1, dtype=np.int64)
    np.maximum.at(height, part, network.height)
    nodes = np.bincount(part, weights=network.nodes).astype(np.int64)
    # Parts with nodes have height 0, like nodes.
    return DrawnNetwork(nodes, np.where(nodes > 0, 0, np.sign(height)), *lines)


def select_vertices(network: DrawnNetwork, chosen: Array) -> DrawnNetwork:
    """Return the network of the masked vertices and of the lines between them."""
    number = np.cumsum(chosen) - 1
    lines = chosen[network.ends].all(axis=1)
    return DrawnNetwork(
        network.nodes[chosen],
        network.height[chosen],
        number[network.ends[lines]],
        network.bandwidth[lines],
        network.cables[lines],
    )


def _merge_lines(
    ends: Array, bandwidth: Array, count: Array
) -> tuple[Array, Array, Array]:
    """Merge lines that have the same ends."""
    lines, line = np.unique(np.sort(ends, axis=1), axis=0, return_inverse=True)
    line = line.reshape(-1)
    widest = np.zeros(len(lines))
    np.maximum.at(widest, line, bandwidth)
    return lines, widest, np.bincount(line, count, len(lines)).astype(np.int64)


def _count_heights(nodes: Array, links: Array) -> Array:
    """Compute the number of links from each vertex to the nearest node."""
    height = np.where(nodes > 0, 0, -1)
    source, target = links.T
    for level in range(len(nodes)):
        reached = (height[source] == level) & (height[target] < 0)
        if not reached.any():
            break
        height[target[reached]] = level + 1
    return np.asarray(np.maximum(height, 0))
