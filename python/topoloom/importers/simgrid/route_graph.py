# SPDX-License-Identifier: BSD-3-Clause
"""Builds a graph whose links are those of given routes, which state no ends of links.

Links that follow each other in a route share an end; the first and last link of a route
end at its hosts. Ends that are the same by these rules are one vertex. A FATPIPE shares
no capacity, so that each place that lists it is a link of its own. The routes of the
graph are compared with the given ones; those that are no shortest paths are listed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from topoloom._core import Error, Machine
from topoloom.importers.simgrid.platform_routes import Crossing, PlatformLink
from topoloom.importers.simgrid.units import format_quantity

#: Separates the name of a FATPIPE from its place.
_PLACE = "\n"
Routes = Mapping[tuple[int, int], Sequence[Crossing]]
#: A host, or the begin (False) or end (True) of a link in a direction.
_End = int | tuple[str, bool, bool]


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

    def join(self, one: _End, other: _End) -> None:
        a, b = self.find(one), self.find(other)
        if a == b:
            return
        if isinstance(a, int) and isinstance(b, int):
            raise Error("the links of the routes do not determine their switches")
        if isinstance(b, int):
            a, b = b, a
        self._above[b] = a


class _Directions:
    """Finds the direction in which each place of the file crosses its link.

    A place that states no direction crosses its link forward if it is the first one,
    else as it fits the ends that are known.
    """

    def __init__(self, stated: Mapping[int, bool]) -> None:
        self.forward = dict(stated)
        self.ends = _Ends()
        self._seen: set[tuple[str, bool]] = set()

    def resolve(self, routes: Routes) -> None:
        """Find the directions of all places, and join the ends of the links."""
        waiting = list(routes.items())
        while waiting:
            left = [
                (pair, route)
                for pair, route in waiting
                if not self._resolve_route(pair, route, guess=False)
            ]
            if len(left) == len(waiting):
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
        return self.forward[crossing.use] == crossing.forward

    def _fit(self, crossing: Crossing, known: _End, end: bool) -> bool | None:
        """Find the direction whose begin (or end) is a known vertex."""
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
        self.ends.join((*ways[0], False), pair[0])
        self.ends.join((*ways[-1], True), pair[1])
        for one, other in pairwise(ways):
            self.ends.join((*one, True), (*other, False))


def build_route_graph(
    count: int,
    routes: Routes,
    links: Mapping[str, PlatformLink],
    stated: Mapping[int, bool],
) -> str:
    """Build machine text of a graph with the given routes between `count` hosts.

    `stated` maps places of the file to the direction that they state.

    Raises `topoloom.Error` if no graph has these routes.
    """
    if any(not route for route in routes.values()):
        raise Error("a route between two hosts has no links")
    routes = {
        pair: [_separate_fatpipe(crossing, links) for crossing in route]
        for pair, route in routes.items()
    }
    directions = _Directions(stated)
    directions.resolve(routes)
    vertex: dict[_End, int] = {host: host for host in range(count)}
    arcs: dict[tuple[int, int], str] = {}
    stops: dict[tuple[int, int], list[int]] = {}
    for pair, route in routes.items():
        stops[pair] = [pair[0]]
        for crossing in route:
            way = (crossing.link, directions.get_direction(crossing))
            begin, end = (
                vertex.setdefault(directions.ends.find((*way, side)), len(vertex))
                for side in (False, True)
            )
            stops[pair].append(end)
            if begin == end or arcs.setdefault((begin, end), way[0]) != way[0]:
                raise Error(
                    "the links of the routes do not determine their switches: link "
                    f"'{way[0][:40]}' has no two ends of its own"
                )
    text = _format_graph(count, len(vertex) - count, arcs, links)
    return text + _format_detours(text, stops)


def _separate_fatpipe(
    crossing: Crossing, links: Mapping[str, PlatformLink]
) -> Crossing:
    """Name a FATPIPE by its place in the file, too."""
    if links[crossing.link].shared:
        return crossing
    return crossing._replace(link=f"{crossing.link}{_PLACE}{crossing.use}")


def _format_graph(
    count: int,
    switches: int,
    arcs: Mapping[tuple[int, int], str],
    links: Mapping[str, PlatformLink],
) -> str:
    listed = []
    for (begin, end), name in sorted(arcs.items()):
        both = arcs.get((end, begin)) == name
        if both and end < begin:
            continue
        link = links[name.partition(_PLACE)[0]]
        rate, latency = link.bandwidth, link.latency
        listed.append(
            f"{begin}{'-' if both else '>'}{end}@{format_quantity(rate)}B/s"
            f"@{format_quantity(latency)}s"
        )
    vertices = f"{count}+{switches}" if switches else f"{count}"
    return f"graph:{vertices}:{','.join(listed)}"


def _format_detours(text: str, stops: Mapping[tuple[int, int], list[int]]) -> str:
    """Format the routes that the graph would not take by itself."""
    machine = Machine(text)
    detours = []
    for (a, b), expected in stops.items():
        found = [a, *(machine.link_ends(link)[1] for link, _ in machine.route(a, b))]
        if found != expected:
            detours.append(f",route={'>'.join(map(str, expected))}")
    return "".join(detours)
