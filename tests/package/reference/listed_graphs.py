# SPDX-License-Identifier: BSD-3-Clause
"""Reference model of graphs given as a list of links."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from networks import Network, Route, Speed, WireList, find_shortest_route


def make_listed_graph(
    nodes: int,
    links: dict[tuple[int, int], Speed],
    given: dict[tuple[int, int], list[int]],
    forward: bool,
) -> Network:
    """Route as listed, or by a shortest route over the lowest neighbors."""
    wires = WireList()
    for u, v in sorted(links):
        wires.add(u, v, links[u, v])
    whole: Network

    def route(a: int, b: int) -> Route:
        if (a, b) in given:
            return Counter({(u, v, 0): 1.0 for u, v in pairwise(given[a, b])})
        return find_shortest_route(whole, a, b, list(wires.speed))

    whole = Network(
        list(range(nodes)),
        wires.speed,
        route,
        relays=lambda vertex: forward or vertex >= nodes,
    )
    return whole
