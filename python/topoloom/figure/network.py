# SPDX-License-Identifier: BSD-3-Clause
"""A machine as vertices and lines to draw; what is crowded is folded into parts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from topoloom._core import Wiring
from topoloom.figure.links import Array
from topoloom.machines.topology_forms import drawing_of

if TYPE_CHECKING:
    from topoloom._core import Machine


@dataclass(frozen=True)
class Network:
    """Routers, switches or nodes, and the lines between them.

    Attributes
    ----------
    nodes : int array of shape ``(vertices,)``
        How many nodes are attached to each vertex, or are it.
    height : int array of shape ``(vertices,)``
        Lines to the nearest node; less than 0 where NVLink switches are below it.
    ends : int array of shape ``(lines, 2)``
        Both ends of each line, the lower first.
    bandwidth : array of shape ``(lines,)``
        Of the widest link of each line, one way.
    cables : int array of shape ``(lines,)``
        How many a line stands for; the two directions are one cable.
    """

    nodes: Array
    height: Array
    ends: Array
    bandwidth: Array
    cables: Array

    @property
    def switched(self) -> bool:
        """Whether there are vertices that nodes are only behind."""
        return bool((self.nodes == 0).any())


def network_of(machine: Machine, topology: dict[str, Any]) -> Network:
    """Join the links of a machine that are up and lead between the same vertices.

    Nodes that are attached to routers are drawn as part of these.
    """
    wiring = Wiring(machine)
    home = homes(machine, wiring.vertex_count, topology)
    links = home[np.stack([wiring.link_from, wiring.link_to], axis=1)]
    between = links[:, 0] != links[:, 1]
    links = links[between]
    nodes = np.bincount(home[wiring.vertex], minlength=int(home.max()) + 1)
    ends, bandwidth, count = _joined(
        links, wiring.bandwidth[between], np.ones(len(links))
    )
    height = _heights(nodes, links)
    if drawing_of(topology) == "gpu_domains":  # NVLink switches are below the GPUs
        gpus, domains, units = topology["levels"]
        first = gpus * domains * units
        height[first : first + domains * units] = -1
    return Network(nodes, height, ends, bandwidth, -(-count // 2))


def homes(machine: Machine, vertices: int, topology: dict[str, Any]) -> Array:
    """Find the router of each vertex if nodes have links to routers, else itself.

    Routers are the first vertices, the nodes of each follow in the order of routers;
    spines of a Dragonfly+, which are the last routers, have none.
    """
    if not machine.host_hops:
        return np.arange(vertices)
    routers = vertices - machine.node_count
    has_spines = drawing_of(topology) == "leaf_spine_groups"
    with_nodes = math.prod(topology["size"][:2]) if has_spines else routers
    on_each = machine.node_count // with_nodes
    return np.concatenate(
        [np.arange(routers), np.arange(machine.node_count) // on_each]
    )


def folded(network: Network, part: Array) -> Network:
    """Draw each part as one vertex, and all cables between two of them as one line."""
    ends = part[network.ends]
    between = ends[:, 0] != ends[:, 1]
    lines = _joined(ends[between], network.bandwidth[between], network.cables[between])
    height = np.zeros(int(part.max()) + 1, dtype=np.int64)
    np.maximum.at(height, part, network.height)
    nodes = np.bincount(part, weights=network.nodes).astype(np.int64)
    # What is folded has nodes, and is level with them.
    return Network(nodes, np.where(nodes > 0, 0, np.sign(height)), *lines)


def within(network: Network, chosen: Array) -> Network:
    """Keep the chosen vertices, a mask, and the lines between them."""
    number = np.cumsum(chosen) - 1
    lines = chosen[network.ends].all(axis=1)
    return Network(
        network.nodes[chosen],
        network.height[chosen],
        number[network.ends[lines]],
        network.bandwidth[lines],
        network.cables[lines],
    )


def _joined(ends: Array, bandwidth: Array, count: Array) -> tuple[Array, Array, Array]:
    """Make one line of all that have the same two ends."""
    lines, line = np.unique(np.sort(ends, axis=1), axis=0, return_inverse=True)
    line = line.reshape(-1)
    widest = np.zeros(len(lines))
    np.maximum.at(widest, line, bandwidth)
    return lines, widest, np.bincount(line, count, len(lines)).astype(np.int64)


def _heights(nodes: Array, links: Array) -> Array:
    """Count for each vertex the links from the nearest node."""
    height = np.where(nodes > 0, 0, -1)
    source, target = links.T
    for level in range(len(nodes)):
        reached = (height[source] == level) & (height[target] < 0)
        if not reached.any():
            break
        height[target[reached]] = level + 1
    return np.asarray(np.maximum(height, 0))
