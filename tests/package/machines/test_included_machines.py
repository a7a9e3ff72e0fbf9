# SPDX-License-Identifier: BSD-3-Clause
"""The included machines agree with published figures and textbook formulas."""

from __future__ import annotations

import importlib.util
import math
from pathlib import Path
from typing import Any

import pytest

from topoloom import Error, Machine, load_machine
from topoloom._core import MachineText
from topoloom.machines import describe_machine
from topoloom.machines.machine_facts import machine_facts
from topoloom.machines.machine_file import (
    load_machine_and_allocation,
)
from topoloom.machines.machine_names import zoo, zoo_names
from topoloom.machines.machine_writers import save_machine
from topoloom.machines.topology_keys import write_topology
from topoloom.nodes.host_text import list_vacant_nodes
from topoloom.support.toml_document import read_toml
from topoloom.support.units import parse_bandwidth, parse_latency

ROOT = Path(__file__).resolve().parents[3]


def describe_topology(name: str) -> dict[str, Any]:
    return write_topology(MachineText(describe_machine(name).text))


def list_machines(*kinds: str) -> list[str]:
    return [name for name in zoo_names() if describe_topology(name)["kind"] in kinds]


def test_the_page_of_machines_has_the_computed_figures(
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = ROOT / "docs" / "tables" / "machine_table.py"
    spec = importlib.util.spec_from_file_location("machine_table", file)
    assert spec is not None
    assert spec.loader is not None
    table = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(table)
    table.main()
    page = ROOT / "docs" / "reference" / "machines.md"
    assert capsys.readouterr().out == page.read_text(), f"run: python {file.name}"


def test_every_machine_has_a_title_and_a_source() -> None:
    for entry in zoo():
        assert entry.summary
        assert entry.source
        assert entry.date.isdigit()
    assert zoo_names() == sorted(zoo_names())


def read_machine(name: str) -> dict[str, Any]:
    (file,) = (ROOT / "machines").glob(f"*/{name}.toml")
    return read_toml(file)


def count_slots_per_node(name: str) -> int:
    return math.prod(read_machine(name)["node"]["levels"])


def get_nic_bandwidth(described: dict[str, Any]) -> str:
    """Return the bandwidth of a node's NIC, or of all links of a node with a router."""
    topology = described["topology"]
    given = topology.get("bandwidth")
    if topology["kind"] in ("tree", "fattree"):
        return str(given[0] if isinstance(given, list) else given)
    if topology["kind"] == "rails":
        return str(given["default"])
    behind_routers = (
        topology["kind"].startswith("dragonfly") or topology.get("nodes", 1) > 1
    )
    if behind_routers and topology["kind"] != "graph":
        assert topology["cards"] >= 1
        return str(given["host"])
    return str(described["node"]["bandwidth"])


@pytest.mark.parametrize("name", zoo_names())
def test_every_machine_has_nic_bandwidth_and_message_costs(
    name: str,
) -> None:
    described = read_machine(name)
    assert parse_bandwidth(get_nic_bandwidth(described)) > 0
    assert parse_latency(described["node"]["startup"]) > 0
    assert parse_latency(described["node"]["latency"]) > 0


@pytest.mark.parametrize("name", zoo_names())
def test_every_machine_survives_a_copy_with_and_without_replaced_nodes(
    name: str, tmp_path: Path
) -> None:
    for text in (name, f"{name}+node:2:4,distance=1:3,memory=90GB/s"):
        described = describe_machine(text)
        machine = Machine(described.text)
        for number in (1, 2):
            file = tmp_path / f"{number}.toml"
            save_machine(file, machine, described.hosts, node=described.node)
            described = describe_machine(file)
            machine = Machine(described.text)
        first, second = ((tmp_path / f"{number}.toml").read_text() for number in (1, 2))
        assert first == second
        original = load_machine(text)
        for speed in (
            "link_count",
            "host_hops",
            "port_bandwidth",
            "memory_bandwidth",
            "startup",
            "node_latency",
            "memory_startup",
            "remarks",
        ):
            assert getattr(machine, speed) == getattr(original, speed)
        last = original.slot_count - 1
        for slot in (1, original.slots_per_node, last // 2, last):
            assert machine.distance(0, slot) == original.distance(0, slot)


def get_latency(topology: dict[str, Any], link: str | int) -> float:
    """Return the latency of a link kind or tree level in seconds."""
    given = topology["latency"]
    return parse_latency(given if isinstance(given, str) else given[link])


@pytest.mark.parametrize(
    ("name", "expected_time", "links"),
    [
        ("bgl", "3.4 us", ["any"]),
        ("intrepid", "3 us", ["any"]),
        ("mira", "2.2 us", ["any"]),
        ("k", "1.3 us", ["any"]),
        ("fugaku", "1 us", ["any"]),
        ("bigben-xt3", "6 us", ["any"]),
        ("jaguar", "5 us", ["any"]),
        ("ipsc860", "75 us", ["any"]),
        ("tpu-v4-pod", "1 us", ["any"]),
        ("titan", "1.3 us", ["host", "default", "host"]),
        ("gordon", "1.3 us", ["host", "host"]),
        ("theta", "3 us", ["host", "host"]),
        ("frontier", "2.05 us", ["host", "host"]),
        ("frontera", "1.1 us", [0, 0]),
        ("stampede3", "1.1 us", [0, 0]),
        ("dgx-h100-pod", "0.6 us", ["nvlink", "nvlink"]),
        ("dgx-h100-pod", "2.7 us", ["rail", "rail"]),
    ],
)
def test_short_message_time_is_startup_plus_latency_plus_link_latency(
    name: str, expected_time: str, links: list[str | int]
) -> None:
    described = read_machine(name)
    node = described["node"]
    beside = parse_latency(node["startup"]) + parse_latency(node["latency"])
    crossed = sum(get_latency(described["topology"], link) for link in links)
    assert beside + crossed == pytest.approx(parse_latency(expected_time))


@pytest.mark.parametrize("name", zoo_names())
def test_nodes_of_several_slots_have_a_memory_bandwidth(name: str) -> None:
    node = read_machine(name)["node"]
    if count_slots_per_node(name) == 1:
        assert "memory" not in node
        assert "memory_startup" not in node
        return
    assert parse_bandwidth(node["memory"]) > 0
    elsewhere = parse_latency(node["startup"]) + parse_latency(node["latency"])
    assert 0 < parse_latency(node["memory_startup"]) < elsewhere


@pytest.mark.parametrize(
    ("name", "nodes"),
    [
        ("cell-eib", 12),
        ("teraflops", 80),
        ("bgl", 65536),
        ("bgl-midplane", 512),
        ("bgp-rack", 1024),
        ("bgq-midplane", 512),
        ("bgq-rack", 1024),
        ("intrepid", 40960),
        ("mira", 49152),
        ("bigben-xt3", 1024),
        ("sequoia", 98304),
        ("gordon", 1152),  # 1,024 compute nodes
        ("jaguar", 19200),  # 18,688 compute nodes
        ("kraken", 9600),  # 9,408 compute nodes
        ("ranger", 3936),
        ("stampede", 6400),
        ("hopper", 6528),  # 6,384 compute nodes
        ("k", 82944 + 5184),
        ("fugaku", 158976),
        ("frontera", 8008),
        ("frontier", 9472),  # 9,408 nodes exist
        ("el-capitan", 11136),
        ("lumi-c", 2048),
        ("jupiter", 6000),
        ("dgx-h100-pod", 1024),
        ("dgx-b300-pod", 4608),
        ("nvl72-row", 576),
        ("gb300-nvl72-row", 576),
        ("mi300x-pod", 128),
        ("trn2-ultraserver", 64),
        ("alps", 2688),
        ("isambard-ai", 1344),  # 1,320 nodes exist
        ("tpu-v5e-pod", 256),
        ("tpu-7x-pod", 9216),
        ("tpu-v4-pod", 4096),
        ("tpu-v5p-pod", 8960),
        ("ipsc860", 128),
    ],
)
def test_machines_have_their_published_sizes(name: str, nodes: int) -> None:
    assert load_machine(name).node_count == nodes


@pytest.mark.parametrize(
    ("name", "nodes", "cores"),
    [
        ("jaguar", 18688, 12),
        ("kraken", 9408, 12),
        ("gordon", 4 * 4 * 4 * 16, 16),
        ("sequoia", 98304, 16),
        ("ranger", 3936, 16),
    ],
)
def test_jobs_run_only_on_compute_nodes(name: str, nodes: int, cores: int) -> None:
    allocation = load_machine_and_allocation(name).allocation
    assert len(allocation.nodes) == nodes
    assert allocation.slot_count == nodes * cores


@pytest.mark.parametrize(
    ("vacant", "nodes"),
    [("0-1,0,0", 2), ("0-2,0-3,0-1", 24), ("1,1-2,0", 2), ("2, 3, 1", 1)],
)
def test_a_vacant_box_has_no_hosts(vacant: str, nodes: int, tmp_path: Path) -> None:
    for own in (1, 2):
        places = 3 * 4 * 2 * own
        file = tmp_path / f"{own}.toml"
        box = vacant if own == 1 else f"{vacant},0"
        more = f'hosts = "n[1-{places}]"\nvacant = ["{box}"]\nnodes = {own}\n'
        file.write_text(
            'format = "topoloom-machine"\nversion = 1\n[topology]\n'
            f'kind = "torus"\nsize = [3, 4, 2]\n{more}'
        )
        found = describe_machine(file).hosts
        assert len(found) == places
        assert len(list_vacant_nodes(found)) == nodes
        at = [int(part.split("-")[0]) for part in box.split(",")]
        first = ((at[0] * 4 + at[1]) * 2 + at[2]) * own
        assert first in list_vacant_nodes(found)


@pytest.mark.parametrize("vacant", ['["0,0"]', '["0,0,2"]', '"0,0,0"', '["x,0,0"]'])
def test_boxes_outside_the_grid_are_refused(vacant: str, tmp_path: Path) -> None:
    file = tmp_path / "m.toml"
    file.write_text(
        'format = "topoloom-machine"\nversion = 1\n[topology]\nkind = "torus"\n'
        f'size = [3, 4, 2]\nhosts = "n[1-24]"\nvacant = {vacant}\n'
    )
    with pytest.raises(Error):
        describe_machine(file)


def test_only_spes_of_the_cell_are_allocated() -> None:
    hosts = describe_machine("cell-eib").hosts
    left = [
        host for node, host in enumerate(hosts) if node not in list_vacant_nodes(hosts)
    ]
    assert sorted(left) == [f"SPE{element}" for element in range(8)]


class GridFigures:
    """Computes figures of a torus or mesh by textbook formulas."""

    def __init__(self, described: dict[str, Any]) -> None:
        self.size: list[int] = described["size"]
        self.routers = math.prod(self.size)
        self.nodes = self.routers * described.get("nodes", 1)
        self.cards = "cards" in described  # else a router is part of the node
        ring = described["kind"] == "torus"
        self.wrap: list[bool] = described.get("wrap", [ring] * len(self.size))
        self.axes = list(zip(self.size, self.wrap, strict=True))

    @property
    def links(self) -> int:
        """Count cables and NICs in both directions; rings of two have two cables."""
        between = sum(
            2 * self.routers // k * (0 if k == 1 else k if ring else k - 1)
            for k, ring in self.axes
        )
        return between + 2 * self.nodes * self.cards

    @property
    def diameter(self) -> int:
        """Return the longest route in hops: half rings or whole lines, and two NICs."""
        between = sum(k // 2 if ring else k - 1 for k, ring in self.axes)
        return between + 2 * self.cards

    @property
    def average_distance(self) -> float:
        """Average the hops between different nodes, including two hops through NICs."""
        mean = sum(
            (k * k // 4) / k if ring else (k * k - 1) / (3 * k) for k, ring in self.axes
        )
        return mean * self.nodes / (self.nodes - 1) + 2 * self.cards

    def compute_bisection(self, bandwidths: list[float]) -> float:
        """Return the lowest bandwidth across the middle of an axis of even extent."""
        cuts = [
            (4 if ring else 2) * self.routers // k * bandwidth
            for (k, ring), bandwidth in zip(self.axes, bandwidths, strict=True)
            if k % 2 == 0
        ]
        return min(cuts)


def read_bandwidths(described: dict[str, Any], axes: str) -> list[float]:
    """Read the bandwidth of each axis in bytes/s, without the package's code."""
    given = described.get("bandwidth", "1 B/s")
    table = given if isinstance(given, dict) else {"default": given}
    number, unit = table["default"].split()
    default = float(number) * {"B/s": 1, "MB/s": 1e6, "GB/s": 1e9}[unit]
    return [default / 2 if table.get(axis) == "half" else default for axis in axes]


@pytest.mark.parametrize("name", list_machines("torus", "mesh"))
def test_figures_of_tori_and_meshes_equal_textbook_formulas(name: str) -> None:
    described = describe_topology(name)
    grid = GridFigures(described)
    facts = machine_facts(load_machine(name))
    assert facts["nodes"] == grid.nodes
    assert facts["links"] == grid.links
    assert facts["diameter"] == grid.diameter
    assert facts["average_distance"] == pytest.approx(grid.average_distance)
    axes = "xyzabc"[: len(grid.size)]
    cut = grid.compute_bisection(read_bandwidths(described, axes))
    bisection = facts["bisection"]
    assert bisection["at_most"] == pytest.approx(cut)
    assert bisection["exact"] == (name != "kraken")  # 25x16x24: 25 is odd, so no proof


def test_hopper_is_cut_across_z_and_titan_across_y() -> None:
    """If both cuts have equally many routers, the halved bandwidth along y decides."""
    hopper = machine_facts(load_machine("hopper"))["bisection"]
    assert hopper["links"] == 4 * 17 * 8
    titan = machine_facts(load_machine("titan"))["bisection"]
    assert titan["links"] == 4 * 25 * 24


@pytest.mark.parametrize("name", list_machines("fattree"))
def test_figures_of_two_level_fat_trees_follow_from_their_cables(name: str) -> None:
    described = describe_topology(name)
    on_leaf, leaves = described["levels"]
    uplinks = described["up"][1] * described["parallel"][1]
    nodes = on_leaf * leaves
    facts = machine_facts(load_machine(name))
    assert facts["nodes"] == nodes
    assert facts["links"] == 2 * (nodes + leaves * uplinks)
    assert facts["diameter"] == 4
    near, far = on_leaf - 1, nodes - on_leaf
    assert facts["average_distance"] == pytest.approx(
        (2 * near + 4 * far) / (nodes - 1)
    )
    assert facts["bisection"]["links"] == leaves // 2 * uplinks * 2
    assert facts["bisection"]["exact"]


@pytest.mark.parametrize("name", list_machines("dragonfly"))
def test_link_counts_of_dragonflies_follow_from_their_ports(name: str) -> None:
    described = describe_topology(name)
    groups, *inside = described["size"]
    routers = math.prod(inside)
    between = routers * described["global"] // (groups - 1)
    degree = routers - 1 if len(inside) == 1 else sum(inside) - 2
    machine = load_machine(name)
    facts = machine_facts(machine)
    nodes = groups * routers * described["nodes"]
    between_routers = groups * routers * degree + groups * (groups - 1) * between
    assert facts["nodes"] == nodes
    assert facts["links"] == between_routers + 2 * nodes
    assert facts["diameter"] - 2 in ((2, 3) if len(inside) == 1 else (3, 4, 5))
    if groups % 2 == 0:
        rates = {machine.bandwidth(link) for link in range(between_routers)}
        halves = (groups // 2) ** 2 * between * 2
        assert facts["bisection"]["at_most"] <= halves * max(rates)
    assert facts["bisection"]["at_least"] > 0.5 * facts["bisection"]["at_most"]


def test_a_hypercube_is_cut_across_any_axis() -> None:
    dimensions = describe_topology("ipsc860")["dimensions"]
    facts = machine_facts(load_machine("ipsc860"))
    assert facts["nodes"] == 2**dimensions
    assert facts["links"] == dimensions * 2**dimensions
    assert facts["diameter"] == dimensions
    ways = sum(k * math.comb(dimensions, k) for k in range(dimensions + 1))
    assert facts["average_distance"] == pytest.approx(ways / (2**dimensions - 1))
    assert facts["bisection"]["links"] == 2**dimensions
    assert facts["bisection"]["exact"]


@pytest.mark.parametrize("name", list_machines("twisted"))
def test_figures_of_twisted_tori_follow_from_their_links(name: str) -> None:
    described = describe_topology(name)
    size, twist = described["size"], described["twist"]
    nodes = [
        (x, y, z)
        for x in range(size[0])
        for y in range(size[1])
        for z in range(size[2])
    ]

    def move(at: tuple[int, ...], axis: int) -> tuple[int, ...]:
        to = list(at)
        to[axis] += 1
        if to[axis] == size[axis]:
            shift = twist.get("xyz"[axis], [0, 0, 0])
            to[axis] = 0
            to = [place + by for place, by in zip(to, shift, strict=True)]
        return tuple(place % extent for place, extent in zip(to, size, strict=True))

    joined: dict[tuple[int, ...], set[tuple[int, ...]]] = {
        node: set() for node in nodes
    }
    for node in nodes:
        for axis in range(3):
            joined[node].add(move(node, axis))
            joined[move(node, axis)].add(node)
    total, farthest = 0, 0
    level, seen, hops = {nodes[0]}, {nodes[0]}, 0
    while level:
        total += hops * len(level)
        farthest = hops
        level = {there for here in level for there in joined[here]} - seen
        seen |= level
        hops += 1
    facts = machine_facts(load_machine(name))
    assert facts["links"] == sum(len(peers) for peers in joined.values())
    assert facts["diameter"] == farthest
    assert facts["average_distance"] == pytest.approx(total / (len(nodes) - 1))


def test_the_rails_of_the_pod_carry_full_bisection() -> None:
    facts = machine_facts(load_machine("dgx-h100-pod"))
    assert facts["bisection"]["at_most"] == pytest.approx(1024 * 50e9)
