# SPDX-License-Identifier: BSD-3-Clause
"""SimGrid platforms are read and written."""

from __future__ import annotations

import sys
from xml.etree import ElementTree

import pytest
from hypothesis import given, strategies as st
from simgrid_platforms import (
    BACKBONE,
    BY_SWITCH,
    HEAD,
    STAR,
    format_cluster,
    format_link,
    format_route,
    format_zone,
)

from topoloom import Error, Machine
from topoloom.importers.simgrid.clusters import (
    read_simgrid_platform,
    write_simgrid_platform,
)
from topoloom.machines.import_formats import IMPORTERS
from topoloom.support.units import parse_bandwidth

(IMPORTER,) = (one for one in IMPORTERS if one.name == "simgrid")

RATES = ",bandwidth=125000000B/s,latency=5e-05s"

READ = [
    (format_cluster(), f"tree:12{RATES}"),
    (format_cluster(core="4"), f"tree:12{RATES}+node:4"),
    (format_cluster(bw="1Gbps"), f"tree:12{RATES}"),
    (format_cluster(bw="8Kibps", lat="0"), "tree:12,bandwidth=1024B/s,latency=0s"),
    (
        format_cluster(radical="0-1", bb_bw="2.25GBps", bb_lat="500us"),
        "graph:2+2:2>3@2250000000B/s,0>2,3>0,1>2,3>1,bandwidth=125000000B/s,"
        "latency=0.0002s",
    ),
    (
        format_cluster(bb_bw="100MBps", bb_lat="0", bb_sharing_policy="FATPIPE"),
        "tree:12,bandwidth=100000000B/s,latency=5e-05s",
    ),
    (
        format_cluster(topology="TORUS", topo_parameters="3,2,2"),
        f"torus:2x2x3,order=2:1:0,ties=simgrid{RATES}",
    ),
    (
        format_cluster(topology="TORUS", topo_parameters="12"),
        f"torus:12,ties=simgrid{RATES}",
    ),
    (
        format_cluster(topology="FAT_TREE", topo_parameters="2;4,3;1,1;1,1"),
        f"tree:4:3{RATES}",
    ),
    (
        format_cluster(topology="FAT_TREE", topo_parameters="2;4,3;1,2;1,1"),
        f"fattree:4:3,up=1:2{RATES}",
    ),
    (
        format_cluster(topology="FAT_TREE", topo_parameters="2;4,3;1,1;1,2"),
        f"fattree:4:3,up=1:1,parallel=1:2,routing=simgrid{RATES}",
    ),
    (
        format_zone(BY_SWITCH, "Floyd"),
        "graph:3+1:0-3@2000000000B/s,1-3@1000000000B/s,2-3@1000000000B/s,"
        "latency=1e-06s",
    ),
    (format_zone(STAR), "tree:3,bandwidth=1000000000B/s,latency=1e-06s"),
    (
        format_zone(BACKBONE),
        "graph:3+2:0>3@1000000000B/s,1>3@1000000000B/s,2>3@1000000000B/s,"
        "3>4@5000000000B/s,4>0@1000000000B/s,4>1@1000000000B/s,"
        "4>2@1000000000B/s,latency=1e-06s",
    ),
    (
        format_zone(
            format_link("l", "1MBps", "FATPIPE") + format_route("a", "b", "l"),
            hosts="ab",
        ),
        "graph:2:0-1@1000000B/s,latency=1e-06s",
    ),
    (
        format_zone(
            format_link("l") + format_link("m") + format_route("a", "b", "l m"),
            "Dijkstra",
            hosts="ab",
        ),
        "graph:2+1:0-2@1000000000B/s,1-2@1000000000B/s,latency=1e-06s",
    ),
    (
        format_zone(
            format_link("l")
            + format_link("m", "2GBps")
            + format_route("a", "b", "l", "NO")
            + format_route("b", "a", "m", "NO"),
            hosts="ab",
        ),
        "graph:2:0>1@1000000000B/s,1>0@2000000000B/s,latency=1e-06s",
    ),
    (format_zone("", hosts="a"), "tree:1"),
]


