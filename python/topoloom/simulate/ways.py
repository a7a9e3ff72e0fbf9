# SPDX-License-Identifier: BSD-3-Clause
"""One route for each pair of ranks, where a machine splits messages over several.

Switches choose the route of a flow by a hash of its ends (ECMP), so that flows spread
over the routes and none is split. Here they spread as evenly as choosing one by one
permits.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from topoloom._core import Machine

Pair = tuple[int, int]
Way = list[int]
_NOTHING = 1e-9  # of a message


def one_way_each(
    machine: Machine, node_of_rank: Sequence[int], bytes_of: Mapping[Pair, float]
) -> dict[Pair, Way]:
    """Choose a route, the ids of its links, for each pair of ranks; none inside a node.

    Those that send the most choose first, each the route whose fullest link is the
    least full beside what it carries where all messages are split.
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
    there_are = {
        nodes: ways(machine, routes[nodes])
        for nodes in {nodes_of[pair] for pair in several}
    }
    carried: dict[int, float] = defaultdict(float)
    for pair in several:
        size = max(1, bytes_of[pair])

        def fullest(way: Way, size: float = size) -> float:
            return max((carried[link] + size) / meant[link] for link in way)

        one[pair] = min(there_are[nodes_of[pair]], key=fullest)
        for link in one[pair]:
            carried[link] += size
    return one


def ways(machine: Machine, route: list[tuple[int, float]]) -> list[Way]:
    """Take a split route apart into single routes from its beginning to its end."""
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
    found: list[Way] = []
    while way := _walk(machine, left, leaving, begin, end):
        _take(left, way)
        found.append(way)
    return found


def _walk(
    machine: Machine,
    left: dict[int, float],
    leaving: Mapping[int, list[int]],
    begin: int,
    end: int,
) -> Way:
    """Follow the largest shares that are left; cycles on it are dropped."""
    way: Way = []
    here, links_before = begin, {begin: 0}
    while here != end:
        on = [link for link in leaving[here] if left[link] > _NOTHING]
        if not on:
            return []
        way.append(max(on, key=left.__getitem__))
        here = machine.link_ends(way[-1])[1]
        if here in links_before:
            circle = way[links_before[here] :]
            _take(left, circle)
            return _walk(machine, left, leaving, begin, end)
        links_before[here] = len(way)
    return way


def _take(left: dict[int, float], links: Way) -> None:
    share = min(left[link] for link in links)
    for link in links:
        left[link] -= share
