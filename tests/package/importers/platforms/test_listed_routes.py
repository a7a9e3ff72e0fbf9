# SPDX-License-Identifier: BSD-3-Clause
"""SimGrid platforms with bypasses, buses, peers, gaps and many hosts."""

from __future__ import annotations

import pytest
from test_zones import (
    BACKBONE,
    CLUSTER,
    LINK,
    TWO_CLUSTERS,
    format_platform,
    format_zone_route,
)

from topoloom import Error, Machine
from topoloom.importers.machine_description import MachineDescription
from topoloom.importers.simgrid.clusters import read_simgrid_platform


def format_hosts(names: str) -> str:
    return "".join(f'<host id="{name}" speed="1Gf"/>' for name in names)


def format_route(source: str, target: str, links: str, tag: str = "route") -> str:
    listed = "".join(f'<link_ctn id="{link}"/>' for link in links)
    return f'<{tag} src="{source}" dst="{target}">{listed}</{tag}>'


def read(body: str, routing: str = "Full") -> tuple[MachineDescription, Machine]:
    """Read a platform whose bandwidths are in GB/s."""
    text = format_platform(body, routing).replace('Bps"', 'GBps"')
    described = read_simgrid_platform(text)
    return described, Machine(described.text)


def list_rates(machine: Machine, source: int, target: int) -> list[float]:
    """List the bandwidths on a route in GB/s."""
    return [machine.bandwidth(link) / 1e9 for link, _ in machine.route(source, target)]


def list_limits(machine: Machine, source: int, target: int) -> list[float]:
    """List the bandwidths on a route, without links that only join others."""
    return [rate for rate in list_rates(machine, source, target) if rate < 1e9]


def sum_latencies(machine: Machine, source: int, target: int) -> float:
    return sum(machine.latency(link) for link, _ in machine.route(source, target))


def test_a_bypass_replaces_the_route_of_its_direction_only() -> None:
    body = format_hosts("ab") + '<router id="r"/>'
    body += "".join(
        LINK.format(name, rate, "SPLITDUPLEX")
        for name, rate in (("k", 2), ("l", 3), ("m", 5), ("n", 7))
    )
    body += format_route("a", "r", "k") + format_route("r", "b", "l")
    body += format_route("a", "b", "mn", "bypassRoute")
    described, machine = read(body, "Floyd")
    assert list_rates(machine, 0, 1) == [5, 7]
    assert list_rates(machine, 1, 0) == [3, 2]
    assert described.remarks == ()


def test_a_bypass_between_zones_keeps_the_ways_to_its_gateways() -> None:
    bypass = format_zone_route("a", "b", "m").replace("zoneRoute", "bypassZoneRoute")
    body = TWO_CLUSTERS + LINK.format("m", 11, "SHARED") + bypass
    machine = read(body)[1]
    assert list_rates(machine, 0, 4) == [2, 11, 7, 3]
    assert list_rates(machine, 4, 0) == [3, 7, 5, 2]
    assert list_rates(machine, 0, 1) == [2, 2]


def test_a_bus_is_one_link_that_all_pairs_share() -> None:
    body = format_hosts("abc") + LINK.format("bus", 5, "SHARED")
    body += "".join(
        f'<route src="{a}" dst="{b}"><link_ctn id="bus"/></route>'
        for a, b in ("ab", "bc", "ca")
    )
    described, machine = read(body)
    shared = set()
    for a, b in ((0, 1), (1, 0), (1, 2), (2, 0)):
        assert list_limits(machine, a, b) == [5]
        assert sum_latencies(machine, a, b) == 1e-6
        shared.add(machine.route(a, b)[1])
    assert len(shared) == 1
    assert described.remarks == (
        "6 links without limit, which count as hops, join 1 link whose ends the routes "
        "do not determine",
    )


