# SPDX-License-Identifier: BSD-3-Clause
"""Machines whose nodes differ: files, distances, allocations, placements, exports."""

from __future__ import annotations

import math
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from topoloom import Error, Machine, load_placement, save_placement
from topoloom.allocations.described_allocation import described_allocation
from topoloom.allocations.launch_order import LaunchOrder
from topoloom.graphs import alltoall, ring
from topoloom.graphs.graph_file import save_graph
from topoloom.importers.machine_description import MachineDescription
from topoloom.importers.node_groups import (
    NodeGroup,
    build_machine_of_type,
    with_node_groups,
)
from topoloom.launch.exports.launch_formats import find_format
from topoloom.launch.host_placement import host_placement
from topoloom.machines.machine_file import (
    load_machine_and_allocation,
    load_machine_and_description,
)
from topoloom.machines.machine_writers import save_machine
from topoloom.machines.node_files import replace_nodes_from_files
from topoloom.nodes.host_slot_numbers import HostSlotNumbers
from topoloom.nodes.node_parts import Device, NodeParts
from topoloom.tasks.judge import judge_placement
from topoloom.tasks.machines.allocate import allocate_nodes
from topoloom.tasks.map import map_ranks
from topoloom.tasks.objective import Objective
from topoloom.tasks.placement_problem import load_placement_problem
from topoloom.tasks.problem import AllocationSpec, load_problem
from topoloom.tasks.report_page import write_report

NETWORKS = ("tree:3:2", "torus:2x3", "graph:6+1:0-6,1-6,2-6,3-6,4-6,5-6", "tree:6")
HOSTS = ("cpu1", "cpu2", "cpu3", "cpu4", "gpu1", "gpu2")


@st.composite
def draw_node(draw: st.DrawFn) -> tuple[str, NodeParts]:
    sizes = draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
    steps = draw(st.lists(st.integers(0, 3), min_size=len(sizes), max_size=len(sizes)))
    distance = np.cumsum(steps).tolist()
    slots = math.prod(sizes)
    text = f"+node:{':'.join(map(str, sizes))},distance="
    text += ":".join(map(str, [*distance, 7]))
    if draw(st.booleans()):
        text += f",port={':'.join(map(str, draw(draw_port_costs(slots))))}"
    cpus = tuple((2 * slot, 2 * slot + 1) for slot in range(slots))
    gpu = Device("cuda0", "gpu", (draw(st.integers(0, slots - 1)),))
    parts = NodeParts((), cpus, (gpu,), draw(st.sampled_from([0, 2**30])))
    return text, draw(st.sampled_from([parts, NodeParts()]))


def draw_port_costs(slots: int) -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(0, 4), min_size=slots, max_size=slots)


@st.composite
def draw_machine(draw: st.DrawFn) -> tuple[Machine, MachineDescription]:
    network = MachineDescription(draw(st.sampled_from(NETWORKS)), HOSTS)
    kinds = draw(st.lists(draw_node(), min_size=1, max_size=3))
    of_node = draw(st.lists(st.integers(0, len(kinds) - 1), min_size=6, max_size=6))
    given_insides = [
        NodeGroup(*kind, [node for node in range(6) if of_node[node] == number], "test")
        for number, kind in enumerate(kinds)
    ]
    described = with_node_groups(network, given_insides)
    return Machine(described.text), described


@given(draw_machine())
def test_a_written_machine_is_read_back_as_the_same(
    given: tuple[Machine, MachineDescription],
) -> None:
    machine, described = given
    with TemporaryDirectory() as folder:
        file = Path(folder) / "m.toml"
        save_machine(file, machine, described.hosts, node=described.node)
        read, again = load_machine_and_description(file)
    assert read.text == machine.text
    assert again.hosts == described.hosts
    assert again.node == described.node


