# SPDX-License-Identifier: BSD-3-Clause
"""A SimGrid platform that lists the routes of a machine, so that both route alike."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import permutations

from topoloom._core import Error, Machine
from topoloom.discover.simgrid_units import quantity

_HEAD = """<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="machine" routing="Full">
"""
#: The routes between all pairs of them are about 20 MB of text.
_MOST_NODES = 300
#: Of a link that is there for its latency only.
_NO_LIMIT = 1e18


def host_name(node: int) -> str:
    """Name the host that is a node."""
    return f"node-{node}.topoloom"


def write_all_routes(machine: Machine, beside: float) -> str:
    """Write all hosts of a machine, and the routes between any two.

    `beside` is as in `write_routes`.

    Raises
    ------
    topoloom.Error
        If there are too many, or messages are split over several ways.
    """
    nodes = machine.node_count
    if nodes > _MOST_NODES:
        raise Error(
            f"{machine.name} is no SimGrid cluster, and lists of the routes between "
            f"all pairs are written for up to {_MOST_NODES} nodes, not {nodes:,}; "
            "'topoloom simulate' writes those that a pattern needs"
        )
    return write_routes(machine, permutations(range(nodes), 2), beside)


def write_routes(
    machine: Machine, pairs: Iterable[tuple[int, int]], beside: float
) -> str:
    """Write the hosts of some nodes, and the routes between these pairs of them.

    A link of ours is one of SimGrid's, for one direction. Ports of nodes are links,
    too. A message takes `beside` seconds beside its links: on the way out.

    Raises
    ------
    topoloom.Error
        Where messages from one node to another are split over several ways.
    """
    routes = {pair: _route(machine, *pair) for pair in sorted(set(pairs))}
    nodes = sorted({node for pair in routes for node in pair})
    used = sorted({link for route in routes.values() for link in route})
    speed = f'speed="1Gf" core="{machine.slots_per_node}"'
    lines = [f'    <host id="{host_name(node)}" {speed}/>' for node in nodes]
    lines += [
        _link(f"link-{link}", machine.bandwidth(link), machine.latency(link))
        for link in used
    ]
    has_ports = machine.port_bandwidth < math.inf
    if has_ports:
        for node in nodes:
            lines.append(_link(f"out-{node}", machine.port_bandwidth, beside))
            lines.append(_link(f"in-{node}", machine.port_bandwidth, 0))
    elif beside:
        lines.append(_link("startup", _NO_LIMIT, beside, "FATPIPE"))
    elif not all(routes.values()):
        lines.append(_link("router", _NO_LIMIT, 0, "FATPIPE"))
    for (source, target), links in routes.items():
        names = [f"link-{link}" for link in links]
        if has_ports:
            names = [f"out-{source}", *names, f"in-{target}"]
        elif beside:
            names = ["startup", *names]
        elif not names:
            names = ["router"]
        crossed = "".join(f'<link_ctn id="{name}"/>' for name in names)
        lines.append(
            f'    <route src="{host_name(source)}" dst="{host_name(target)}" '
            f'symmetrical="NO">{crossed}</route>'
        )
    return _HEAD + "\n".join(lines) + "\n  </zone>\n</platform>\n"


def _route(machine: Machine, source: int, target: int) -> list[int]:
    route = machine.route(source, target)
    if any(share < 1 for _, share in route):
        raise Error(
            f"SimGrid sends a message one way, but {machine.name} splits those from "
            f"node {source} to node {target} over several; give it another routing="
        )
    return [link for link, _ in route]


def _link(name: str, bandwidth: float, latency: float, policy: str = "SHARED") -> str:
    return (
        f'    <link id="{name}" bandwidth="{quantity(bandwidth)}Bps" '
        f'latency="{quantity(latency)}s" sharing_policy="{policy}"/>'
    )
