# SPDX-License-Identifier: BSD-3-Clause
"""Converts SimGrid platforms to a graph, from the routes between all hosts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from topoloom._core import Error
from topoloom.importers.machine_description import MachineDescription
from topoloom.importers.node_groups import NodeGroup, with_node_groups
from topoloom.importers.simgrid.platform_parts import Crossing
from topoloom.importers.simgrid.platform_routes import Platform, list_routes
from topoloom.importers.simgrid.route_graph import RouteGraph, build_route_graph
from topoloom.nodes.node_parts import NodeParts
from topoloom.support.units import counted
from topoloom.support.xml_tree import Element

#: Maximum number of hosts whose routes are listed for all pairs.
_MAX_LISTED = 300


def describe_platform(element: Element) -> MachineDescription:
    """Build the machine of one or several zones from the routes between all hosts.

    Of the hosts of a cluster that only differ in their private link, two are listed.
    """
    platform = Platform(element)
    hosts = tuple(platform.cores)
    if not hosts:
        element.fail("the platform has no <host> and no <cluster>")
    number = {host: at for at, host in enumerate(hosts)}
    twins = {number[host]: number[twin] for host, twin in platform.twins.items()}
    second = {twin: host for host, twin in reversed(twins.items())}
    listed = [
        (at, host)
        for at, host in enumerate(hosts)
        if at not in twins or second[twins[at]] == at
    ]
    if len(listed) > _MAX_LISTED:
        element.fail(
            f"{len(listed)} hosts with routes of their own; platforms of several parts "
            f"are read up to {_MAX_LISTED}"
        )
    routes, missing = list_routes(platform, listed)
    if missing and not routes:
        raise Error(next(iter(missing.values())))
    routers: dict[str, int] = {}
    for one, other, crossings in platform.list_router_routes() if missing else ():
        begin, end = (
            number[point]
            if point in number
            else len(hosts) + routers.setdefault(point, len(routers))
            for point in (one, other)
        )
        routes[begin, end] = list(crossings)
    try:
        graph = build_route_graph(
            (len(hosts), len(routers)), routes, platform.links, platform.directed, twins
        )
    except Error as error:
        if missing and "disconnected" in str(error):
            raise Error(next(iter(missing.values()))) from None
        element.fail(str(error))
    remarks = _list_remarks(platform, routes, graph)
    if missing:
        pairs = _count_pairs(list(missing), twins)
        remarks = (describe_missing_routes(pairs), *remarks)
    described = MachineDescription(graph.text, hosts, remarks=remarks)
    return add_cores(described, list(platform.cores.values()))


def _list_remarks(
    platform: Platform,
    routes: dict[tuple[int, int], list[Crossing]],
    graph: RouteGraph,
) -> tuple[str, ...]:
    used = {each.link for route in routes.values() for each in route}
    wide = sum(not platform.links[name].shared for name in used)
    joined = (
        f"{counted(graph.joints, 'link')} without limit, which count as hops, join "
        f"{counted(graph.detached, 'link')} whose ends the routes do not determine",
    )
    noted = tuple(f"{remark}: {count:,}" for remark, count in platform.noted.items())
    return (
        *format_policy_remarks(wide, graph.half_duplex),
        *(joined if graph.detached else ()),
        *noted,
    )


def format_policy_remarks(wide: int, half_duplex: int) -> tuple[str, ...]:
    """Format remarks on FATPIPEs, and on links with one capacity for two directions."""
    remarks = []
    if wide:
        remarks.append(f"{counted(wide, 'FATPIPE')} read as links of shared capacity")
    if half_duplex:
        remarks.append(
            f"{counted(half_duplex, 'link')} with one capacity for both directions "
            "read with a capacity per direction"
        )
    return tuple(remarks)


def describe_missing_routes(pairs: int) -> str:
    """Describe pairs of hosts to which SimGrid has no route."""
    what = counted(pairs, "pair")
    return f"assumed: shortest paths for {what} of hosts without a route"


def _count_pairs(pairs: Sequence[tuple[int, int]], twins: dict[int, int]) -> int:
    """Count pairs of hosts, those of twins too."""
    size: dict[int, int] = {}
    for twin in twins.values():
        size[twin] = size.get(twin, 1) + 1
    count = 0
    for a, b in pairs:
        if twins.get(b) == a:
            count += size[a] * (size[a] - 1)
        elif a not in twins and b not in twins:
            count += size.get(a, 1) * size.get(b, 1)
    return count


def add_cores(described: MachineDescription, cores: list[int]) -> MachineDescription:
    """Add nodes with the numbers of cores of the hosts."""
    by_cores: dict[int, list[int]] = {}
    for host, count in enumerate(cores):
        by_cores.setdefault(count, []).append(host)
    if len(by_cores) > 1:
        groups = [
            NodeGroup(
                f"+node:{count}" if count > 1 else "",
                NodeParts(),
                ids,
                f"hosts of {counted(count, 'core')}",
            )
            for count, ids in by_cores.items()
        ]
        return with_node_groups(described, groups)
    inside = f"+node:{cores[0]}" if cores[0] > 1 else ""
    return replace(described, text=described.text + inside)