@pytest.mark.parametrize(("platform", "text"), READ)
def test_platforms_are_read_as_machine_texts(platform: str, text: str) -> None:
    assert IMPORTER.recognizes(platform)
    described = read_simgrid_platform(platform)
    assert described.text == text
    assert len(described.hosts) == Machine(text).node_count


@pytest.mark.parametrize(
    ("parameters", "hosts", "text"),
    [
        (
            "3,4;3,2;4,1;2",
            72,
            f"dragonfly:3x3x4,nodes=2,cards=1,global=1,arrangement=direct{RATES},"
            "bandwidth.global=500000000B/s,bandwidth.row=125000000B/s,"
            "bandwidth.column=250000000B/s,bandwidth.host=125000000B/s",
        ),
        (
            "2,1;1,5;3,2;1",
            6,
            f"dragonfly:2x3,nodes=1,cards=1,global=1,arrangement=direct{RATES},"
            "bandwidth.global=125000000B/s,bandwidth.local=250000000B/s,"
            "bandwidth.host=125000000B/s",
        ),
    ],
)
def test_links_of_dragonflies_have_several_cables(
    parameters: str, hosts: int, text: str
) -> None:
    platform = format_cluster(
        topology="DRAGONFLY", topo_parameters=parameters, radical=f"0-{hosts - 1}"
    )
    assert read_simgrid_platform(platform).text == text
    assert Machine(text).node_count == hosts


def test_private_links_of_hosts_are_read() -> None:
    described = read_simgrid_platform(
        format_cluster(core="4", loopback_bw="1GBps", loopback_lat="1us")
    )
    assert described.text == (
        f"tree:12{RATES}+node:4,memory=1000000000B/s,memory-startup=1e-06s"
    )
    assert Machine(described.text).memory_bandwidth == 1e9
    described = read_simgrid_platform(format_cluster(limiter_link="100MBps"))
    assert described.text == f"tree:12{RATES}+node:1,bandwidth=100000000B/s"
    assert Machine(described.text).port_bandwidth == 1e8
    assert described.remarks[0].startswith("limiter_link is a limit of a host")
    described = read_simgrid_platform(format_cluster(loopback_bw="1GBps"))
    assert described.remarks == ("loopback links left out: a host is one slot",)


def test_hosts_are_named_by_prefix_and_radical() -> None:
    described = read_simgrid_platform(format_cluster(radical="1,3-5, 8"))
    assert described.hosts == tuple(f"node-{i}.acme.org" for i in (1, 3, 4, 5, 8))
    assert read_simgrid_platform(format_zone(STAR)).hosts == ("a", "b", "c")


def test_a_cluster_in_a_zone_is_found() -> None:
    inner = format_cluster().partition("  <cluster")[2].partition("/>")[0]
    platform = (
        f'{HEAD}<config/><zone id="w" routing="None"><cluster{inner}>'
        '<prop id="a" value="1"/></cluster></zone></platform>'
    )
    assert read_simgrid_platform(platform).text == f"tree:12{RATES}"


def test_torus_routes_equal_simgrid_routes() -> None:
    """Routes follow the first axis first; hosts are numbered along it."""
    text = read_simgrid_platform(
        format_cluster(topology="TORUS", topo_parameters="3,4", radical="0-11")
    ).text
    machine = Machine(text)
    # The route from host 0 to host 4 = (1, 1) uses host 1 = (1, 0).
    ends = [machine.link_ends(hop) for hop, _ in machine.route(0, 4)]
    assert ends == [(0, 1), (1, 4)]


def test_a_backbone_carries_every_message_once() -> None:
    machine = Machine(read_simgrid_platform(format_zone(BACKBONE)).text)
    for source in range(3):
        for target in range(3):
            if source != target:
                rates = [
                    machine.bandwidth(hop) for hop, _ in machine.route(source, target)
                ]
                assert rates == [1e9, 5e9, 1e9]


