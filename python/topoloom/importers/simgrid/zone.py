# SPDX-License-Identifier: BSD-3-Clause
"""Converts SimGrid zones of hosts, links and routes to a graph.

SimGrid's links have no endpoints: a route is a list of links between two points. A zone
determines a unique graph in these cases. With routing Floyd or Dijkstra, each route is
an edge. With routing Full, each route is a single link, or all routes cross one switch
or one backbone. For other zones, and several zones, `route_graph` finds the ends.
"""

from __future__ import annotations

from typing import NamedTuple

from topoloom.importers.machine_description import MachineDescription
from topoloom.importers.reachability import find_unreachable_vertex
from topoloom.importers.simgrid.platform_machine import (
    add_cores,
    describe_missing_routes,
    describe_platform,
    format_policy_remarks,
)
from topoloom.importers.simgrid.units import (
    format_quantity,
    read_bandwidth,
    read_latency,
)
from topoloom.support.xml_tree import Element

_PARTS = ("host", "router", "link", "route", "prop", "trace", "trace_connect")
#: Parts that only the routes between all hosts take into account.
_LISTED_PARTS = ("bypassRoute",)


class _Link(NamedTuple):
    bandwidth: float
    latency: float
    policy: str


class _Route(NamedTuple):
    element: Element
    source: int
    target: int
    links: list[str]


class _Zone:
    """The contents of a zone, already checked."""

    def __init__(self, zone: Element) -> None:
        self.element = zone
        self.vertex: dict[str, int] = {}
        self.links: dict[str, _Link] = {}
        self.routes: list[_Route] = []
        for part in zone.children:
            if part.tag not in _PARTS:
                part.fail(
                    f"a <{part.tag}> in a zone cannot be read; {', '.join(_PARTS)} can"
                )
        hosts = [part for part in zone.children if part.tag == "host"]
        routers = [part for part in zone.children if part.tag == "router"]
        if not hosts:
            zone.fail("the zone has no <host>")
        for number, point in enumerate(hosts + routers):
            name = point.require("id")
            if name in self.vertex:
                point.fail(f"'{name}' appears twice")
            self.vertex[name] = number
        self.hosts = tuple(list(self.vertex)[: len(hosts)])
        self.cores = [host.number("core", 1) for host in hosts]
        if 0 in self.cores:
            hosts[self.cores.index(0)].fail("a host has no core")
        for part in zone.children:
            if part.tag == "link":
                self._add_link(part)
        for part in zone.children:
            if part.tag == "route":
                self._add_route(part)

    def _add_link(self, link: Element) -> None:
        name = link.require("id")
        if name in self.links:
            link.fail(f"link '{name}' appears twice")
        policy = link.attributes.get("sharing_policy", "SHARED")
        policy = "SPLITDUPLEX" if policy == "FULLDUPLEX" else policy  # its old name
        if policy not in ("SHARED", "SPLITDUPLEX", "FATPIPE"):
            link.fail(f"sharing_policy {policy[:20]} cannot be read")
        self.links[name] = _Link(
            read_bandwidth(link, "bandwidth"),
            read_latency(link, "latency", "0"),
            policy,
        )

    def _add_route(self, route: Element) -> None:
        ends = []
        for end in ("src", "dst"):
            name = route.require(end)
            if name not in self.vertex:
                route.fail(f"no <host> or <router> has the id '{name}'")
            ends.append(self.vertex[name])
        links = [part.require("id") for part in route.children]
        for name in links:
            if name not in self.links:
                route.fail(f"no <link> has the id '{name}'")
        if not links:
            route.fail("a route lists its links as <link_ctn id=.../>")
        if ends[0] == ends[1]:
            return  # inside a host
        self.routes.append(_Route(route, ends[0], ends[1], links))
        if route.attributes.get("symmetrical", "YES").upper() != "NO":
            self.routes.append(_Route(route, ends[1], ends[0], links[::-1]))


def describe_zone(zone: Element) -> MachineDescription:
    """Build the machine of a zone with routing Full, Floyd or Dijkstra."""
    routing = zone.attributes.get("routing", "")
    if routing == "Vivaldi":
        return describe_platform(zone)
    if routing not in ("Full", "Floyd", "Dijkstra", "DijkstraCache"):
        zone.fail(
            f"routing '{routing[:20]}' cannot be read; Full, Floyd, Dijkstra and "
            "Vivaldi can"
        )
    if any(part.tag in _LISTED_PARTS for part in zone.children):
        return describe_platform(zone)
    parts = _Zone(zone)
    given: set[tuple[int, int]] = set()
    for route in parts.routes:
        if (route.source, route.target) in given:
            route.element.fail("this route appears twice")
        given.add((route.source, route.target))
    if len(parts.hosts) == 1:
        text = "tree:1"
    elif not parts.routes:
        zone.fail("the zone has no <route> between its hosts")
    elif routing == "Full" and any(len(route.links) > 1 for route in parts.routes):
        text = _build_star(parts, given)
    else:
        text = _build_graph_of_route_edges(parts)
    if not text:
        return describe_platform(zone)
    remarks = _describe_missing_routes(parts, given) if routing == "Full" else ()
    remarks = (*remarks, *_describe_policies(parts))
    described = MachineDescription(text, parts.hosts, remarks=remarks)
    return add_cores(described, parts.cores)


