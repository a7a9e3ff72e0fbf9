# SPDX-License-Identifier: BSD-3-Clause
"""Reference model of graphs given as a list of links."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from networks import LinkSpeed, ReferenceNetwork, Route, WireList, find_shortest_route


def make_listed_graph(
    nodes: int,
    links: dict[tuple[int, int], LinkSpeed],
    given: dict[tuple[int, int], list[int]],
    forward: bool,
) -> ReferenceNetwork:
    """Route as listed, or by a shortest route over the lowest neighbors."""
    wires = WireList()
    for u, v in sorted(links):
        wires.add(u, v, links[u, v])
    whole: ReferenceNetwork

    def route(a: int, b: int) -> Route:
        if (a, b) in given:
            return Counter({(u, v, 0): 1.0 for u, v in pairwise(given[a, b])})
        return find_shortest_route(whole, a, b, list(wires.speed))

    whole = ReferenceNetwork(
        list(range(nodes)),
        wires.speed,
        route,
        relays=lambda vertex: forward or vertex >= nodes,
    )
    return whole
