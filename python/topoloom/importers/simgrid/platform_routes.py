# SPDX-License-Identifier: BSD-3-Clause
"""Finds the routes between the hosts of SimGrid platforms with several zones.

A route lists links without ends. Inside a zone it is given (routing Full) or the one
with the fewest links (Floyd, Dijkstra). Between zones, it goes to a gateway of the
zone, over the links of a zoneRoute, and from a gateway of the other zone to the target.
A bypassRoute or bypassZoneRoute replaces this route, in its direction only.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from topoloom.importers.simgrid.flat_cluster import FlatCluster, make_flat_cluster
from topoloom.importers.simgrid.peer_zone import PeerZone
from topoloom.importers.simgrid.platform_parts import Crossing, PlatformParts
from topoloom.support.xml_tree import Element

_ZONES = ("zone", "AS")
_ROUTES = ("route", "zoneRoute", "ASroute")
_BYPASSES = ("bypassRoute", "bypassZoneRoute", "bypassASroute")
_IGNORED = ("prop", "config")
#: Elements that change hosts or links during a run.
_TRACES = ("trace", "trace_connect")
_SHORTEST = ("Floyd", "Dijkstra", "DijkstraCache")


class MissingRoute(Exception):
    """No route between two hosts."""


class _Entry(NamedTuple):
    """A given route, between points or zones, and the gateways of zones."""

    crossings: tuple[Crossing, ...]
    gateways: tuple[str, str]


class Platform(PlatformParts):
    """Hosts with their cores, links, and routes of a platform."""

    def __init__(self, element: Element) -> None:
        ends = ("src", "dst", "gw_src", "gw_dst")
        super().__init__(
            {
                part.attributes[end]
                for part in element.walk()
                for end in ends
                if end in part.attributes
            }
        )
        vivaldi = element.attributes.get("routing") == "Vivaldi"
        self._root = (PeerZone if vivaldi else _Zone)(self, element)

    def list_router_routes(self) -> list[tuple[str, str, Sequence[Crossing]]]:
        """List the given routes from or to a router of the outermost zone."""
        root = self._root
        return root.list_router_routes() if isinstance(root, _Zone) else []

    def find_route(self, source: str, target: str) -> list[Crossing]:
        """Find the links of a message; raise `MissingRoute` if there is no route."""
        return self._root.find_route(source, target)


class _Zone:
    """A zone: its points and inner zones, and the given routes between these."""

    def __init__(self, platform: Platform, zone: Element) -> None:
        self._platform, self._element = platform, zone
        self.name = zone.attributes.get("id", "platform")
        self._inner: dict[str, _Inner] = {}
        #: Point -> the inner zone with it, or the point.
        self.points: dict[str, str] = {}
        self._given: dict[tuple[str, str], _Entry] = {}
        self._bypasses: dict[tuple[str, str], _Entry] = {}
        self._paths: dict[str, dict[str, str]] = {}
        self._routing = zone.attributes.get("routing", "Full")
        if self._routing not in ("Full", "None", *_SHORTEST):
            zone.fail(
                f"routing '{self._routing[:20]}' cannot be read; Full, Floyd, "
                "Dijkstra, None and Vivaldi can"
            )
        for part in zone.children:
            self._add_part(part)
        for part in zone.children:
            if part.tag in _ROUTES:
                self._add_route(part)
            elif part.tag in _BYPASSES:
                self._add_bypass(part)

    def _add_part(self, part: Element) -> None:
        platform = self._platform
        if part.tag in _ZONES and part.attributes.get("routing") == "Cluster":
            self._add_inner(part, FlatCluster(platform, part))
        elif part.tag in _ZONES and part.attributes.get("routing") == "Vivaldi":
            self._add_inner(part, PeerZone(platform, part))
        elif part.tag in _ZONES:
            self._add_inner(part, _Zone(platform, part))
        elif part.tag == "cluster":
            self._add_inner(part, make_flat_cluster(platform, part))
        elif part.tag in ("host", "router"):
            name = part.require("id")
            if name in self.points:
                part.fail(f"'{name}' appears twice")
            self.points[name] = name
            if part.tag == "host":
                platform.add_host(part, name)
        elif part.tag == "link":
            platform.add_link(part, part.require("id"), "bandwidth", "latency")
        elif part.tag not in (*_ROUTES, *_BYPASSES, *_IGNORED, *_TRACES):
            part.fail(f"a <{part.tag[:20]}> in a platform cannot be read")

    def _add_inner(self, part: Element, zone: _Inner) -> None:
        if zone.name in self._inner:
            part.fail(f"zone '{zone.name}' appears twice")
        self._inner[zone.name] = zone
        for point in zone.points:
            if point in self.points:
                part.fail(f"'{point}' appears twice")
            self.points[point] = zone.name

    def _add_route(self, route: Element) -> None:
        ends = route.require("src"), route.require("dst")
        zones = route.tag != "route"
        for name in ends:
            if zones and name not in self._inner:
                route.fail(f"no zone has the id '{name}'")
            if not zones and self.points.get(name) != name:
                route.fail(f"no <host> or <router> has the id '{name}'")
        gateways = ends
        if zones:
            gateways = route.require("gw_src"), route.require("gw_dst")
            for name, gateway in zip(ends, gateways, strict=True):
                if gateway not in self._inner[name].points:
                    route.fail(f"zone '{name}' has no '{gateway}'")
        crossings = tuple(self._read_crossings(route))
        if ends[0] == ends[1]:
            return  # inside a host
        self._give(route, ends, _Entry(crossings, gateways))
        if route.attributes.get("symmetrical", "YES").upper() != "NO":
            back = tuple(each.reversed() for each in crossings[::-1])
            self._give(route, ends[::-1], _Entry(back, gateways[::-1]))

    def _add_bypass(self, route: Element) -> None:
        """Add a route of one direction; its ends are anywhere inside of the zone."""
        ends = route.require("src"), route.require("dst")
        gateways = ends
        known = self.points
        if route.tag != "bypassRoute":
            known = dict.fromkeys(self.list_zones(), "")
            gateways = route.require("gw_src"), route.require("gw_dst")
        for name in ends:
            if name not in known:
                route.fail(f"no part of zone '{self.name[:40]}' has the id '{name}'")
        for name in gateways:
            if name not in self.points:
                route.fail(f"zone '{self.name[:40]}' has no '{name}'")
        if ends in self._bypasses:
            route.fail("this route appears twice")
        crossings = tuple(self._read_crossings(route))
        if not crossings:
            route.fail("a bypass has no <link_ctn>")
        self._bypasses[ends] = _Entry(crossings, gateways)

    def list_router_routes(self) -> list[tuple[str, str, Sequence[Crossing]]]:
        """List the given routes from or to a router of the zone."""
        hosts = self._platform.cores
        return [
            (one, other, entry.crossings)
            for (one, other), entry in self._given.items()
            if self.points.get(one) == one
            and self.points.get(other) == other
            and not {one, other} <= hosts.keys()
        ]

    def list_zones(self) -> list[str]:
        """List the names of all zones inside of the zone."""
        return [
            name
            for own, inner in self._inner.items()
            for name in (own, *(inner.list_zones() if isinstance(inner, _Zone) else ()))
        ]

    def list_zones_around(self, point: str) -> list[str]:
        """List the zones around a point, the innermost first, this one last."""
        inner = self._inner.get(self.points[point])
        if isinstance(inner, _Zone):
            return [*inner.list_zones_around(point), self.name]
        return [self.name] if inner is None else [inner.name, self.name]

    def _give(self, route: Element, ends: tuple[str, str], entry: _Entry) -> None:
        if ends in self._given:
            route.fail("this route appears twice")
        self._given[ends] = entry

    def _read_crossings(self, route: Element) -> Iterator[Crossing]:
        for part in route.children:
            if part.tag != "link_ctn":
                route.fail(f"a <{part.tag[:20]}> in a route cannot be read")
            name = part.require("id")
            if name not in self._platform.links:
                route.fail(f"no <link> has the id '{name}'")
            word = part.attributes.get("direction", "NONE").upper()
            forward = {"UP": True, "DOWN": False}.get(word)
            yield self._platform.add_use(name, forward)

    def find_route(self, source: str, target: str) -> list[Crossing]:
        """Find the links between two points of the zone."""
        if source == target:
            return []
        here, there = self.points[source], self.points[target]
        if here == there:
            return self._inner[here].find_route(source, target)
        if self._bypasses and (bypass := self._find_bypass(source, target)):
            return bypass
        route: list[Crossing] = []
        at, path = source, self._find_path(here, there)
        for one, other in pairwise(path):
            entry = self._given[one, other]
            if one in self._inner:
                route += self._inner[one].find_route(at, entry.gateways[0])
            route += entry.crossings
            at = entry.gateways[1]
        if there in self._inner:
            route += self._inner[there].find_route(at, target)
        return route

    def _find_bypass(self, source: str, target: str) -> list[Crossing] | None:
        """Find a bypass between two points, or between zones around them.

        The innermost zones come first, in the order of SimGrid.
        """
        if self.points[source] == source and self.points[target] == target:
            direct = self._bypasses.get((source, target))
            return list(direct.crossings) if direct else None
        up, down = self.list_zones_around(source), self.list_zones_around(target)
        # Zones around both points are no ends of a route between them.
        while len(up) > 1 and len(down) > 1 and up[-1] == down[-1]:
            del up[-1], down[-1]
        for one, other in _order_by_depth(len(up), len(down)):
            if one >= len(up) or other >= len(down):
                continue
            if entry := self._bypasses.get((up[one], down[other])):
                begin, end = entry.gateways
                return [
                    *self._platform.find_route(source, begin),
                    *entry.crossings,
                    *self._platform.find_route(end, target),
                ]
        return None

    def _find_path(self, source: str, target: str) -> list[str]:
        """Find the points and zones on the way."""
        if self._routing not in _SHORTEST and (source, target) in self._given:
            return [source, target]
        before = self._find_shortest(source) if self._routing in _SHORTEST else {}
        if target not in before:
            raise MissingRoute(
                f"line {self._element.line}: zone '{self.name[:40]}' has no route from "
                f"'{source[:40]}' to '{target[:40]}'"
            )
        path = [target]
        while path[-1] != source:
            path.append(before[path[-1]])
        return path[::-1]

    def _find_shortest(self, source: str) -> dict[str, str]:
        """Map each point to the one before it on the way with the fewest links."""
        if source in self._paths:
            return self._paths[source]
        neighbors: dict[str, list[tuple[str, int]]] = {}
        for (one, other), entry in self._given.items():
            neighbors.setdefault(one, []).append((other, len(entry.crossings)))
        before: dict[str, str] = {}
        least, queue = {source: 0}, [(0, 0, source)]
        order = 0
        while queue:
            cost, _, at = heapq.heappop(queue)
            if cost > least[at]:
                continue
            for other, links in neighbors.get(at, ()):
                if cost + links < least.get(other, 1 << 30):
                    least[other], before[other] = cost + links, at
                    order += 1
                    heapq.heappush(queue, (cost + links, order, other))
        self._paths[source] = before
        return before


_Inner = _Zone | FlatCluster | PeerZone


def _order_by_depth(up: int, down: int) -> Iterator[tuple[int, int]]:
    """Yield pairs of levels in the order in which SimGrid looks for bypasses."""
    for deep in range(max(up, down)):
        for flat in range(deep):
            yield from ((flat, deep), (deep, flat))
        yield deep, deep


def list_routes(
    platform: Platform, hosts: Sequence[tuple[int, str]]
) -> tuple[dict[tuple[int, int], list[Crossing]], dict[tuple[int, int], str]]:
    """List the routes between all pairs of numbered hosts, and which are missing."""
    routes: dict[tuple[int, int], list[Crossing]] = {}
    missing: dict[tuple[int, int], str] = {}
    for a, one in hosts:
        for b, other in hosts:
            if a == b:
                continue
            try:
                routes[a, b] = platform.find_route(one, other)
            except MissingRoute as error:
                missing[a, b] = str(error)
    return routes, missing
