# SPDX-License-Identifier: BSD-3-Clause
"""Writes SimGrid platforms that list the routes of a machine."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import permutations
from typing import NamedTuple

from topoloom._core import Error, Machine
from topoloom.importers.simgrid.platform_parts import NO_LIMIT
from topoloom.importers.simgrid.units import format_quantity

_HEAD = """<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
"""
_ZONE = """  <zone id="machine" routing="Full">
"""
#: Maximum number of nodes; routes between all pairs are then about 20 MB of text.
MAX_NODES = 300


class IntraHostLink(NamedTuple):
    """The link between ranks of a host: bandwidth in bytes/s, latency in seconds."""

    bandwidth: float
    latency: float


def write_platform_with_all_routes(
    machine: Machine,
    beside: float,
    unit: float = 1.0,
    remark: str = "",
    inside: IntraHostLink | None = None,
) -> str:
    """Write all hosts of a machine, and the routes between all pairs of hosts.

    A message costs `beside` seconds in addition to its links. A bandwidth of 1 is
    `unit` bytes/s. The platform begins with `remark`, lines of XML. Memory bandwidths
    are omitted. Raises `topoloom.Error` if there are over 300 nodes, or messages have
    several routes.
    """
    nodes = machine.node_count
    if nodes > MAX_NODES:
        raise Error(
            f"{machine.name} is not a SimGrid cluster, and lists of the routes between "
            f"all pairs are written for up to {MAX_NODES} nodes, not {nodes:,}; "
            "'topoloom simulate' writes those that a pattern needs"
        )
    hosts = {f"node-{node}.topoloom": node for node in range(nodes)}
    routes = {
        (a, b): find_single_route(machine, hosts[a], hosts[b])
        for a, b in permutations(hosts, 2)
    }
    if inside is not None:
        routes |= {(host, host): [] for host in hosts}
    about = (unit, remark, inside)
    return write_routes(machine, hosts, routes, beside, math.inf, 0.0, *about)


def write_routes(
    machine: Machine,
    node_of_host: Mapping[str, int],
    routes: Mapping[tuple[str, str], list[int]],
    latency: float,
    memory: float,
    far: float = 0.0,
    unit: float = 1.0,
    remark: str = "",
    inside: IntraHostLink | None = None,
) -> str:
    """Write hosts, one or several per node, and the routes between some pairs of hosts.

    Each directed link becomes a link of SimGrid. Ports and memories of nodes also
    become links: every message is read from one memory and written to another.

    Parameters
    ----------
    routes
        Links between two hosts; empty for hosts on one node.
    latency
        Seconds of an inter-node message in addition to its links.
    memory
        Bytes/s of reads from, and of writes to, a node's memory; inf for no limit.
    far
        Additional seconds of every message.
    unit
        Bytes/s of a bandwidth of 1.
    remark
        Lines of XML before the zone.
    inside
        Link of intra-node messages, if `memory` is inf.
    """
    used = sorted({link for route in routes.values() for link in route})
    speed = f'speed="1Gf" core="{machine.slots_per_node}"'
    lines = [f'    <host id="{host}" {speed}/>' for host in node_of_host]
    lines += [
        _format_link(
            f"link-{link}", unit * machine.bandwidth(link), machine.latency(link)
        )
        for link in used
    ]
    has_ports = machine.port_bandwidth < math.inf
    has_memory = memory < math.inf
    latency += 0 if has_memory else far
    for node in sorted(set(node_of_host.values())):
        if has_ports:
            lines.append(_format_link(f"out-{node}", machine.port_bandwidth, latency))
            lines.append(_format_link(f"in-{node}", machine.port_bandwidth, 0))
        else:
            lines.append(_format_link(f"out-{node}", NO_LIMIT, latency, "FATPIPE"))
        if has_memory:
            lines.append(_format_link(f"read-{node}", memory, far))
            lines.append(_format_link(f"write-{node}", memory, 0))
        else:
            rate, more = inside or (NO_LIMIT, 0.0)
            lines.append(_format_link(f"inside-{node}", rate, far + more, "FATPIPE"))
    for (source, target), links in routes.items():
        out_of, into = node_of_host[source], node_of_host[target]
        names = [f"out-{out_of}", *(f"link-{link}" for link in links)]
        if has_ports:
            names.append(f"in-{into}")
        if out_of == into:
            names = [] if has_memory else [f"inside-{out_of}"]
        if has_memory:
            names = [f"read-{out_of}", *names, f"write-{into}"]
        crossed = "".join(f'<link_ctn id="{name}"/>' for name in names)
        ends = f'src="{source}" dst="{target}"'
        lines.append(f'    <route {ends} symmetrical="NO">{crossed}</route>')
    return _HEAD + remark + _ZONE + "\n".join(lines) + "\n  </zone>\n</platform>\n"


def find_single_route(machine: Machine, source: int, target: int) -> list[int]:
    """Return the links between two nodes; several routes are an error."""
    route = machine.route(source, target)
    if any(share < 1 for _, share in route):
        raise Error(
            f"SimGrid sends a message along one route, but {machine.name} splits "
            f"messages from node {source} to node {target} over several; set "
            "another routing="
        )
    return [link for link, _ in route]


def _format_link(
    name: str, bandwidth: float, latency: float, policy: str = "SHARED"
) -> str:
    return (
        f'    <link id="{name}" bandwidth="{format_quantity(bandwidth)}Bps" '
        f'latency="{format_quantity(latency)}s" sharing_policy="{policy}"/>'
    )
