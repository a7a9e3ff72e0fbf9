# SPDX-License-Identifier: BSD-3-Clause
"""Finds the routes between the hosts of SimGrid platforms with several zones.

A route lists links without ends. Inside a zone it is given (routing Full) or the one
with the fewest links (Floyd, Dijkstra). Between zones, it goes to a gateway of the
zone, over the links of a zoneRoute, and from a gateway of the other zone to the target.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from topoloom.importers.simgrid.read_cluster import list_cluster_hosts
from topoloom.importers.simgrid.units import read_bandwidth, read_latency
from topoloom.support.xml_tree import Element

_ZONES = ("zone", "AS")
_ROUTES = ("route", "zoneRoute", "ASroute")
_IGNORED = ("prop", "config")
#: Elements that change hosts or links during a run.
_TRACES = ("trace", "trace_connect")
_SHORTEST = ("Floyd", "Dijkstra", "DijkstraCache")


class PlatformLink(NamedTuple):
    """A link: bytes/s, seconds, and whether its capacity is shared."""

    bandwidth: float
    latency: float
    shared: bool


class Crossing(NamedTuple):
    """A link in a route.

    `use` is the number of the place in the file that lists it; `forward` is False where
    that route is taken backwards. Uses in `Platform.directed` state the direction of
    the link; that of others is unknown.
    """

    link: str
    use: int
    forward: bool

    def reversed(self) -> Crossing:
        """Return the same link, crossed the other way."""
        return self._replace(forward=not self.forward)


class _Entry(NamedTuple):
    """A given route, between points or zones, and the gateways of zones."""

    crossings: tuple[Crossing, ...]
    gateways: tuple[str, str]


class Platform:
    """Hosts with their cores, links, and routes of a platform."""

    def __init__(self, element: Element) -> None:
        self.element = element
        self.cores: dict[str, int] = {}
        self.links: dict[str, PlatformLink] = {}
        self.directed: dict[int, bool] = {}
        self._uses = 0
        self._root = _Zone(self, element)

    def find_route(self, source: str, target: str) -> list[Crossing]:
        """Find the links of a message; raise `topoloom.Error` if there is no route."""
        return self._root.find_route(source, target)

    def add_link(self, link: Element, name: str, bandwidth: str, latency: str) -> None:
        """Add a link with the rates in two attributes of an element."""
        if name in self.links:
            link.fail(f"link '{name}' appears twice")
        policy = link.attributes.get("sharing_policy", "SHARED")
        if policy not in ("SHARED", "SPLITDUPLEX", "FATPIPE"):
            link.fail(f"sharing_policy {policy[:20]} cannot be read")
        rate = read_bandwidth(link, bandwidth)
        seconds = read_latency(link, latency, "0")
        self.links[name] = PlatformLink(rate, seconds, policy != "FATPIPE")

    def add_use(self, link: str, forward: bool | None) -> Crossing:
        """Add a place that lists a link, and its direction, if it is stated."""
        self._uses += 1
        if forward is not None:
            self.directed[self._uses] = forward
        return Crossing(link, self._uses, True)

    def add_host(self, host: Element, name: str) -> None:
        """Add a host."""
        if name in self.cores:
            host.fail(f"'{name}' appears twice")
        self.cores[name] = host.number("core", 1)
        if self.cores[name] == 0:
            host.fail("a host has no core")


class _Zone:
    """A zone: its points and inner zones, and the given routes between these."""

    def __init__(self, platform: Platform, zone: Element) -> None:
        self._platform, self._element = platform, zone
        self.name = zone.attributes.get("id", "platform")
        self._inner: dict[str, _Zone | _Cluster] = {}
        #: Point -> the inner zone with it, or the point.
        self.points: dict[str, str] = {}
        self._given: dict[tuple[str, str], _Entry] = {}
        self._paths: dict[str, dict[str, str]] = {}
        self._routing = zone.attributes.get("routing", "Full")
        if self._routing not in ("Full", "None", *_SHORTEST):
            zone.fail(
                f"routing '{self._routing[:20]}' cannot be read; Full, Floyd, Dijkstra "
                "and None can"
            )
        for part in zone.children:
            self._add_part(part)
        for part in zone.children:
            if part.tag in _ROUTES:
                self._add_route(part)

    def _add_part(self, part: Element) -> None:
        platform = self._platform
        if part.tag in _ZONES and part.attributes.get("routing") == "Cluster":
            self._add_inner(part, _Cluster(platform, part))
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
        elif part.tag not in (*_ROUTES, *_IGNORED, *_TRACES):
            part.fail(f"a <{part.tag[:20]}> in a platform cannot be read")

    def _add_inner(self, part: Element, zone: _Zone | _Cluster) -> None:
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

    def _find_path(self, source: str, target: str) -> list[str]:
        """Find the points and zones on the way."""
        if self._routing not in _SHORTEST and (source, target) in self._given:
            return [source, target]
        before = self._find_shortest(source) if self._routing in _SHORTEST else {}
        if target not in before:
            self._element.fail(
                f"zone '{self.name}' has no route from '{source[:40]}' to "
                f"'{target[:40]}'"
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


class _Cluster:
    """Hosts with private links, a router, and a backbone that all messages cross."""

    def __init__(self, platform: Platform, element: Element) -> None:
        self.name = element.attributes.get("id", "cluster")
        self._element = element
        #: Point -> the crossings up to the backbone and down from it.
        self.points: dict[str, tuple[tuple[Crossing, ...], tuple[Crossing, ...]]] = {}
        self.backbone: tuple[Crossing, ...] = ()
        if element.tag == "cluster":
            return
        for part in element.children:
            if part.tag == "cabinet":
                add_private_hosts(self, platform, part)
            elif part.tag == "host":
                platform.add_host(part, part.require("id"))
                self.points[part.require("id")] = ((), ())
            elif part.tag == "router":
                self.points[part.require("id")] = ((), ())
            elif part.tag == "link":
                platform.add_link(part, part.require("id"), "bandwidth", "latency")
            elif part.tag == "backbone":
                name = part.require("id")
                platform.add_link(part, name, "bandwidth", "latency")
                self.backbone = (platform.add_use(name, True),)
            elif part.tag == "host_link":
                self._add_host_link(platform, part)
            elif part.tag not in _IGNORED:
                part.fail(f"a <{part.tag[:20]}> in a cluster cannot be read")

    def _add_host_link(self, platform: Platform, part: Element) -> None:
        name = part.require("id")
        if name not in self.points:
            part.fail(f"no <host> has the id '{name}'")
        crossings = []
        for key, suffix in (("up", "_UP"), ("down", "_DOWN")):
            link = part.require(key)
            # A link of two directions is named with a suffix, a shared one twice.
            if link not in platform.links:
                link = link.removesuffix(suffix)
            if link not in platform.links:
                part.fail(f"no <link> has the id '{part.require(key)}'")
            shared = part.require("up") == part.require("down")
            duplex = link != part.require(key) or shared
            crossings.append((platform.add_use(link, key == "up" or not duplex),))
        self.points[name] = (crossings[0], crossings[1])

    def find_route(self, source: str, target: str) -> list[Crossing]:
        """Find the links between two points of the cluster."""
        if source == target:
            return []
        return [*self.points[source][0], *self.backbone, *self.points[target][1]]


def add_private_hosts(cluster: _Cluster, platform: Platform, part: Element) -> None:
    """Add the hosts of a ``<cluster>`` or ``<cabinet>``, with a link for each."""
    for host in list_cluster_hosts(part):
        platform.add_host(part, host)
        link = f"{cluster.name}/{host}"
        platform.add_link(part, link, "bw", "lat")
        up, down = platform.add_use(link, True), platform.add_use(link, False)
        cluster.points[host] = ((up,), (down,))


def make_flat_cluster(platform: Platform, part: Element) -> _Cluster:
    """Make a ``<cluster>`` beside other parts of a platform."""
    kind = part.attributes.get("topology", "FLAT")
    if kind != "FLAT":
        part.fail(
            f"a cluster of topology {kind[:20]} beside other parts cannot be read"
        )
    for name in ("limiter_link", "loopback_bw"):
        if name in part.attributes:
            part.fail(f"{name} of a cluster beside other parts cannot be read")
    cluster = _Cluster(platform, part)
    add_private_hosts(cluster, platform, part)
    prefix, suffix = (part.attributes.get(key, "") for key in ("prefix", "suffix"))
    router = part.attributes.get("router_id", f"{prefix}{cluster.name}_router{suffix}")
    cluster.points[router] = ((), ())
    if "bb_bw" in part.attributes:
        name = f"{cluster.name}/backbone"
        # A FATPIPE has the sharing policy of its own attribute.
        policy = part.attributes.get("bb_sharing_policy", "SHARED")
        link = Element(
            part.tag, {**part.attributes, "sharing_policy": policy}, part.line
        )
        platform.add_link(link, name, "bb_bw", "bb_lat")
        cluster.backbone = (platform.add_use(name, True),)
    return cluster


def list_routes(
    platform: Platform, hosts: Sequence[str]
) -> dict[tuple[int, int], list[Crossing]]:
    """List the routes between all pairs of hosts, by number."""
    return {
        (a, b): platform.find_route(one, other)
        for a, one in enumerate(hosts)
        for b, other in enumerate(hosts)
        if a != b
    }