@pytest.mark.parametrize(
    ("platform", "message"),
    [
        ("", "line 1: not XML: no element found"),
        ("<a></b>", "line 1: not XML: mismatched tag"),
        ("<hosts/>", "line 1: the document is a <hosts>"),
        ("<platform/>", "lacks its 'version'"),
        ('<platform version="3"/>', "platform version 3, but versions 4 and 4.1"),
        ('<platform version="4"/>', "no <cluster> and no <zone>"),
        (
            '<!DOCTYPE p [<!ENTITY x "y">]>\n<platform version="4">&x;</platform>',
            "line 1: the DOCTYPE declares entities",
        ),
        (
            '<!DOCTYPE p [<!ENTITY x SYSTEM "file:///etc/passwd">]><platform/>',
            "line 1: the DOCTYPE declares entities",
        ),
        (format_cluster(radical=""), "line 5: <cluster> lacks its 'radical'"),
        (format_cluster(radical="0-"), "radical: '0-' is not a range"),
        (format_cluster(radical="5-1"), "radical: range 5-1 is descending"),
        (format_cluster(radical="0-999999999"), "radical names more than 500000 hosts"),
        (format_cluster(radical="1,1"), "radical names a host twice"),
        (format_cluster(bw="125"), None),
        (format_cluster(bw="125MB"), "bw: unit 'MB' is none of Bps"),
        (format_cluster(bw="fast"), 'bw="fast" is not a number with a unit'),
        (format_cluster(bw="0Bps"), "bw: a bandwidth must be above 0"),
        (format_cluster(lat="50"), None),
        (format_cluster(lat="50GB"), "lat: unit 'GB'"),
        (format_cluster(core="x"), 'core="x" is not an integer'),
        (format_cluster(core="0"), "a host has no core"),
        (format_cluster(topology="VIVALDI"), "topology VIVALDI cannot be read yet"),
        (format_cluster(topology="TORUS"), "lacks its 'topo_parameters'"),
        (format_cluster(topology="TORUS", topo_parameters="4,4"), "has 16 hosts, but"),
        (
            format_cluster(topology="TORUS", topo_parameters="4,x"),
            "'4,x' is not a list of numbers",
        ),
        (format_cluster(topology="TORUS", topo_parameters="4,0"), "of '4,0' is 0"),
        (
            format_cluster(topology="FAT_TREE", topo_parameters="2;4,4;1,1;1,2"),
            "16 hosts",
        ),
        (
            format_cluster(topology="FAT_TREE", topo_parameters="2;4,4;1,1"),
            "such as 2;4,4",
        ),
        (
            format_cluster(topology="FAT_TREE", topo_parameters="3;4,3;1,1;1,1"),
            "differ in",
        ),
        (format_cluster(bb_bw="1GBps", radical="0-99999"), "hosts share one backbone"),
        (
            format_cluster(sharing_policy="FATPIPE"),
            "sharing_policy FATPIPE have no shared capacity",
        ),
        (
            f'{HEAD}<zone id="z" routing="Full"><zone id="a"/>\n<zone id="b"/>'
            "</zone></platform>",
            "line 4: the platform has no <host> and no <cluster>",
        ),
        (format_zone("", "Wifi"), "line 4: routing 'Wifi' cannot be read"),
        (format_zone("<peer id='p'/>"), "line 8: a <peer> in a zone cannot be read"),
        (format_zone("", hosts=""), "the zone has no <host>"),
        (format_zone(""), "line 4: the zone has no <route>"),
        (
            format_zone(format_link("l") + format_route("a", "b", "l")),
            "line 4: routes do not join hosts 'a' and 'c' both ways",
        ),
        (format_zone("", hosts="aa"), "line 6: 'a' appears twice"),
        (
            format_zone(format_link("l") + format_link("l")),
            "line 9: link 'l' appears twice",
        ),
        (
            format_zone(format_link("l") + format_route("a", "x", "l")),
            "line 9: no <host> or <router>",
        ),
        (format_zone(format_route("a", "b", "l")), "no <link> has the id 'l'"),
        (format_zone(format_route("a", "b", "")), "a route lists its links"),
        (
            format_zone(format_link("l", "1GBps", "WIFI")),
            "sharing_policy WIFI cannot be read",
        ),
        (
            format_zone(
                format_link("l")
                + format_route("a", "b", "l")
                + format_route("b", "a", "l")
            ),
            "line 10: this route appears twice",
        ),
        (
            format_zone(
                format_link("l")
                + format_route("a", "b", "l")
                + format_route("b", "c", "l"),
                "Floyd",
            ),
            "line 4: the links of the routes do not determine their switches",
        ),
        (format_zone(STAR, hosts="abcd"), "line 4: zone 'z' has no route from 'a'"),
        (
            format_zone("").replace('"a" speed="1Gf"', '"a" core="0"'),
            "line 5: a host has no core",
        ),
    ],
)
def test_malformed_platforms_name_the_line(platform: str, message: str | None) -> None:
    if message is None:  # SimGrid assumes bytes and seconds if the unit is missing
        read_simgrid_platform(platform)
        return
    with pytest.raises(Error, match=message) as raised:
        read_simgrid_platform(platform)
    assert str(raised.value).startswith("line ")