def test_peers_are_as_far_as_their_coordinates() -> None:
    """SimGrid 3.32 states 46.298714934 ms for this pair of peers."""
    body = "".join(
        f'<peer id="{name}" coordinates="{place}" speed="1Gf" bw_in="{rate}Bps" '
        f'bw_out="{rate + 1}Bps"/>'
        for name, place, rate in (("a", "25.5 9.4 1.4", 3), ("b", "-12.7 -9.9 2.1", 6))
    )
    described, machine = read(body, "Vivaldi")
    assert list_limits(machine, 0, 1) == [4, 6]
    assert list_limits(machine, 1, 0) == [7, 3]
    assert sum_latencies(machine, 0, 1) == pytest.approx(0.04629871493397904)
    assert described.remarks == ("distance of hosts read as a link without limit: 1",)
    with pytest.raises(Error, match="coordinates are three numbers"):
        read(body.replace(" 1.4", ""), "Vivaldi")


def test_pairs_without_a_route_go_over_routers() -> None:
    body = format_hosts("ab") + format_hosts("cd") + '<router id="r"/>'
    body += "".join(
        LINK.format(name, rate, "SPLITDUPLEX")
        for name, rate in zip("klmn", (2, 3, 5, 7), strict=True)
    )
    body += format_route("a", "c", "km") + format_route("b", "d", "ln")
    body += "".join(
        format_route(host, "r", link) for host, link in zip("abcd", "klmn", strict=True)
    )
    described, machine = read(body)
    assert list_rates(machine, 0, 1) == [2, 3]
    assert list_rates(machine, 0, 3) == [2, 7]
    assert described.remarks == (
        "assumed: shortest paths for 8 pairs of hosts without a route",
    )


def test_large_clusters_share_one_backbone() -> None:
    body = CLUSTER.format("a", 599, 2, 1, BACKBONE) + CLUSTER.format("b", 0, 3, 1, "")
    body += LINK.format("l", 5, "SHARED") + format_zone_route("a", "b", "l")
    described, machine = read(body)
    assert len(described.hosts) == 601
    for pair in ((0, 599), (599, 1), (1, 598), (300, 301)):
        assert list_rates(machine, *pair) == [2, 7, 2]
    assert list_rates(machine, 599, 600) == [2, 7, 5, 3]
    assert list_rates(machine, 600, 2) == [3, 5, 7, 2]
    backbone = {machine.route(*pair)[1] for pair in ((0, 599), (7, 8))}
    assert len(backbone) == 1


def test_a_limit_of_hosts_is_on_each_of_their_routes() -> None:
    """SimGrid lists the limiter before the link up and after the link down."""
    limited = BACKBONE + ' limiter_link="4Bps" loopback_bw="9Bps"'
    body = CLUSTER.format("a", 1, 2, 1, limited) + CLUSTER.format("b", 1, 3, 1, "")
    body += LINK.format("l", 5, "SPLITDUPLEX") + format_zone_route("a", "b", "l")
    described, machine = read(body)
    assert list_rates(machine, 0, 1) == [4, 2, 7, 2, 4]
    assert list_rates(machine, 0, 2) == [4, 2, 7, 5, 3]
    assert described.remarks == (
        "2 links with one capacity for both directions read with a capacity per "
        "direction",
        "loopback_bw of a cluster left out: 1",
    )


def test_latencies_of_links_may_differ() -> None:
    body = format_hosts("abc") + LINK.format("k", 5, "SPLITDUPLEX")
    body += LINK.format("l", 5, "SPLITDUPLEX").replace("1us", "3us")
    body += format_route("a", "b", "k") + format_route("b", "c", "l")
    machine = read(body, "Floyd")[1]
    assert sum_latencies(machine, 0, 2) == pytest.approx(4e-6)


def test_blank_lines_may_precede_the_declaration() -> None:
    text = '\n<?xml version="1.0"?>' + format_platform(TWO_CLUSTERS)
    assert len(read_simgrid_platform(text).hosts) == 5
