# SPDX-License-Identifier: BSD-3-Clause
"""SimGrid platforms of several zones: links of routes, counted by hand."""

from __future__ import annotations

import random

import pytest

from topoloom import Error, Machine
from topoloom.importers.simgrid.clusters import read_simgrid_platform

CLUSTER = (
    '<cluster id="{0}" prefix="{0}" suffix="" radical="0-{1}" speed="1Gf" bw="{2}Bps" '
    'lat="1us" core="{3}" {4}/>'
)
LINK = '<link id="{}" bandwidth="{}Bps" latency="1us" sharing_policy="{}"/>'
BACKBONE = 'bb_bw="7Bps" bb_lat="1us"'


def format_platform(body: str, routing: str = "Full") -> str:
    return (
        f'<platform version="4.1"><zone id="w" routing="{routing}">{body}</zone>'
        "</platform>"
    )


def format_zone_route(source: str, target: str, *links: str) -> str:
    listed = "".join(f'<link_ctn id="{link}"/>' for link in links)
    return (
        f'<zoneRoute src="{source}" dst="{target}" gw_src="{source}{source}_router" '
        f'gw_dst="{target}{target}_router">{listed}</zoneRoute>'
    )


def list_rates(machine: Machine, source: int, target: int) -> list[float]:
    return [machine.bandwidth(link) for link, _ in machine.route(source, target)]


TWO_CLUSTERS = (
    CLUSTER.format("a", 2, 2, 1, "")
    + CLUSTER.format("b", 1, 3, 1, BACKBONE)
    + LINK.format("l", 5, "SHARED")
    + format_zone_route("a", "b", "l")
)


def test_messages_between_clusters_cross_the_links_of_both() -> None:
    described = read_simgrid_platform(format_platform(TWO_CLUSTERS))
    assert described.hosts == ("a0", "a1", "a2", "b0", "b1")
    machine = Machine(described.text)
    expected = {
        (0, 1): [2, 2],
        (3, 4): [3, 7, 3],
        (0, 4): [2, 5, 7, 3],
        (3, 2): [3, 7, 5, 2],
    }
    for pair, rates in expected.items():
        assert list_rates(machine, *pair) == rates


def test_a_fatpipe_joins_any_number_of_clusters() -> None:
    names = "abcd"
    body = "".join(CLUSTER.format(name, 1, 2, 4, "") for name in names)
    body += LINK.format("l", 5, "FATPIPE")
    body += "".join(
        format_zone_route(one, other, "l")
        for one in names
        for other in names
        if one < other
    )
    described = read_simgrid_platform(format_platform(body))
    machine = Machine(described.text)
    assert described.text.endswith("+node:4")
    for a in range(8):
        for b in range(8):
            if a != b:
                rates = [2, 2] if a // 2 == b // 2 else [2, 5, 2]
                assert list_rates(machine, a, b) == rates
    assert described.remarks == ("1 FATPIPE read as links of shared capacity",)


def test_a_shared_bus_joins_three_clusters() -> None:
    body = "".join(CLUSTER.format(name, 1, 2, 1, BACKBONE) for name in "abc")
    body += LINK.format("l", 5, "SHARED") + "".join(
        format_zone_route(one, other, "l") for one, other in ("ab", "ac", "bc")
    )
    text = format_platform(body).replace('Bps"', 'GBps"')
    machine = Machine(read_simgrid_platform(text).text)
    for a in range(6):
        for b in range(6):
            rates = [rate / 1e9 for rate in list_rates(machine, a, b) if rate < 1e18]
            far = [2, 7, 5, 7, 2] if a // 2 != b // 2 else [2, 7, 2]
            assert rates == (far if a != b else [])


@pytest.mark.parametrize("seed", range(5))
def test_routes_over_a_tree_of_links_are_found_again(seed: int) -> None:
    """Routes of routing Full on a drawn tree, whose links state no ends."""
    rng = random.Random(seed)
    hosts, switches = 6, 4
    above = {hosts + k: hosts + rng.randrange(k) for k in range(1, switches)}
    above |= {host: hosts + rng.randrange(switches) for host in range(hosts)}
    rate = {vertex: vertex + 1 for vertex in above}

    def climb(vertex: int) -> list[int]:
        path = [vertex]
        while path[-1] in above:
            path.append(above[path[-1]])
        return path

    body = "".join(f'<host id="h{host}" speed="1Gf"/>' for host in range(hosts))
    body += "".join(LINK.format(vertex, rate[vertex], "SHARED") for vertex in above)
    expected = {}
    pairs = [(a, b) for a in range(hosts) for b in range(a)]
    rng.shuffle(pairs)
    for a, b in pairs:
        up, down = climb(a), climb(b)
        links = [v for v in up if v not in down] + [v for v in down if v not in up][
            ::-1
        ]
        expected[a, b] = [rate[v] for v in links]
        listed = "".join(f'<link_ctn id="{v}"/>' for v in links)
        body += f'<route src="h{a}" dst="h{b}">{listed}</route>'
    machine = Machine(read_simgrid_platform(format_platform(body)).text)
    for (a, b), rates in expected.items():
        assert list_rates(machine, a, b) == rates
        assert list_rates(machine, b, a) == rates[::-1]


def test_hosts_of_different_cores_are_types_of_nodes() -> None:
    body = '<host id="a" speed="1Gf" core="4"/><host id="b" speed="1Gf"/>'
    body += LINK.format("l", 5, "SHARED")
    body += '<route src="a" dst="b"><link_ctn id="l"/></route>'
    described = read_simgrid_platform(format_platform(body))
    assert [len(kind.nodes) for kind in described.node.types] == [1, 1]


def test_traces_and_pairs_without_a_route_are_counted() -> None:
    body = "".join(f'<host id="{name}" speed="1Gf"/>' for name in "abc")
    body += LINK.format("l", 5, "SHARED") + LINK.format("m", 5, "SHARED")
    body += '<route src="a" dst="b"><link_ctn id="l"/></route>'
    body += '<route src="b" dst="c"><link_ctn id="m"/></route>'
    body += '<trace id="t" periodicity="1">0.0 1.0</trace>'
    described = read_simgrid_platform(format_platform(body))
    assert described.remarks == (
        "assumed: shortest paths for 2 pairs of hosts without a route",
        "2 links with one capacity for both directions read with a capacity per "
        "direction",
        "1 trace of speeds and failures ignored",
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('gw_src="aa_router"', 'gw_src="b0"'), "zone 'a' has no 'b0'"),
        (('dst="b"', 'dst="c"'), "no zone has the id 'c'"),
        (('"l"/></zone', '"x"/></zone'), "no <link> has the id 'x'"),
        (('<zoneRoute src="a"', '<bypassZoneRoute src="a"'), "not XML"),
        (('id="l" b', 'id="l" lat="" topology="TORUS" b'), ""),
    ],
)
def test_damaged_platforms_are_refused(change: tuple[str, str], message: str) -> None:
    text = format_platform(TWO_CLUSTERS)
    assert change[0] in text
    changed = text.replace(*change)
    if not message:  # attributes that SimGrid ignores
        read_simgrid_platform(changed)
        return
    with pytest.raises(Error, match=message):
        read_simgrid_platform(changed)
