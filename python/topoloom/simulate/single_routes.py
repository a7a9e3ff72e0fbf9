# SPDX-License-Identifier: BSD-3-Clause
"""Chooses one route for each pair of ranks on machines that split messages.

Switches choose the route of a flow by a hash of its endpoints (ECMP), so flows are
spread over routes but never split. Here, a greedy algorithm spreads them evenly.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from topoloom._core import Machine

Pair = tuple[int, int]
Route = list[int]
_NEGLIGIBLE = 1e-9  # of a message


def choose_routes(
    machine: Machine, node_of_rank: Sequence[int], bytes_by_pair: Mapping[Pair, float]
) -> dict[Pair, Route]:
    """Choose a route for each pair of ranks, as link ids; empty inside a node.

    Pairs are assigned in descending order of bytes. Each gets the route whose most
    loaded link has the lowest load, relative to the link's load with split messages.
    """
    nodes_of = {
        pair: (node_of_rank[pair[0]], node_of_rank[pair[1]]) for pair in bytes_by_pair
    }
    routes = {nodes: machine.route(*nodes) for nodes in set(nodes_of.values())}
    single_routes = {
        pair: [link for link, _ in routes[nodes]]
        for pair, nodes in nodes_of.items()
        if all(share == 1 for _, share in routes[nodes])
    }
    several = sorted(
        nodes_of.keys() - single_routes.keys(), key=lambda p: (-bytes_by_pair[p], p)
    )
    split_load: dict[int, float] = defaultdict(float)
    for pair in several:
        for link, share in routes[nodes_of[pair]]:
            split_load[link] += share * max(1, bytes_by_pair[pair])
    alternatives = {
        nodes: split_route(machine, routes[nodes])
        for nodes in {nodes_of[pair] for pair in several}
    }
    carried: dict[int, float] = defaultdict(float)
    for pair in several:
        size = max(1, bytes_by_pair[pair])

        def find_max_load(route_links: Route, size: float = size) -> float:
            return max(
                (carried[link] + size) / split_load[link] for link in route_links
            )

        single_routes[pair] = min(alternatives[nodes_of[pair]], key=find_max_load)
        for link in single_routes[pair]:
            carried[link] += size
    return single_routes


def split_route(machine: Machine, route: list[tuple[int, float]]) -> list[Route]:
    """Decompose a pair's split route into single routes."""
    remaining: dict[int, float] = defaultdict(float)
    surplus: dict[int, float] = defaultdict(float)
    outgoing: dict[int, list[int]] = defaultdict(list)
    for link, share in route:
        source, target = machine.link_ends(link)
        if link not in remaining:
            outgoing[source].append(link)
        remaining[link] += share
        surplus[source] += share
        surplus[target] -= share
    begin = max(surplus, key=surplus.__getitem__)
    end = min(surplus, key=surplus.__getitem__)
    found: list[Route] = []
    while route_links := _follow_largest(machine, remaining, outgoing, begin, end):
        _subtract_share(remaining, route_links)
        found.append(route_links)
    return found


def _follow_largest(
    machine: Machine,
    remaining: dict[int, float],
    outgoing: Mapping[int, list[int]],
    begin: int,
    end: int,
) -> Route:
    """Follow the links with the largest remaining shares; remove cycles."""
    route_links: Route = []
    here, links_before = begin, {begin: 0}
    while here != end:
        on = [link for link in outgoing[here] if remaining[link] > _NEGLIGIBLE]
        if not on:
            return []
        route_links.append(max(on, key=remaining.__getitem__))
        here = machine.link_ends(route_links[-1])[1]
        if here in links_before:
            cycle = route_links[links_before[here] :]
            _subtract_share(remaining, cycle)
            return _follow_largest(machine, remaining, outgoing, begin, end)
        links_before[here] = len(route_links)
    return route_links


def _subtract_share(remaining: dict[int, float], links: Route) -> None:
    share = min(remaining[link] for link in links)
    for link in links:
        remaining[link] -= share