def test_without_defusedxml_the_error_names_the_package(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "defusedxml.common", None)
    with pytest.raises(Error, match=r"pip install 'topoloom\[cli\]'"):
        read_simgrid_platform(format_cluster())


def test_the_nesting_of_elements_is_limited() -> None:
    with pytest.raises(Error, match="nested more than 200 deep"):
        read_simgrid_platform("<a>" * 300 + "</a>" * 300)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mesh:20x20", "up to 300 nodes, not 400"),
        ("tree:4:4,distance=1:9", "no distances except links"),
        ("dragonfly:9x4,routing=valiant", "splits messages from node"),
        ("fattree:4:4,routing=random", "splits messages from node 0 to node 4"),
    ],
)
def test_machines_that_simgrid_cannot_express_are_refused(
    text: str, message: str
) -> None:
    with pytest.raises(Error, match=message):
        write_simgrid_platform(Machine(text))


@pytest.mark.parametrize(
    "text",
    [
        "mesh:4x4",
        "torus:4x4,wrap=10",
        "torus:4x4,nodes=2",
        "torus:4x4,nodes=2,hosts=free",
        "torus:4x4,cards=2",
        "torus:4x4,bandwidth.x=2",
        "mesh:4x4,bandwidth=1GB/s",
        "torus:4x4,bandwidth=1GB/s+node:2,bandwidth=5GB/s,startup=2us",
        "torus:4x4,bandwidth=1GB/s+node:2,startup=2us",
        "torus:4x4,bandwidth=1GB/s+node:2,startup=2us,latency=1us",
        "tree:4:4,bandwidth=1GB/s:2GB/s",
        "fattree:4:4,latency=1us:2us",
        "fattree:4:4,parallel=1:2",
        "fattree:4:4,routing=s-mod-k",
        "dragonfly:3x2,nodes=2,latency=50ns",
        "graph:2:0-1",
    ],
)
def test_machines_without_a_simgrid_type_are_written_route_by_route(text: str) -> None:
    """SimGrid's routes have the same bandwidth, latency and links as ours."""
    machine = Machine(text)
    zone = ElementTree.fromstring(write_simgrid_platform(machine))[0]
    unit = 1 if machine.has_bandwidths else 12.5e9  # B/s per relative unit
    rate = {link.get("id"): link.get("bandwidth") for link in zone.iter("link")}
    late = {link.get("id"): link.get("latency") for link in zone.iter("link")}
    routes = list(zone.iter("route"))
    assert len(routes) == machine.node_count * (machine.node_count - 1)
    for listed in routes:
        source, target = (
            int((listed.get(end) or "").removeprefix("node-").removesuffix(".topoloom"))
            for end in ("src", "dst")
        )
        names = [part.get("id") for part in listed]
        ours = [link for link, _ in machine.route(source, target)]
        assert [name for name in names if name and "link-" in name] == [
            f"link-{link}" for link in ours
        ]
        # No link is between nodes of one router, so their bandwidth is unlimited.
        rates = [unit * machine.bandwidth(link) for link in ours]
        slowest = min([machine.port_bandwidth, *rates, 1e18])
        # Assumptions about nodes are not exported.
        inside = text.partition("+node:")[2]
        beside = 1e-6 * (2 * ("startup=2us" in inside) + ("latency=1us" in inside))
        latency = beside + sum(map(machine.latency, ours))
        assert min(float(rate[name][:-3]) for name in names) == slowest
        assert sum(float(late[name][:-1]) for name in names) == pytest.approx(latency)
        assert listed.get("symmetrical") == "NO"


