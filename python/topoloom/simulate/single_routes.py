# SPDX-License-Identifier: BSD-3-Clause
"""Chooses one route for each pair of ranks on machines that split messages.

Switches choose the route of a flow by a hash of its endpoints (ECMP), so flows are
spread over routes but never split. Here, a greedy choice spreads them evenly.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from topoloom._core import Machine

Pair = tuple[int, int]
Route = list[int]
_NEGLIGIBLE = 1e-9  # of a message


def choose_routes(
    machine: Machine, node_of_rank: Sequence[int], bytes_of: Mapping[Pair, float]
) -> dict[Pair, Route]:
    """Choose a route, as link ids, for each pair of ranks; empty inside a node.

    Pairs are assigned in descending order of bytes. Each gets the route with the lowest
    maximum link load, relative to the load with split messages.
    """
    nodes_of = {
        pair: (node_of_rank[pair[0]], node_of_rank[pair[1]]) for pair in bytes_of
    }
    routes = {nodes: machine.route(*nodes) for nodes in set(nodes_of.values())}
    one = {
        pair: [link for link, _ in routes[nodes]]
        for pair, nodes in nodes_of.items()
        if all(share == 1 for _, share in routes[nodes])
    }
    several = sorted(nodes_of.keys() - one.keys(), key=lambda p: (-bytes_of[p], p))
    meant: dict[int, float] = defaultdict(float)
    for pair in several:
        for link, share in routes[nodes_of[pair]]:
            meant[link] += share * max(1, bytes_of[pair])
    alternatives = {
        nodes: split_route(machine, routes[nodes])
        for nodes in {nodes_of[pair] for pair in several}
    }
    carried: dict[int, float] = defaultdict(float)
    for pair in several:
        size = max(1, bytes_of[pair])

        def fullest(way: Route, size: float = size) -> float:
            return max((carried[link] + size) / meant[link] for link in way)

        one[pair] = min(alternatives[nodes_of[pair]], key=fullest)
        for link in one[pair]:
            carried[link] += size
    return one


def split_route(machine: Machine, route: list[tuple[int, float]]) -> list[Route]:
    """Decompose a split route into single routes."""
    left: dict[int, float] = defaultdict(float)
    surplus: dict[int, float] = defaultdict(float)
    leaving: dict[int, list[int]] = defaultdict(list)
    for link, share in route:
        source, target = machine.link_ends(link)
        if link not in left:
            leaving[source].append(link)
        left[link] += share
        surplus[source] += share
        surplus[target] -= share
    begin = max(surplus, key=surplus.__getitem__)
    end = min(surplus, key=surplus.__getitem__)
    found: list[Route] = []
    while way := _follow_largest(machine, left, leaving, begin, end):
        _subtract_share(left, way)
        found.append(way)
    return found


def _follow_largest(
    machine: Machine,
    left: dict[int, float],
    leaving: Mapping[int, list[int]],
    begin: int,
    end: int,
) -> Route:
    """Follow the largest remaining shares; remove cycles."""
    way: Route = []
    here, links_before = begin, {begin: 0}
    while here != end:
        on = [link for link in leaving[here] if left[link] > _NEGLIGIBLE]
        if not on:
            return []
        way.append(max(on, key=left.__getitem__))
        here = machine.link_ends(way[-1])[1]
        if here in links_before:
            cycle = way[links_before[here] :]
            _subtract_share(left, cycle)
            return _follow_largest(machine, left, leaving, begin, end)
        links_before[here] = len(way)
    return way


def _subtract_share(left: dict[int, float], links: Route) -> None:
    share = min(left[link] for link in links)
    for link in links:
        left[link] -= share
