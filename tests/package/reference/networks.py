# SPDX-License-Identifier: BSD-3-Clause
"""Links, and routes as shares of links: the common parts of all reference models."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import NamedTuple

#: Source, target, and index among parallel links.
Wire = tuple[int, int, int]
#: Link -> share of the message that crosses it.
Route = Counter[Wire]


class LinkSpeed(NamedTuple):
    """Bandwidth of a link in bytes per second, and its latency in seconds."""

    bandwidth: float = 1.0
    latency: float = 0.0


#: One byte per second.
UNIT = LinkSpeed()


class ReferenceNetwork(NamedTuple):
    """Links between vertices, and routes between nodes."""

    vertex: list[int]  # vertex of each node
    speed: dict[Wire, LinkSpeed]
    route: Callable[[int, int], Route]  # between two nodes
    detours: Callable[[int, int], Route] | None = None  # adaptive routing only
    minimal: Callable[[int, int], Route] | None = None  # None: `route` is minimal
    apart: Callable[[int, int], int] | None = None  # distance; None: the number of hops
    relays: Callable[[int], bool] = lambda vertex: True  # forwards messages
    down: frozenset[int] = frozenset()  # nodes

    def hops(self, a: int, b: int) -> int:
        """Count the links of a minimal route."""
        return round((self.minimal or self.route)(a, b).total())

    def distance(self, a: int, b: int) -> int:
        """Return the distance used in hop-bytes."""
        return self.hops(a, b) if self.apart is None else self.apart(a, b)

    def connected(self, a: int, b: int) -> bool:
        """Return whether both nodes are up and a path connects them."""
        if self.down & {a, b}:
            return False
        return self.vertex[a] in count_steps(self, self.vertex[b], list(self.speed))


class WireList:
    """A growing list of links; parallel links are numbered."""

    def __init__(self) -> None:
        self.speed: dict[Wire, LinkSpeed] = {}
        self._between: Counter[tuple[int, int]] = Counter()

    def add(self, u: int, v: int, speed: LinkSpeed = UNIT) -> Wire:
        """Add a directed link."""
        wire = (u, v, self._between[u, v])
        self._between[u, v] += 1
        self.speed[wire] = speed
        return wire

    def add_cable(self, u: int, v: int, speed: LinkSpeed = UNIT) -> None:
        """Add a link in each direction."""
        self.add(u, v, speed)
        self.add(v, u, speed)


def route_along(*vertices: int) -> Route:
    """Return the route along these vertices, over the first of parallel links."""
    return Counter({(u, v, 0): 1.0 for u, v in pairwise(vertices)})


def split_evenly(routes: Iterable[Route]) -> Route:
    """Split the message equally among the routes."""
    routes = list(routes)
    sums: Route = Counter()
    for route in routes:
        for wire, share in route.items():
            sums[wire] += share / len(routes)
    return sums


def concatenate(*routes: Route) -> Route:
    """Concatenate routes."""
    sums: Route = Counter()
    for route in routes:
        for wire, share in route.items():
            sums[wire] += share
    return sums


def attach_nodes(
    routers: ReferenceNetwork, per_router: int, cards: int, speed: LinkSpeed = UNIT
) -> ReferenceNetwork:
    """Attach nodes to routers; vertices are the routers, then the nodes.

    Without `cards` a node has no link to its router.
    """
    count = len(routers.vertex)
    home = [node // per_router for node in range(count * per_router)]
    wires = WireList()
    wires.speed = dict(routers.speed)
    host = LinkSpeed(cards * speed.bandwidth, speed.latency)
    for node, router in enumerate(home):
        if cards > 0:
            wires.add_cable(count + node, router, host)

    def extend_route(
        between: Callable[[int, int], Route] | None,
    ) -> Callable[[int, int], Route] | None:
        if between is None:
            return None

        def route(a: int, b: int) -> Route:
            inner = between(home[a], home[b])
            if a == b or cards == 0:
                return inner
            return concatenate(
                route_along(count + a, home[a]), inner, route_along(home[b], count + b)
            )

        return route

    route = extend_route(routers.route)
    assert route is not None
    return ReferenceNetwork(
        [count + node for node in range(len(home))] if cards > 0 else home,
        wires.speed,
        route,
        extend_route(routers.detours),
        extend_route(routers.minimal),
    )


def count_steps(
    network: ReferenceNetwork, end: int, wires: Iterable[Wire]
) -> dict[int, int]:
    """Count the links from each vertex to `end`, by breadth-first search."""
    into = defaultdict(list)
    for u, v, _ in wires:
        into[v].append(u)
    steps = {end: 0}
    waiting = deque([end])
    while waiting:
        at = waiting.popleft()
        if at != end and not network.relays(at):
            continue
        for before in into[at]:
            if before not in steps:
                steps[before] = steps[at] + 1
                waiting.append(before)
    return steps


def find_shortest_route(
    network: ReferenceNetwork, start: int, end: int, wires: list[Wire]
) -> Route:
    """At each vertex, follow the first link that reduces the distance."""
    steps = count_steps(network, end, wires)
    taken: Route = Counter()
    at = start
    while at != end:
        wire = next(
            (u, v, k)
            for u, v, k in wires
            if u == at
            and steps.get(v, -1) == steps[at] - 1
            and (v == end or network.relays(v))
        )
        taken[wire] += 1.0
        at = wire[1]
    return taken


class Failures(NamedTuple):
    """Failed nodes, vertices, and directed pairs of vertices."""

    nodes: frozenset[int] = frozenset()
    vertices: frozenset[int] = frozenset()
    links: frozenset[tuple[int, int]] = frozenset()


def apply_failures(
    network: ReferenceNetwork, failures: Failures, order: list[Wire], hosted: bool
) -> ReferenceNetwork:
    """Keep the routes that work; replace each other route by a shortest one.

    `order` lists the links by number. A router fails when its last node fails. A node
    with a host link fails when either direction of this link fails.
    """
    down = set(failures.nodes)
    dead = set(failures.vertices)
    at_vertex = defaultdict(set)
    for node, vertex in enumerate(network.vertex):
        at_vertex[vertex].add(node)
    dead |= {vertex for vertex, nodes in at_vertex.items() if nodes <= down}
    down |= {node for node, vertex in enumerate(network.vertex) if vertex in dead}
    up = [
        (u, v, k)
        for u, v, k in order
        if (u, v) not in failures.links and not {u, v} & dead
    ]
    alive = set(up)
    if hosted:
        for node, vertex in enumerate(network.vertex):
            own = [wire for wire in order if vertex in wire[:2]]
            if not alive.issuperset(own):
                down.add(node)

    def route(a: int, b: int) -> Route:
        usual = network.route(a, b)
        if alive.issuperset(usual):
            return usual
        return find_shortest_route(network, network.vertex[a], network.vertex[b], up)

    def route_minimally(a: int, b: int) -> Route:
        usual = alive.issuperset(network.route(a, b))
        return (network.minimal or network.route)(a, b) if usual else route(a, b)

    return network._replace(
        speed={wire: network.speed[wire] for wire in up},
        route=route,
        detours=None,
        minimal=route_minimally,
        apart=None,
        down=frozenset(down),
    )