@pytest.mark.parametrize("text", ["torus:4x2", "tree:8", "fattree:4:2"])
def test_cores_of_a_cluster_communicate_over_loopback_links(text: str) -> None:
    inside = "+node:3,memory=50GB/s,memory-startup=200ns"
    xml = write_simgrid_platform(Machine(f"{text},bandwidth=1GB/s{inside}"))
    (cluster,) = ElementTree.fromstring(xml).iter("cluster")
    assert cluster.get("loopback_bw") == "50000000000Bps"
    assert float((cluster.get("loopback_lat") or "").removesuffix("s")) == 2e-7
    alone = write_simgrid_platform(Machine(f"{text},bandwidth=1GB/s"))
    assert "loopback" not in alone


@pytest.mark.parametrize(
    "text",
    [
        "tree:4:1:3",
        "fattree:4:4",
        "fattree:2:3:2",
        "fattree:4:3,up=1:2",
        "fattree:2:3:2,up=1:2:2,parallel=1:2:3,routing=simgrid",
    ],
)
def test_routes_of_a_tree_are_read_back(text: str) -> None:
    machine = Machine(text)
    again = Machine(read_simgrid_platform(write_simgrid_platform(machine)).text)
    assert again.link_count == machine.link_count
    nodes = range(machine.node_count)
    for a in nodes:
        assert [again.route(a, b) for b in nodes] == [
            machine.route(a, b) for b in nodes
        ]


@given(
    st.lists(st.integers(1, 5), min_size=1, max_size=4),
    st.integers(1, 10**12),
    st.sampled_from(["", ",latency=1.3us"]),
    st.integers(1, 4),
    st.sampled_from(["tree", "torus"]),
)
def test_an_exported_platform_is_read_back(
    sizes: list[int], rate: int, latency: str, cores: int, kind: str
) -> None:
    body = f"{kind}:" + ("x" if kind == "torus" else ":").join(map(str, sizes))
    inside = f"+node:{cores}" if cores > 1 else ""
    machine = Machine(f"{body},bandwidth={rate}B/s{latency}{inside}")
    described = read_simgrid_platform(write_simgrid_platform(machine))
    again = Machine(described.text)
    assert again.text.startswith(body)
    assert (again.node_count, again.slots_per_node) == (machine.node_count, cores)
    assert len(described.hosts) == machine.node_count
    if machine.link_count:
        assert again.bandwidth(0) == parse_bandwidth(f"{rate}B/s")
    nodes = range(machine.node_count)
    for a in nodes[:5]:
        assert [again.hops(a, b) for b in nodes] == [machine.hops(a, b) for b in nodes]


def test_only_simgrid_platforms_are_recognized() -> None:
    assert not IMPORTER.recognizes('<system version="1"/>')
    assert not IMPORTER.recognizes("platform version")
