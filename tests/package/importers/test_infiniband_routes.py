# SPDX-License-Identifier: BSD-3-Clause
"""Routes of InfiniBand fabrics: fat trees, splitting over shortest routes, tables."""

from __future__ import annotations

import random
import re
from collections import Counter

import pytest
from fat_tree_dump import (
    FabricDump,
    count_hops,
    draw_fabric,
    get_device_host,
    make_fat_tree,
)
from hypothesis import given, strategies as st

from topoloom import Error, Machine
from topoloom.importers.infiniband.ibnetdiscover import read_ibnetdiscover

sizes = st.tuples(*[st.integers(1, 3)] * 5)


def count_links(fabric: FabricDump) -> Counter[float]:
    """Count the directed links of each bandwidth."""
    rates = {"4xEDR": 12.5e9, "4xHDR": 25e9}
    return Counter(
        rates[rate] for ports in fabric.ports.values() for _, _, rate in ports.values()
    )


@given(sizes, st.randoms(use_true_random=False))
def test_regular_fat_trees_are_recognized(
    size: tuple[int, ...], rng: random.Random
) -> None:
    fabric = make_fat_tree(*size)
    order = list(fabric.description)
    rng.shuffle(order)
    described = read_ibnetdiscover(fabric.format_dump(order))
    pods, leaves, hosts, spines, cores = size
    one_route = spines * cores == 1 if pods > 1 else min(leaves, spines) == 1
    if one_route:
        assert described.text.startswith("graph:")
        assert not described.remarks
    else:
        assert described.text == (
            f"fattree:{hosts}:{leaves}:{pods},up=1:{spines}:{cores},bandwidth=12.5GB/s"
        )
        (remark,) = described.remarks
        assert remark.startswith("assumed: d-mod-k routes, as of OpenSM's ftree; a ")
    machine = Machine(described.text)
    assert described.hosts == tuple(f"n{i + 1}" for i in range(pods * leaves * hosts))
    rates = Counter(machine.bandwidth(link) for link in range(machine.link_count))
    assert rates == count_links(fabric)
    for i, start in enumerate(described.hosts):
        hops = count_hops(fabric, start)
        assert [machine.hops(i, j) for j in range(machine.node_count)] == [
            hops[end] for end in described.hosts
        ]


def test_a_fat_tree_of_two_levels_with_double_cables_and_hosts_in_any_order() -> None:
    fabric = FabricDump()
    spines = [fabric.add_switch(f"spine{i}") for i in range(3)]
    for number in range(4):
        leaf = fabric.add_switch(f"leaf{number}")
        for i in range(2):
            fabric.add_cable(leaf, fabric.add_adapter(f"n{number + 4 * i} mlx5_0"))
        for spine in spines * 2:
            fabric.add_cable(leaf, spine, "4xHDR")
    described = read_ibnetdiscover(fabric.format_dump())
    assert described.text == "fattree:2:4,up=1:3,parallel=1:2,bandwidth=12.5GB/s:25GB/s"
    assert described.hosts == ("n0", "n4", "n1", "n5", "n2", "n6", "n3", "n7")
    assert described.remarks == (
        "assumed: d-mod-k routes, as of OpenSM's ftree; a regular fat tree: 2 hosts on "
        "each of 4 leaves, 3 spines",
    )


def make_irregular_fabric(kind: str) -> FabricDump:
    fabric = make_fat_tree(2, 2, 2, 2, 2)
    named = {text: name for name, text in fabric.description.items()}
    leaf = [named[f"MF0;leaf{pod}-0:MQM8700/U1"] for pod in (0, 1)]
    spine = [named[f"MF0;spine{pod}-0:MQM8700/U1"] for pod in (0, 1)]
    if kind == "a host more":
        fabric.add_cable(leaf[1], fabric.add_adapter("n9 mlx5_0"))
    elif kind == "a cable more":
        fabric.add_cable(leaf[1], spine[1])
    elif kind == "another pod's spine":
        fabric.add_cable(leaf[0], spine[1])
    elif kind == "joined leaves":
        fabric.add_cable(*leaf)
    elif kind == "a host with two leaves":
        fabric.add_cable(leaf[0], fabric.add_adapter("n8 mlx5_1"))
    elif kind == "a core more":
        fabric.add_cable(spine[1], fabric.add_switch("core9"))
    elif kind == "a fourth level":
        fabric.add_cable(named["core0-0"], fabric.add_switch("top"))
    elif kind == "a pod more":
        fabric.add_cable(
            named["core0-0"], alone := fabric.add_switch("MF0;spine2-0:X/U1")
        )
        fabric.add_cable(alone, fabric.add_switch("leaf"))
        fabric.add_cable(list(fabric.ports)[-1], fabric.add_adapter("n9 mlx5_0"))
    return fabric


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("a host more", ".* has 3 hosts, most have 2"),
        ("a cable more", ".* are joined by other cables than the rest"),
        ("another pod's spine", ".* is above .*, but not all of its spines are"),
        ("joined leaves", ".* and .* are connected within a level"),
        ("a host with two leaves", "n8 is cabled to 2 devices"),
        ("a core more", ".* has 3 core switches above it, most have 2"),
        ("a fourth level", ".* is four levels above the hosts"),
        ("a pod more", ".* has 1 host, most have 2"),
    ],
)
def test_irregular_fabrics_share_shortest_routes_with_a_remark(
    kind: str, reason: str
) -> None:
    described = read_ibnetdiscover(make_irregular_fabric(kind).format_dump())
    assert described.text.startswith("graph:")
    assert described.text.endswith(",routing=ecmp")
    (remark,) = described.remarks
    start = "assumed: all shortest routes share (ECMP); not a regular fat tree: "
    assert re.fullmatch(re.escape(start) + f"{reason}.*", remark)


