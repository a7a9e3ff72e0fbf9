# SPDX-License-Identifier: BSD-3-Clause
"""Reference model of dragonflies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from networks import (
    LinkSpeed,
    ReferenceNetwork,
    Route,
    Wire,
    WireList,
    concatenate,
    route_along,
    split_evenly,
)


def make_dragonfly(
    groups: int,
    rows: int,
    columns: int,
    ports: int,
    arrangement: str,
    routing: str,
    speed: Sequence[LinkSpeed],
) -> ReferenceNetwork:
    """Join routers in rows and columns, and groups by global links.

    `speed` has the speeds of links in rows, in columns, and between groups. A minimal
    route between groups uses one global link; all shortest routes have equal shares.
    """
    routers = rows * columns
    wires = WireList()
    for u in range(groups * routers):
        for v in range(u // routers * routers, (u // routers + 1) * routers):
            same_row = u % routers // columns == v % routers // columns
            if u != v and (same_row or (u - v) % columns == 0):
                wires.add(u, v, speed[0 if same_row else 1])

    # Pair of groups -> router in the first group for each link between the groups.
    exits: dict[tuple[int, int], list[int]] = {}
    each = routers * ports // max(1, groups - 1)
    for g in range(groups):
        for t in set(range(groups)) - {g}:
            if arrangement == "consecutive":
                leads = [t - (t > g) + n * (groups - 1) for n in range(each)]
            elif arrangement == "palmtree":
                leads = [(g - t - 1) % groups + n * (groups - 1) for n in range(each)]
            else:
                leads = [t]
            exits[g, t] = [g * routers + port // ports for port in leads]
    cables: dict[tuple[int, int], list[Wire]] = {}
    for (g, t), leaving in exits.items():
        both = zip(leaving, exits[t, g], strict=True)
        cables[g, t] = [wires.add(u, v, speed[2]) for u, v in both]

    def route_inside(a: int, b: int) -> Route:
        """Route along the row first, then along the column."""
        corner = a - a % columns + b % columns
        return route_along(*dict.fromkeys([a, corner, b]))

    def select_shortest(ways: list[Route]) -> list[Route]:
        least = min(way.total() for way in ways)
        return [way for way in ways if way.total() == least]

    def route_minimally(a: int, b: int) -> Route:
        if a // routers == b // routers:
            return route_inside(a, b)
        links = cables[a // routers, b // routers]
        return split_evenly(
            select_shortest(
                [
                    concatenate(
                        route_inside(a, u),
                        Counter({(u, v, k): 1.0}),
                        route_inside(v, b),
                    )
                    for u, v, k in links
                ]
            )
        )

    def route_by_valiant(a: int, b: int) -> Route:
        """Route minimally to each other group, and minimally from there to b."""
        home, end = a // routers, b // routers
        thirds = [g for g in range(groups) if g not in (home, end)]
        if home == end or not thirds:
            return route_minimally(a, b)
        routes = []
        for third in thirds:
            least = min(route_inside(a, u).total() for u, _, _ in cables[home, third])
            routes.append(
                split_evenly(
                    concatenate(
                        route_inside(a, u),
                        Counter({(u, v, k): 1.0}),
                        route_minimally(v, b),
                    )
                    for u, v, k in cables[home, third]
                    if route_inside(a, u).total() == least
                )
            )
        return split_evenly(routes)

    return ReferenceNetwork(
        list(range(groups * routers)),
        wires.speed,
        route_by_valiant if routing == "valiant" else route_minimally,
        route_by_valiant if routing == "ugal" else None,
        route_minimally,
    )
