# SPDX-License-Identifier: BSD-3-Clause
"""Reference models of trees and fat trees."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import prod

from networks import LinkSpeed, ReferenceNetwork, Route, WireList, split_evenly


def make_tree(
    levels: Sequence[int], speed: Sequence[LinkSpeed], distances: Sequence[int] = ()
) -> ReferenceNetwork:
    """Route up to the lowest common group of both nodes, and down.

    Vertices are the nodes, then the groups level by level. An entry of `distances`
    applies to two nodes whose lowest common group is at its level.
    """
    ones = [1] * len(levels)
    network = make_fat_tree(levels, ones, ones, "d-mod-k", speed)
    if not distances:
        return network
    return network._replace(apart=lambda a, b: get_distance(levels, distances, a, b))


def get_distance(
    levels: Sequence[int], distances: Sequence[int], a: int, b: int
) -> int:
    """Return the distance for the lowest level at which both are in one group."""
    if a == b:
        return 0
    size = 1
    for count, distance in zip(levels, distances, strict=True):
        size *= count
        if a // size == b // size:
            return distance
    raise AssertionError("no group holds both")


def make_fat_tree(
    levels: Sequence[int],
    up: Sequence[int],
    parallel: Sequence[int],
    routing: str,
    speed: Sequence[LinkSpeed],
) -> ReferenceNetwork:
    """Build Zahavi's parallel ports generalized fat tree.

    Vertices are the nodes, then the switches level by level, subtree by subtree. Root
    r of a subtree with W roots is connected to roots r, r + W, r + 2 W, ... of its
    parent.
    """
    nodes = prod(levels)
    roots = [prod(up[:level]) for level in range(len(levels) + 1)]
    below = [prod(levels[:level]) for level in range(len(levels) + 1)]
    first = [0]
    for level in range(len(levels)):
        first.append(first[-1] + nodes // below[level] * roots[level])

    def get_switch(level: int, leaf: int, root: int) -> int:
        return first[level] + leaf // below[level] * roots[level] + root

    wires = WireList()
    for level in range(len(levels)):
        for leaf in range(0, nodes, below[level]):
            for root in range(roots[level]):
                for _ in range(parallel[level]):
                    for parent in range(up[level]):
                        wires.add_cable(
                            get_switch(level, leaf, root),
                            get_switch(level + 1, leaf, root + parent * roots[level]),
                            speed[level],
                        )

    def route_by_number(a: int, b: int, node_number: int) -> Route:
        """Route by port numbers: port q is cable q // up to parent q mod up."""
        taken: Route = Counter()
        cables = []
        top = next(lv for lv in range(len(below)) if a // below[lv] == b // below[lv])
        for level in range(top):
            port = node_number // roots[level] % (up[level] * parallel[level])
            cables.append(port // up[level])
        down = search_cables(a, b, top) if routing == "simgrid" else cables
        for level in range(top):
            here, above = node_number % roots[level], node_number % roots[level + 1]
            low = get_switch(level, a, here), get_switch(level + 1, a, above)
            taken[(*low, cables[level])] += 1
            high = get_switch(level + 1, b, above), get_switch(level, b, here)
            taken[(*high, down[level])] += 1
        return taken

    def search_cables(a: int, b: int, top_level: int) -> list[int]:
        """Search the ports of each switch on the way down, as SimGrid does.

        Port c * children + i is cable c to child i. The first search starts at the
        cable given by the source's number; later searches start after the port found
        before. If no port remains, the search restarts.
        """
        cables = [0] * top_level
        begin: int | None = None
        for level in reversed(range(top_level)):
            children, child = levels[level], b // below[level] % levels[level]
            anew = a % parallel[level] * children
            ports = range(children * parallel[level])
            at = [p for p in ports if p % children == child]
            start = anew if begin is None else begin
            port = next((p for p in at if p >= start), None)
            if port is None:
                port = next(p for p in at if p >= anew)
            cables[level] = port // children
            begin = port + 1
        return cables

    def route(a: int, b: int) -> Route:
        if routing == "random":
            # Each route up belongs to one node number in source-based routing.
            ways = roots[-1] * prod(parallel)
            return split_evenly(route_by_number(a, b, number) for number in range(ways))
        return route_by_number(a, b, a if routing == "s-mod-k" else b)

    return ReferenceNetwork(
        list(range(nodes)), wires.speed, route, relays=lambda vertex: vertex >= nodes
    )
