# SPDX-License-Identifier: BSD-3-Clause
"""Builds a graph whose links are those of given routes, which state no ends of links.

Links that follow each other in a route share an end; the first and last link of a route
end at its hosts. Ends that are the same by these rules are one vertex. A FATPIPE shares
no capacity, so that each place that lists it is a link of its own. Where these rules
would join two hosts, or both ends of a link, as on a bus, the link gets two vertices of
its own, and links without limit join it to those before and after it. The routes of the
graph are compared with the given ones; those that are no shortest paths are listed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from topoloom._core import Error, Machine
from topoloom.importers.simgrid.platform_parts import (
    NO_LIMIT,
    Crossing,
    PlatformLink,
)
from topoloom.importers.simgrid.units import format_quantity

#: Separates the name of a FATPIPE from its place.
_PLACE = "\n"
#: Name of the links without limit.
_JOINT = ""
_MAX_DETOURS = 200_000
#: After as many guesses of a direction, all others are guessed in one pass.
_MAX_GUESSES = 100
#: How often links get vertices of their own before the platform is refused.
_MAX_ROUNDS = 20
Routes = Mapping[tuple[int, int], Sequence[Crossing]]
#: A host, or the begin (False) or end (True) of a link in a direction.
_End = int | tuple[str, bool, bool]
Arcs = dict[tuple[int, int], str]
Stops = dict[tuple[int, int], list[int]]


class RouteGraph(NamedTuple):
    """Machine text of a graph, and how far it differs from the platform."""

    text: str
    #: Links with vertices of their own.
    detached: int
    #: Links without limit that join these to others.
    joints: int
    #: Links whose directions share their capacity in SimGrid, but not in the graph.
    half_duplex: int


class _Ends:
    """Ends of links, joined to vertices."""

    def __init__(self) -> None:
        self._above: dict[_End, _End] = {}

    def find(self, end: _End) -> _End:
        root = end
        while (above := self._above.get(root, root)) != root:
            root = above
        while end != root:
            self._above[end], end = root, self._above.get(end, end)
        return root

    def join(self, one: _End, other: _End) -> bool:
        """Make two ends one vertex; return False if they are different hosts."""
        a, b = self.find(one), self.find(other)
        if a == b:
            return True
        if isinstance(a, int) and isinstance(b, int):
            return False
        if isinstance(b, int):
            a, b = b, a
        self._above[b] = a
        return True


class _Directions:
    """Finds the direction in which each place of the file crosses its link.

    A place that states no direction crosses its link forward if it is the first one,
    else as it fits the ends that are known.
    """

    def __init__(
        self, stated: Mapping[int, bool], detached: set[str], uses: Mapping[str, int]
    ) -> None:
        self.forward = dict(stated)
        self.ends = _Ends()
        #: Links whose ends would join hosts; of two links that with more routes.
        self.faulty: set[str] = set()
        self._detached, self._uses = detached, uses
        self._seen: set[tuple[str, bool]] = set()

    def resolve(self, routes: Routes) -> None:
        """Find the directions of all places, and join the ends of the links."""
        waiting = list(routes.items())
        guesses = 0
        while waiting:
            left = [
                (pair, route)
                for pair, route in waiting
                if not self._resolve_route(pair, route, guesses > _MAX_GUESSES)
            ]
            if len(left) == len(waiting):
                guesses += 1
                self._resolve_route(*left[0], guess=True)
            waiting = left

    def _resolve_route(
        self, pair: tuple[int, int], route: Sequence[Crossing], guess: bool
    ) -> bool:
        """Resolve a route as far as possible; return whether it is complete."""
        for crossings, ends, end in (
            (route, pair, False),
            (route[::-1], pair[::-1], True),
        ):
            known: _End = ends[0]
            for crossing in crossings:
                if crossing.use not in self.forward:
                    found = self._fit(crossing, known, end)
                    if found is None and guess:
                        found, guess = True, False
                    if found is None:
                        break
                    self.forward[crossing.use] = found == crossing.forward
                known = (crossing.link, self.get_direction(crossing), not end)
        if any(crossing.use not in self.forward for crossing in route):
            return False
        self._join(pair, route)
        return True

    def get_direction(self, crossing: Crossing) -> bool:
        """Return the direction in which a crossing takes its link."""
        if crossing.link in self._detached:
            return True
        return self.forward[crossing.use] == crossing.forward

    def _fit(self, crossing: Crossing, known: _End, end: bool) -> bool | None:
        """Find the direction whose begin (or end) is a known vertex."""
        if crossing.link in self._detached:
            return True
        directions = [
            way for way in (True, False) if (crossing.link, way) in self._seen
        ]
        if not directions:
            return True
        vertex = self.ends.find(known)
        for way in directions:
            if self.ends.find((crossing.link, way, end)) == vertex:
                return way
        return None

    def _join(self, pair: tuple[int, int], route: Sequence[Crossing]) -> None:
        ways = [(crossing.link, self.get_direction(crossing)) for crossing in route]
        self._seen.update(ways)
        self._join_ends((*ways[0], False), pair[0])
        self._join_ends((*ways[-1], True), pair[1])
        for one, other in pairwise(ways):
            self._join_ends((*other, False), (*one, True))

    def _join_ends(self, one: tuple[str, bool, bool], other: _End) -> None:
        links = {one[0]} if isinstance(other, int) else {one[0], other[0]}
        if not links & self._detached and not self.ends.join(one, other):
            self.faulty.update(_select_most_used(links, self._uses))


def _select_most_used(links: Collection[str], uses: Mapping[str, int]) -> set[str]:
    """Select the links of most routes: not the private links of hosts."""
    most = max((uses[link] for link in links), default=0)
    return {link for link in links if uses[link] == most}


def build_route_graph(
    points: tuple[int, int],
    routes: Routes,
    links: Mapping[str, PlatformLink],
    stated: Mapping[int, bool],
    twins: Mapping[int, int],
) -> RouteGraph:
    """Build machine text of a graph with the given routes between points.

    `points` are the numbers of hosts and of routers; routers come after all hosts.
    `stated` maps places of the file to the direction that they state. `twins` maps
    hosts to a host with the same routes, except for the link to the host, which no
    other host crosses. Only one twin of a host needs routes.

    Raises `topoloom.Error` if no graph has these routes.
    """
    if any(not route for route in routes.values()):
        raise Error("a route between two hosts has no links")
    routes = {
        pair: [_separate_fatpipe(crossing, links) for crossing in route]
        for pair, route in routes.items()
    }
    uses = Counter(crossing.link for route in routes.values() for crossing in route)
    detached: set[str] = set()
    rounds = 0
    while True:
        directions = _Directions(stated, detached, uses)
        directions.resolve(routes)
        traced = _trace_routes(sum(points), routes, directions, uses)
        faulty = directions.faulty or traced.faulty
        if not faulty:
            break
        rounds += 1
        if faulty <= detached or rounds > _MAX_ROUNDS:
            raise Error("the links of the routes do not determine their switches")
        detached |= faulty
    arcs, stops = _number_switches(
        traced.arcs, _keep_first_twins(traced.stops, twins), points[0]
    )
    classes: dict[int, list[int]] = {}
    for host, twin in twins.items():
        classes.setdefault(twin, [twin]).append(host)
    half_duplex = sum(
        count > 1 and _get_link(name, links).policy == "SHARED"
        for name, count in Counter(arcs.values()).items()
    )
    arcs = _add_twins(arcs, classes)
    text = _format_graph(points[0], arcs, links)
    return RouteGraph(
        text + _format_detours(text, stops, classes, twins),
        len(detached),
        sum(name == _JOINT for name in arcs.values()),
        half_duplex,
    )


class _Traced(NamedTuple):
    """The arcs of all routes, the vertices on each, links without own ends."""

    arcs: Arcs
    stops: Stops
    faulty: set[str]


def _trace_routes(
    count: int, routes: Routes, directions: _Directions, uses: Mapping[str, int]
) -> _Traced:
    """Trace all routes between `count` points."""
    vertex: dict[_End, int] = {point: point for point in range(count)}
    traced = _Traced({}, {}, set())
    for pair, route in routes.items():
        path = [pair[0]]
        faulty = []
        for crossing in route:
            way = (crossing.link, directions.get_direction(crossing))
            begin, end = (
                vertex.setdefault(directions.ends.find((*way, side)), len(vertex))
                for side in (False, True)
            )
            if begin != path[-1]:
                traced.arcs[path[-1], begin] = _JOINT
                path.append(begin)
            path.append(end)
            if traced.arcs.setdefault((begin, end), way[0]) != way[0] or (
                begin in path[:-2] or end in path[:-1]
            ):
                faulty.append(way[0])
        traced.faulty.update(_select_most_used(faulty, uses))
        if path[-1] != pair[1]:
            traced.arcs[path[-1], pair[1]] = _JOINT
            path.append(pair[1])
        traced.stops[pair] = path
    return traced


def _keep_first_twins(stops: Stops, twins: Mapping[int, int]) -> Stops:
    """Keep the routes of the first of twins, and that from the first to the second."""
    kept = {}
    for (a, b), path in stops.items():
        if twins.get(b) == a:
            # The second is behind the same vertex as the first.
            kept[a, b] = [*path[:-2], stops[b, a][-2], b]
        elif a not in twins and b not in twins:
            kept[a, b] = path
    return kept


def _number_switches(arcs: Arcs, stops: Stops, hosts: int) -> tuple[Arcs, Stops]:
    """Assign numbers to the switches on routes, and list their arcs."""
    number = {host: host for host in range(hosts)}
    for path in stops.values():
        for vertex in path:
            number.setdefault(vertex, len(number))
    used = {
        (number[begin], number[end]): arcs[begin, end]
        for path in stops.values()
        for begin, end in pairwise(path)
        if (begin, end) in arcs
    }
    numbered = {
        pair: [number[vertex] for vertex in path]
        for pair, path in stops.items()
        if max(pair) < hosts
    }
    return used, numbered


def _separate_fatpipe(
    crossing: Crossing, links: Mapping[str, PlatformLink]
) -> Crossing:
    """Name a FATPIPE by its place in the file, too."""
    if links[crossing.link].shared:
        return crossing
    return crossing._replace(link=f"{crossing.link}{_PLACE}{crossing.use}")


def _get_link(name: str, links: Mapping[str, PlatformLink]) -> PlatformLink:
    """Get the link of an arc."""
    if name == _JOINT:
        return PlatformLink(NO_LIMIT, 0.0, "FATPIPE")
    return links[name.partition(_PLACE)[0]]


def _add_twins(arcs: Arcs, classes: Mapping[int, Sequence[int]]) -> Arcs:
    """Add the private links of hosts with the routes of others."""
    added = dict(arcs)
    for (begin, end), name in arcs.items():
        for host in classes.get(begin, ()):
            added[host, end] = name
        for host in classes.get(end, ()):
            added[begin, host] = name
        if name == _JOINT and (begin in classes or end in classes):
            raise Error("the links of the routes do not determine their switches")
    return added


def _format_graph(count: int, arcs: Arcs, links: Mapping[str, PlatformLink]) -> str:
    switches = max((max(arc) + 1 for arc in arcs), default=count) - count
    listed = []
    for (begin, end), name in sorted(arcs.items()):
        both = arcs.get((end, begin)) == name
        if both and end < begin:
            continue
        link = _get_link(name, links)
        listed.append(
            f"{begin}{'-' if both else '>'}{end}@{format_quantity(link.bandwidth)}B/s"
            f"@{format_quantity(link.latency)}s"
        )
    vertices = f"{count}+{switches}" if switches else f"{count}"
    return f"graph:{vertices}:{','.join(listed)}"


def _format_detours(
    text: str,
    stops: Stops,
    classes: Mapping[int, Sequence[int]],
    twins: Mapping[int, int],
) -> str:
    """Format the routes that the graph would not take by itself."""
    machine = Machine(text)
    detours: list[str] = []
    for (a, b), expected in stops.items():
        inside = twins.get(b) == a
        if not inside and (a in twins or b in twins):
            continue  # like the route of a twin
        found = [a, *(machine.link_ends(link)[1] for link, _ in machine.route(a, b))]
        if found == expected:
            continue
        ones, others = classes.get(a, [a]), classes.get(b, [b])
        if inside:
            others = ones
        if len(detours) + len(ones) * len(others) > _MAX_DETOURS:
            raise Error(f"more than {_MAX_DETOURS:,} routes are no shortest paths")
        detours += (
            f",route={'>'.join(map(str, (one, *expected[1:-1], other)))}"
            for one in ones
            for other in others
            if one != other
        )
    return "".join(detours)
