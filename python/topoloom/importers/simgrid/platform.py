# SPDX-License-Identifier: BSD-3-Clause
"""SimGrid platforms that list the routes of a machine."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import permutations
from typing import NamedTuple

from topoloom._core import Error, Machine
from topoloom.importers.simgrid.units import quantity

_HEAD = """<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
"""
_ZONE = """  <zone id="machine" routing="Full">
"""
#: Routes between all pairs of so many nodes are about 20 MB of text.
_MAX_NODES = 300
#: The bandwidth of a link that only adds latency.
NO_LIMIT = 1e18


class InsideHost(NamedTuple):
    """The link between ranks of a host: bytes per second of a message, seconds."""

    bandwidth: float
    latency: float


def write_all_routes(
    machine: Machine,
    beside: float,
    unit: float = 1.0,
    remark: str = "",
    inside: InsideHost | None = None,
) -> str:
    """Write all hosts of a machine, and the routes between any two.

    A message takes `beside` seconds in addition to its links. A bandwidth of 1 is
    `unit` bytes per second. A `remark`, lines of XML, comes first. Memories are left
    out. Raises `topoloom.Error` for over 300 nodes, and if messages have several
    routes.
    """
    nodes = machine.node_count
    if nodes > _MAX_NODES:
        raise Error(
            f"{machine.name} is not a SimGrid cluster, and lists of the routes between "
            f"all pairs are written for up to {_MAX_NODES} nodes, not {nodes:,}; "
            "'topoloom simulate' writes those that a pattern needs"
        )
    hosts = {f"node-{node}.topoloom": node for node in range(nodes)}
    routes = {
        (a, b): _route(machine, hosts[a], hosts[b]) for a, b in permutations(hosts, 2)
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
    inside: InsideHost | None = None,
) -> str:
    """Write hosts, one or several per node, and the routes between pairs of them.

    Each directed link becomes a link of SimGrid. So do ports and memories of nodes:
    every message is read from one memory and written to one.

    Parameters
    ----------
    routes
        The links between two hosts; none inside a node.
    latency
        Seconds of a message between nodes in addition to its links.
    memory
        Bytes per second that messages read from a node's memory, and write to it; inf
        for no limit.
    far
        Seconds of every message in addition.
    unit
        Bytes per second of a bandwidth of 1.
    remark
        Lines of XML before the zone.
    inside
        The link of messages inside a node, if `memory` is inf.
    """
    used = sorted({link for route in routes.values() for link in route})
    speed = f'speed="1Gf" core="{machine.slots_per_node}"'
    lines = [f'    <host id="{host}" {speed}/>' for host in node_of_host]
    lines += [
        _link(f"link-{link}", unit * machine.bandwidth(link), machine.latency(link))
        for link in used
    ]
    has_ports = machine.port_bandwidth < math.inf
    has_memory = memory < math.inf
    latency += 0 if has_memory else far
    for node in sorted(set(node_of_host.values())):
        if has_ports:
            lines.append(_link(f"out-{node}", machine.port_bandwidth, latency))
            lines.append(_link(f"in-{node}", machine.port_bandwidth, 0))
        else:
            lines.append(_link(f"out-{node}", NO_LIMIT, latency, "FATPIPE"))
        if has_memory:
            lines.append(_link(f"read-{node}", memory, far))
            lines.append(_link(f"write-{node}", memory, 0))
        else:
            rate, more = inside or (NO_LIMIT, 0.0)
            lines.append(_link(f"inside-{node}", rate, far + more, "FATPIPE"))
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


def _route(machine: Machine, source: int, target: int) -> list[int]:
    route = machine.route(source, target)
    if any(share < 1 for _, share in route):
        raise Error(
            f"SimGrid sends a message along one route, but {machine.name} splits "
            f"those from node {source} to node {target} over several; give it "
            "another routing="
        )
    return [link for link, _ in route]


def _link(name: str, bandwidth: float, latency: float, policy: str = "SHARED") -> str:
    return (
        f'    <link id="{name}" bandwidth="{quantity(bandwidth)}Bps" '
        f'latency="{quantity(latency)}s" sharing_policy="{policy}"/>'
    )