@given(sizes)
def test_shared_routes_of_a_fat_tree_equal_random_routing(
    size: tuple[int, ...],
) -> None:
    fabric = make_fat_tree(*size)
    tree = read_ibnetdiscover(fabric.format_dump()).text
    if tree.startswith("graph:"):
        return
    random_routes = Machine(f"{tree},routing=random")
    names = {name: at for at, name in enumerate(sorted(fabric.ports))}
    count = random_routes.node_count
    vertex = {
        name: int(fabric.description[name].split()[0][1:]) - 1 if name[0] == "H" else at
        for name, at in names.items()
    }
    links = {
        tuple(sorted((vertex[name], vertex[peer])))
        for name, ports in fabric.ports.items()
        for peer, _, _ in ports.values()
    }
    text = ",".join(f"{a}-{b}" for a, b in sorted(links))
    graph = Machine(f"graph:{count}+{len(names) - count}:{text},routing=ecmp")
    for a in range(count):
        for b in range(count):
            shares = sorted(share for _, share in graph.route(a, b))
            expected = sorted(share for _, share in random_routes.route(a, b))
            assert shares == pytest.approx(expected, rel=1e-12)


@given(draw_fabric(), st.booleans())
def test_routes_follow_the_forwarding_tables(fabric: FabricDump, brief: bool) -> None:
    tables = fabric.format_tables()
    if brief:  # format of dump_fts -n
        tables = re.sub(r"(?m)^(0x\w{4} \d{3}) :.*", r"\1", tables)
    described = read_ibnetdiscover(f"{fabric.format_dump()}\n{tables}")
    switches = [name for name in fabric.ports if name[0] == "S"]
    assert described.remarks in (
        (f"routes: those of {len(switches)} forwarding tables",),
        ("routes: those of 1 forwarding table",),
    )
    machine = Machine(described.text)
    vertex = {host: node for node, host in enumerate(described.hosts)}
    vertex |= {name: at for at, name in enumerate(sorted(switches), len(vertex))}
    first = {}
    for name in sorted(fabric.ports):
        if name[0] == "H":
            first.setdefault(get_device_host(fabric, name), name)
    for b in described.hosts:
        toward = fabric.find_ports_toward(first[b])
        for a in described.hosts:
            stops, at = [a], fabric.ports[first[a]][1][0]
            while a != b and stops[-1] != b:
                stops.append(get_device_host(fabric, at))
                if stops[-1] != b:
                    at = fabric.ports[at][toward[at]][0]
            links = [link for link, _ in machine.route(vertex[a], vertex[b])]
            ends = [machine.link_ends(link)[1] for link in links]
            assert ends == [vertex[stop] for stop in stops[1:]]
            assert machine.hops(vertex[a], vertex[b]) == len(links)


def test_wrong_forwarding_tables_are_refused() -> None:
    fabric = make_fat_tree(2, 1, 2, 1, 1)
    dump, tables = fabric.format_dump(), fabric.format_tables()
    head = tables.splitlines()[0]
    entry = tables.splitlines()[3]
    for damaged, complaint in [
        (tables[tables.index("Unicast", 1) :], r"line \d+: S-\w+ has no forwarding"),
        (tables.replace(entry, ""), r"line \d+: .* names no cabled port for LID"),
        (
            tables.replace(entry, entry[:7] + "099"),
            r"line \d+: .* names no cabled port",
        ),
        (tables + tables, "line .*: the forwarding table of .* appears twice"),
        (
            tables.replace(head, "Unicast lids of nobody"),
            rf"line {dump.count(chr(10)) + 2}: the table's head",
        ),
        (re.sub(r"(0x\w{4}) \d{3}", r"\1 001", tables), "line .* dump them again"),
    ]:
        with pytest.raises(Error, match=f"^{complaint}"):
            read_ibnetdiscover(f"{dump}\n{damaged}")


def test_machines_from_large_forwarding_tables_are_compact() -> None:
    fabric = make_fat_tree(5, 10, 20, 10, 2)
    described = read_ibnetdiscover(f"{fabric.format_dump()}\n{fabric.format_tables()}")
    assert len(described.hosts) == 1000
    tables = [part for part in described.text.split(",") if part.startswith("table=")]
    assert len(tables) == 50 + 50 + 20
    assert max(map(len, tables)) <= 10 + 1000
    machine = Machine(described.text)
    assert machine.hops(0, 999) == 6
    assert [share for _, share in machine.route(0, 999)] == [1.0] * 6
