# SPDX-License-Identifier: BSD-3-Clause
"""Reference model of dragonflies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from networks import Network, Route, Speed, Wire, Wires, along, joined, mixed


def dragonfly(
    groups: int,
    rows: int,
    columns: int,
    ports: int,
    arrangement: str,
    routing: str,
    speed: Sequence[Speed],
) -> Network:
    """Join routers in rows and columns, and groups by global links.

    `speed`: links in rows, in columns, and between groups. An inter-group message
    uses one global link; all shortest routes have equal shares.
    """
    routers = rows * columns
    wires = Wires()
    for u in range(groups * routers):
        for v in range(u // routers * routers, (u // routers + 1) * routers):
            same_row = u % routers // columns == v % routers // columns
            if u != v and (same_row or (u - v) % columns == 0):
                wires.add(u, v, speed[0 if same_row else 1])

    # Pair of groups -> routers of the n-th link.
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

    def inside(a: int, b: int) -> Route:
        """Route along the row first, then along the column."""
        corner = a - a % columns + b % columns
        return along(*dict.fromkeys([a, corner, b]))

    def nearest(ways: list[Route]) -> list[Route]:
        least = min(way.total() for way in ways)
        return [way for way in ways if way.total() == least]

    def minimal(a: int, b: int) -> Route:
        if a // routers == b // routers:
            return inside(a, b)
        links = cables[a // routers, b // routers]
        return mixed(
            nearest(
                [
                    joined(inside(a, u), Counter({(u, v, k): 1.0}), inside(v, b))
                    for u, v, k in links
                ]
            )
        )

    def valiant(a: int, b: int) -> Route:
        """Route minimally to each other group, and minimally from there to b."""
        home, end = a // routers, b // routers
        thirds = [g for g in range(groups) if g not in (home, end)]
        if home == end or not thirds:
            return minimal(a, b)
        routes = []
        for third in thirds:
            least = min(inside(a, u).total() for u, _, _ in cables[home, third])
            routes.append(
                mixed(
                    joined(inside(a, u), Counter({(u, v, k): 1.0}), minimal(v, b))
                    for u, v, k in cables[home, third]
                    if inside(a, u).total() == least
                )
            )
        return mixed(routes)

    return Network(
        list(range(groups * routers)),
        wires.speed,
        valiant if routing == "valiant" else minimal,
        valiant if routing == "ugal" else None,
        minimal,
    )