@given(draw_machine())
def test_distances_equal_machines_with_a_single_node_type(
    given: tuple[Machine, MachineDescription],
) -> None:
    machine, described = given
    for kind in described.node.types:
        alike = build_machine_of_type(machine, kind)
        own = alike.slots_per_node
        assert own == len(kind.slots)
        for a in kind.nodes:
            for b in kind.nodes:
                ours = [a * machine.slots_per_node + slot for slot in kind.slots]
                theirs = [b * machine.slots_per_node + slot for slot in kind.slots]
                assert [machine.distance(ours[0], slot) for slot in theirs] == [
                    alike.distance(a * own, b * own + slot) for slot in range(own)
                ]


@given(draw_machine())
def test_a_machine_has_only_the_slots_of_its_nodes(
    given: tuple[Machine, MachineDescription],
) -> None:
    machine, described = given
    slots_of = HostSlotNumbers(machine, described.node)
    whole = described_allocation(machine, described).allocation
    assert whole.slot_count == slots_of.counts.sum()
    own = slots_of.to_local_slots(whole.slots)
    assert own.min() == 0
    pairs = zip(whole.slots.tolist(), own.tolist(), strict=True)
    for slot, at in pairs:
        assert slots_of.global_slot(slot // machine.slots_per_node, at) == slot


@given(draw_machine(), st.integers(1, 3))
def test_the_cores_of_a_rank_are_adjacent(
    given: tuple[Machine, MachineDescription], cores: int
) -> None:
    machine, described = given
    slots_of = HostSlotNumbers(machine, described.node)
    capacity = int((slots_of.counts // cores).sum())
    if capacity == 0:
        return
    whole = described_allocation(machine, described).allocation
    order = LaunchOrder(cores_per_rank=cores)
    used = order.select_used_slots(whole, capacity, node=described.node).allocation
    assert used.slot_count == capacity
    assert (slots_of.to_local_slots(used.slots) % cores == 0).all()


CLUSTER = """format = "topoloom-machine"
version = 1
[topology]
kind = "tree"
levels = [3, 2]
hosts = "cpu[1-4],gpu[1-2]"
switch_names = ["leaf1", "leaf2", "core"]
[[node]]
hosts = "gpu[1-2]"
levels = [3, 2]
names = ["package", "node"]
cpus = ["0", "1", "2", "3", "4", "5"]
memory_size = "1 GB"
devices = [
    { name = "cuda0", kind = "gpu", slots = "0-2" },
    { name = "cuda1", kind = "gpu", slots = "3-5" },
]
[[node]]
levels = [8]
names = ["package"]
cpus = ["10", "11", "12", "13", "14", "15", "16", "17"]
memory_size = "4 GB"
"""


@pytest.fixture
def cluster_file(tmp_path: Path) -> str:
    file = tmp_path / "cluster.toml"
    file.write_text(CLUSTER)
    return str(file)


def save_pattern(folder: Path, graph: Any) -> str:
    file = folder / "p.npz"
    save_graph(file, graph)
    return str(file)


@pytest.mark.parametrize("allocation", [None, "gpu[1-2],cpu3", "cpu1,gpu2"])
def test_ranks_get_cores_that_exist_on_their_host(
    cluster_file: str, tmp_path: Path, allocation: str | None
) -> None:
    machine, described = load_machine_and_description(cluster_file)
    where = AllocationSpec(allocation)
    slots = described_allocation(machine, described).allocation.slot_count
    if allocation is not None:
        slots = sum(6 if "gpu" in name else 8 for name in _list_host_names(allocation))
    graph = save_pattern(tmp_path, ring(slots, 1000))
    mapped = map_ranks(load_problem(graph, cluster_file, where), Objective("hop-bytes"))
    save_placement(tmp_path / "x.json", mapped.file)
    file = load_placement(tmp_path / "x.json")
    assert file.node == described.node
    placed = host_placement(
        file.machine,
        file.allocation.nodes,
        file.placement.slots,
        file.hosts,
        node=file.node,
        bind="core",
    )
    rankfile = find_format("openmpi-rankfile").write(placed)
    seen = set()
    for line in rankfile.splitlines():
        match = re.fullmatch(r"rank \d+=(\w+) slot=(?:(\d):)?(\d+)", line)
        assert match is not None
        host, package, core = match.groups()
        assert (package is None) == host.startswith("cpu")
        assert int(core) < (8 if package is None else 3)
        assert int(package or 0) < 2
        seen.add((host, package, core))
    assert len(seen) == slots
    for row in find_format("bindings").write(placed).splitlines()[1:]:
        _, host, slot, cpus, gpu, _ = row.split()
        assert int(cpus) == int(slot) + (10 if host.startswith("cpu") else 0)
        near = f"cuda{int(slot) // 3}" if host.startswith("gpu") else "-"
        assert gpu == near


def _list_host_names(text: str) -> list[str]:
    return text.replace("gpu[1-2]", "gpu1,gpu2").split(",")


def test_links_are_named_by_hosts_and_switches(
    cluster_file: str, tmp_path: Path
) -> None:
    graph = save_pattern(tmp_path, alltoall(44, 1000))
    mapped = map_ranks(
        load_problem(graph, cluster_file, AllocationSpec()), Objective("hop-bytes")
    )
    save_placement(tmp_path / "x.json", mapped.file)
    placement = str(tmp_path / "x.json")
    problem = load_placement_problem("judge", graph, placement, None, AllocationSpec())
    judged = judge_placement(problem, hottest=100)
    links = {entry["link"] for entry in judged.document()["hottest_links"]}
    ends = {*HOSTS, "leaf1", "leaf2"}
    assert links == {f"{end} {way}" for end in ends for way in ("up", "down")}


def test_titles_do_not_count_slots_that_differ(
    cluster_file: str, tmp_path: Path
) -> None:
    graph = save_pattern(tmp_path, alltoall(8, 1000))
    mapped = map_ranks(
        load_problem(graph, cluster_file, AllocationSpec()), Objective("hop-bytes")
    )
    page = tmp_path / "page.html"
    save_placement(tmp_path / "x.json", mapped.file)
    write_report([tmp_path / "x.json"], page, graph)
    text = page.read_text()
    assert f"8 ranks on {len(HOSTS)} of {len(HOSTS)} nodes of " in text
    assert "slots per node" not in text


def test_each_node_type_has_its_memory_size(cluster_file: str, tmp_path: Path) -> None:
    order = LaunchOrder("openmpi", memory_per_rank=10**9)
    graph = save_pattern(tmp_path, ring(5))
    problem = load_problem(
        graph, cluster_file, AllocationSpec("gpu1,cpu1", order=order)
    )
    counts = np.unique(problem.allocation.slots // 48, return_counts=True)[1]
    assert sorted(counts.tolist()) == [1, 4]


def test_nodes_of_a_single_type_are_chosen_for_a_pattern(
    cluster_file: str, tmp_path: Path
) -> None:
    graph = save_pattern(tmp_path, ring(12))
    found = allocate_nodes(
        cluster_file, AllocationSpec(), free="cpu[1-4]", graph_file=graph
    )
    assert found.nodes.allocation.slot_count == 16
    assert found.placement_file().hosts == found.nodes.hosts
    found = allocate_nodes(
        cluster_file, AllocationSpec(), free="gpu[1-2]", graph_file=graph
    )
    assert found.nodes.allocation.slot_count == 12
    with pytest.raises(Error, match="the free nodes have 2 types"):
        allocate_nodes(
            cluster_file, AllocationSpec(), free="cpu1,gpu[1-2]", graph_file=graph
        )


def test_the_closest_nodes_may_have_different_types(cluster_file: str) -> None:
    found = allocate_nodes(
        cluster_file, AllocationSpec(nodes=3), free="cpu4,gpu[1-2],cpu1"
    )
    assert found.nodes.hosts == ("cpu4", "gpu1", "gpu2")
    assert found.nodes.allocation.slot_count == 20


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"gpu[1-2]"\nlev', '"gpu[1-3]"\nlev', "node[0].hosts: topology.hosts has no"),
        (
            "[[node]]\nlevels = [8]",
            '[[node]]\nhosts = "cpu1"\nlevels = [8]',
            "no description of hosts",
        ),
        (
            "[[node]]\nlevels = [8]",
            '[[node]]\nhosts = "cpu[1-4],gpu1"\nlevels = [8]',
            "gpu1",
        ),
        ("levels = [8]", 'levels = [8]\nnodes = "0-9"', "increasing numbers below 6"),
        ("levels = [8]", "levels = []", "node[1].levels must be a list of integers"),
        (
            'names = ["package"]',
            'names = ["package"]\ncosts = { hop = 9 }',
            "hop weighs",
        ),
        ('hosts = "gpu[1-2]"\n', "", "are both for all other nodes"),
        ('switch_names = ["leaf1", ', "switch_names = [", "the machine has 3 switches"),
    ],
)
def test_mismatches_of_node_types_are_errors(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    assert old in CLUSTER
    file = tmp_path / "wrong.toml"
    file.write_text(CLUSTER.replace(old, new))
    with pytest.raises(Error, match=re.escape(message)) as caught:
        load_machine_and_description(file)
    assert str(file) in str(caught.value)


def test_formats_without_node_types_are_refused(
    cluster_file: str, tmp_path: Path
) -> None:
    machine, described = load_machine_and_description(cluster_file)
    for suffix in (".tgt", ".xml", ".graph"):
        with pytest.raises(Error, match=r"can be written only to \.toml"):
            save_machine(tmp_path / f"m{suffix}", machine, node=described.node)


def test_replacing_the_nodes_removes_all_node_types(cluster_file: str) -> None:
    machine, described = load_machine_and_description(f"{cluster_file}+node:4")
    assert (machine.slots_per_node, described.node.types) == (4, ())
    machine, described = load_machine_and_description(f"{cluster_file}+down:4")
    allocated = described_allocation(machine, described)
    assert allocated.hosts == ("cpu1", "cpu2", "cpu3", "cpu4", "gpu2")
    assert allocated.allocation.slot_count == 38


@pytest.mark.parametrize(
    ("names", "slots"),
    [
        ('"package", "node"', ["0:0", "0:1", "0:2", "1:0", "1:1", "1:2"]),
        ('"L3", "package"', ["0", "1", "2", "3", "4", "5"]),
        ('"numa", "node"', ["0", "1", "2", "3", "4", "5"]),
    ],
)
def test_nodes_have_the_sockets_of_their_levels(
    tmp_path: Path, names: str, slots: list[str]
) -> None:
    file = tmp_path / "cluster.toml"
    file.write_text(CLUSTER.replace('"package", "node"', names))
    given = load_machine_and_allocation(file)
    described = load_machine_and_description(file)[1]
    at = given.allocation
    placed = host_placement(
        at.machine, at.nodes, at.slots, given.hosts, node=described.node
    )
    lines = find_format("openmpi-rankfile").write(placed).splitlines()
    assert [line.partition("slot=")[2] for line in lines if "=gpu1 " in line] == slots


def test_gpus_of_rails_are_equal(tmp_path: Path) -> None:
    file = tmp_path / "pod.toml"
    file.write_text(
        """format = "topoloom-machine"
version = 1
[topology]
kind = "rails"
levels = [8, 4, 1]
[[node]]
levels = [2]
"""
    )
    with pytest.raises(Error, match="GPUs of its hosts and must be equal"):
        load_machine_and_description(file)
    with pytest.raises(Error, match="GPUs of its hosts and must be equal"):
        replace_nodes_from_files(
            load_machine_and_description("rails:8:4:1")[1], ["0=+node:4", "+node:2"]
        )