def _describe_missing_routes(
    parts: _Zone, given: set[tuple[int, int]]
) -> tuple[str, ...]:
    """Describe pairs of hosts to which SimGrid has no route."""
    count = len(parts.hosts)
    missing = sum(
        (a, b) not in given for a in range(count) for b in range(count) if a != b
    )
    if not missing:
        return ()
    return (describe_missing_routes(missing),)


def _describe_policies(parts: _Zone) -> tuple[str, ...]:
    """Describe links whose capacity is shared by other messages than in SimGrid."""
    ways = {
        (name, route.source < route.target)
        for route in parts.routes
        for name in route.links
    }
    policy = {name: parts.links[name].policy for name, _ in ways}
    return format_policy_remarks(
        sum(each == "FATPIPE" for each in policy.values()),
        sum(
            each == "SHARED" and {(name, True), (name, False)} <= ways
            for name, each in policy.items()
        ),
    )


def _build_graph_of_route_edges(parts: _Zone) -> str:
    """Convert each route to a chain of its links, with switches between links.

    Return "" if a link is in several routes.
    """
    chain: dict[object, int] = {}
    arcs: dict[tuple[int, int], _Link] = {}
    user: dict[str, frozenset[int]] = {}
    for route in parts.routes:
        pair = frozenset((route.source, route.target))
        for name in route.links:
            if parts.links[name].policy == "FATPIPE":
                continue
            if user.setdefault(name, pair) != pair or route.links.count(name) > 1:
                return ""
        stops = [route.source]
        for before, after in zip(route.links, route.links[1:], strict=False):
            key = (pair, frozenset((before, after)))
            stops.append(chain.setdefault(key, len(parts.vertex) + len(chain)))
        stops.append(route.target)
        for at, (name, to) in enumerate(zip(route.links, stops[1:], strict=True)):
            arcs[stops[at], to] = parts.links[name]
    switches = len(parts.vertex) + len(chain) - len(parts.hosts)
    return _build_graph(parts, switches, arcs)


def _build_star(parts: _Zone, given: set[tuple[int, int]]) -> str:
    """Build a star: routes use the links of source and target, and the backbone.

    Return "" if the routes are others.
    """
    count = len(parts.hosts)
    up: dict[int, str] = {}
    down: dict[int, str] = {}
    middle = parts.routes[0].links[1:-1]
    for route in parts.routes:
        first, last = route.links[0], route.links[-1]
        if (
            len(route.links) < 2
            or route.links[1:-1] != middle
            or up.setdefault(route.source, first) != first
            or down.setdefault(route.target, last) != last
        ):
            return ""
    missing = count * (count - 1) - len(given)
    if missing or len(parts.vertex) > count:
        return ""
    for names in (list(up.values()), list(down.values())):
        if len(set(names)) < count:
            return ""
    arcs: dict[tuple[int, int], _Link] = {}
    inner = len(middle) + 1
    for at, name in enumerate(middle):
        arcs[count + at, count + at + 1] = parts.links[name]
    for host in range(count):
        arcs[host, count] = parts.links[up[host]]
        arcs[count + inner - 1, host] = parts.links[down[host]]
    if not middle and len({link[:2] for link in arcs.values()}) == 1:
        rate, latency = map(format_quantity, arcs[0, count][:2])
        return f"tree:{count},bandwidth={rate}B/s,latency={latency}s"
    return _build_graph(parts, inner, arcs)


def _build_graph(
    parts: _Zone, switches: int, arcs: dict[tuple[int, int], _Link]
) -> str:
    alone = find_unreachable_vertex(len(parts.hosts), arcs)
    if alone is not None:
        parts.element.fail(
            f"routes do not join hosts '{parts.hosts[0]}' and '{parts.hosts[alone]}' "
            "both ways"
        )
    latencies = {link.latency for link in arcs.values()}
    links = []
    for (source, target), (rate, latency, _) in sorted(arcs.items()):
        back = arcs.get((target, source))
        both = back is not None and back[:2] == (rate, latency)
        if both and target < source:
            continue  # written together with the opposite direction
        own = f"@{format_quantity(latency)}s" if len(latencies) > 1 else ""
        links.append(
            f"{source}{'-' if both else '>'}{target}@{format_quantity(rate)}B/s{own}"
        )
    count = f"{len(parts.hosts)}+{switches}" if switches else f"{len(parts.hosts)}"
    common = (
        f",latency={format_quantity(latencies.pop())}s" if len(latencies) == 1 else ""
    )
    return f"graph:{count}:{','.join(links)}{common}"
