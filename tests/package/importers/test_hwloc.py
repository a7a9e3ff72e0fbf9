# SPDX-License-Identifier: BSD-3-Clause
"""Nodes from hwloc XML: levels, distances and refused files."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hwloc_files import (
    HEAD,
    VIRTUAL,
    UniformTopology,
    draw_topology,
    format_pci_device,
    format_two_packages,
)
from hypothesis import given, strategies as st

from topoloom import Error, Machine, load_machine
from topoloom.allocations.described_allocation import described_allocation
from topoloom.allocations.launch_line_slots import place_with_launch_line
from topoloom.importers.hwloc import read_hwloc, read_node_cores
from topoloom.importers.identical_nodes import describe_identical_nodes
from topoloom.importers.machine_description import MachineDescription
from topoloom.launch.orders.launch_line import read_launch_line
from topoloom.machines.import_formats import IMPORTERS
from topoloom.machines.machine_file import load_machine_and_description
from topoloom.machines.machine_writers import save_machine
from topoloom.machines.node_files import replace_nodes_from_files
from topoloom.nodes.core_shape import CROSSED, SHARED, Container
from topoloom.nodes.host_slot_numbers import HostSlotNumbers
from topoloom.nodes.node_levels import (
    NodeCores,
    describe_omitted_resources,
    format_levels,
    format_nodes,
    make_node_parts,
)
from topoloom.nodes.node_parts import COSTS, Device

(IMPORTER,) = (one for one in IMPORTERS if one.name == "hwloc")


def read_text(*levels: tuple[str, int], memory: str = "", pus: int = 1) -> str:
    return read_hwloc(UniformTopology(list(levels), memory, pus).format_xml()).text


def test_a_real_hwloc_topology_is_read() -> None:
    described = read_hwloc(VIRTUAL)
    assert described.text == "torus:1+node:2,distance=2"
    assert described.hosts == ("node7.cluster",)


def test_cpus_and_devices_of_a_topology_are_read_and_its_disk_is_not() -> None:
    node = read_hwloc(VIRTUAL).node
    assert node.names == ("L3",)
    assert node.cpus == ((0,), (1,))
    assert [(d.name, d.kind, d.slots, d.numa, d.pci) for d in node.devices] == [
        ("cuda0", "gpu", (0, 1), 0, "0000:00:02.0")
    ]


def test_devices_are_near_the_cores_of_their_parent() -> None:
    node = read_hwloc(
        format_two_packages(
            format_pci_device(("cuda0", 5)),
            format_pci_device(("mlx5_0", 3), address="98:00.0"),
            format_pci_device(("eth0", 2), address="01:00.0"),
        )
    ).node
    assert node.cpus == ((0, 4), (1, 5), (2, 6), (3, 7))
    assert node.devices == (
        Device("cuda0", "gpu", (0, 1), 4, "0000:17:00.0"),
        Device("mlx5_0", "nic", (2, 3), 5, "0000:98:00.0"),
        Device("eth0", "ethernet", (0, 1, 2, 3), None, "0000:01:00.0"),
    )


@pytest.mark.parametrize(
    ("names", "version", "expected"),
    [
        ([("ib0", 2), ("mlx5_0", 3)], "2", "mlx5_0"),
        ([("card0", 1), ("renderD128", 1), ("nvml0", 1), ("cuda0", 5)], "2", "cuda0"),
        ([("rsmi0", 1), ("renderD128", 1)], "2", "rsmi0"),
        ([("card0", 1)], "2", None),
        ([("sda", 0)], "2", None),
        ([("dma0", 4)], "2", None),
        ([("two words", 2)], "2", None),
        ([("cuda0", 8), ("nvml0", 12)], "3", "cuda0"),
        ([("mlx5_0", 48), ("ib0", 16)], "3", "mlx5_0"),
        ([("sda", 1), ("pmem0", 3)], "3", None),
    ],
)
def test_a_device_has_the_name_used_by_libraries(
    names: list[tuple[str, int]], version: str, expected: str | None
) -> None:
    node = read_hwloc(
        format_two_packages(format_pci_device(*names), "", version=version)
    ).node
    assert [device.name for device in node.devices] == ([expected] if expected else [])


def test_an_object_without_a_bus_address_is_no_device() -> None:
    bridge = '<object type="OSDev" name="docker0" osdev_type="2"/>'
    assert read_hwloc(format_two_packages("", "", bridge)).node.devices == ()


def test_a_device_is_listed_once() -> None:
    twice = format_two_packages(
        format_pci_device(("cuda0", 5)), "\n" + format_pci_device(("cuda0", 5))
    )
    with pytest.raises(Error, match="line 4: a duplicate device 'cuda0'"):
        read_hwloc(twice)


def test_devices_near_excluded_cores_are_equally_far_from_all_cores() -> None:
    inside, _ = read_node_cores(
        format_two_packages(
            format_pci_device(("cuda0", 5)), format_pci_device(("cuda1", 5))
        )
    )
    second = make_node_parts(inside.restrict_to(0xCC))
    assert [device.slots for device in second.devices] == [(0, 1), (0, 1)]
    some = make_node_parts(inside.restrict_to(0xDD))
    assert [device.slots for device in some.devices] == [(0,), (1, 2)]


def test_an_imported_node_survives_a_round_trip(tmp_path: Path) -> None:
    (tmp_path / "node.xml").write_text(
        format_two_packages(format_pci_device(("cuda0", 5)), "")
    )
    machine, described = load_machine_and_description(tmp_path / "node.xml")
    save_machine(tmp_path / "m.toml", machine, node=described.node)
    again, copy = load_machine_and_description(tmp_path / "m.toml")
    assert copy.node == described.node
    assert again.slot_count == machine.slot_count == 4
    for b in range(4):
        assert again.distance(1, b) == machine.distance(1, b)


@given(draw_topology())
def test_levels_are_named_after_the_shared_object(fake: UniformTopology) -> None:
    inside, _ = read_node_cores(fake.format_xml())
    node, machine = (
        make_node_parts(inside),
        Machine(format_nodes(1, format_levels(inside))),
    )
    distances = machine.text.partition("distance=")[2].split(":")
    assert len(set(node.names)) == len(node.names) == len(distances)
    # Resources that contain others of their cost are further apart.
    for name, distance in zip(node.names, distances, strict=True):
        assert COSTS[name if name in COSTS else name[:-1]] <= int(distance) <= 16
    if node.names:
        assert [sum(1 << cpu for cpu in cpus) for cpus in node.cpus] == inside.cores


def test_hwloc_files_are_recognized_by_their_content(tmp_path: Path) -> None:
    assert IMPORTER.recognizes(VIRTUAL)
    assert not IMPORTER.recognizes("<?xml version='1.0'?>\n<platform version='4.1'>")
    file = tmp_path / "node.txt"
    file.write_text(VIRTUAL)
    assert load_machine(file).slot_count == 2
    file.write_text(VIRTUAL.replace(' version="2.0"', ""))
    with pytest.raises(Error, match=r"node.txt:3: this is XML of hwloc 1"):
        load_machine(file)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (read_text(("Package", 2), ("Core", 8)), "8:2,distance=8:16"),
        (read_text(("Package", 2), ("Core", 8), pus=2), "8:2,distance=8:16"),
        (
            read_text(("Package", 2), ("L3Cache", 8), ("Core", 8), memory="Package"),
            "8:8:2,distance=2:4:16",
        ),
        (
            read_text(("Package", 2), ("Group", 4), ("Core", 6), memory="Group"),
            "6:4:2,distance=4:8:16",
        ),
        (
            read_text(
                ("Package", 2), ("Die", 2), ("L3Cache", 2), ("L2Cache", 2), ("Core", 2)
            ),
            "2:2:2:2:2,distance=1:2:4:8:16",
        ),
        (read_text(("Package", 4), ("Core", 1)), "4,distance=16"),
        (read_text(("Group", 2), ("Package", 2), ("Core", 4)), "4:2:2,distance=8:9:16"),
        (
            read_text(("Package", 2), ("Core", 4), memory="Machine"),
            "4:2,distance=8:16",
        ),
        (read_text(("Package", 1), ("L3Cache", 2), ("Core", 4)), "4:2,distance=2:8"),
        (read_text(("L2Cache", 2), ("Core", 4)), "4:2,distance=1:16"),
        (read_text(("Core", 64)), "64,distance=16"),
    ],
)
def test_shared_objects_make_levels(text: str, expected: str) -> None:
    assert text == f"torus:1+node:{expected}"
    assert Machine(text).node_count == 1


def test_a_single_core_keeps_its_cpus() -> None:
    described = read_hwloc(UniformTopology([("Core", 1)], pus=4).format_xml())
    assert described.text == "torus:1+node:1,distance=16"
    assert described.node.cpus == ((0, 1, 2, 3),)
    assert described.node.names == ("node",)


def test_threads_without_cores_are_slots() -> None:
    xml = HEAD + '<topology version="3.0"><object type="Machine">'
    for pu in (4, 1, 2):
        xml += f'<object type="PU" os_index="{pu}" cpuset="{1 << pu:#x}"/>'
    assert read_hwloc(xml + "</object></topology>").text == "torus:1+node:3,distance=16"


def test_disallowed_cores_are_no_slots() -> None:
    xml = UniformTopology([("Package", 2), ("Core", 4)]).format_xml()
    some = xml.replace('"Machine"', '"Machine" allowed_cpuset="0x33"')
    assert read_hwloc(some).text == "torus:1+node:2:2,distance=8:16"
    some = xml.replace('"Machine"', '"Machine" allowed_cpuset="0x13"')
    uneven = read_hwloc(some)
    assert uneven.text == "torus:1+node:2:2,distance=8:16"
    (kind,) = uneven.node.types
    assert kind.levels.vacant == (3,)
    assert kind.parts.cpus == ((0,), (1,), (4,))
    (remark,) = uneven.remarks
    assert remark.startswith("5 of 8 hardware threads are not allowed to jobs: 5 cores")


def test_cpu_masks_of_more_than_32_threads_are_read() -> None:
    assert read_text(("Package", 4), ("Core", 24), pus=2) == (
        "torus:1+node:24:4,distance=8:16"
    )


def test_hybrid_processors_keep_the_caches_of_all_cores() -> None:
    """Two cores with an L2 cache each, then four cores that share one."""
    lines = ['<topology version="2.0"><object type="Machine" cpuset="0x3f">']
    lines.append('<object type="L3Cache" cpuset="0x3f">')
    for mask in (0x1, 0x2, 0x3C):
        lines.append(f'<object type="L2Cache" cpuset="{mask:#x}">')
        for pu in range(6):
            if mask >> pu & 1:
                lines.append(f'<object type="Core" cpuset="{1 << pu:#x}">')
                lines.append(f'<object type="PU" os_index="{pu}" ')
                lines.append(f'cpuset="{1 << pu:#x}"/></object>')
        lines.append("</object>")
    xml = "".join([*lines, "</object></object></topology>"])
    described = read_hwloc(xml)
    assert described.text == "torus:1+node:4:3,distance=1:2"
    assert described.node.types[0].slots == (0, 4, 8, 9, 10, 11)


def test_kinds_of_cores_and_hidden_threads_are_remarked() -> None:
    xml = UniformTopology([("Core", 4)]).format_xml()
    xml = xml.replace('"Machine"', '"Machine" complete_cpuset="0x3f"')
    kinds = "".join(f'<cpukind cpuset="{mask:#x}"/>' for mask in (0x3, 0xC))
    hidden, kind = read_hwloc(xml.replace("</topology>", f"{kinds}</topology>")).remarks
    assert hidden.startswith("2 hardware threads of the node left out: offline")
    assert kind == "cores of 2 kinds are assumed to be equally fast"


def load_case(name: str) -> tuple[Machine, MachineDescription]:
    """Load a small input that was read wrongly in the past."""
    return load_machine_and_description(Path(__file__).parent / "data" / name)


def test_a_reserved_core_leaves_the_levels_of_a_node(tmp_path: Path) -> None:
    """Two packages of four cores with an L3 cache each; core 0 is reserved."""
    machine, described = load_case("reserved.xml")
    save_machine(tmp_path / "m.toml", machine, node=described.node)
    _, again = load_machine_and_description(tmp_path / "m.toml")
    assert again.node == described.node
    allocation = described_allocation(machine, described).allocation
    slots = allocation.slots.tolist()
    assert len(slots) == 7
    for a in range(7):  # cores 1 to 7; the first three are in package 0
        for b in range(a):
            same = (a < 3) == (b < 3)
            assert machine.distance(slots[a], slots[b]) == (2 if same else 16)


def test_nodes_with_vacant_places_are_nodes_of_a_network() -> None:
    file = Path(__file__).parent / "data" / "reserved.xml"
    network = MachineDescription("torus:4")
    joined = replace_nodes_from_files(network, [str(file)])
    machine = Machine(joined.text)
    allocation = described_allocation(machine, joined).allocation
    assert allocation.slot_count == 28
    slots = allocation.slots.tolist()
    assert [machine.distance(slots[0], slots[i]) for i in (2, 3, 7)] == [2, 16, 16]


def test_launchers_see_the_packages_of_uneven_nodes() -> None:
    """Open MPI maps two ranks to each package, of 3 and 4 cores."""
    machine, described = load_case("reserved.xml")
    allocation = described_allocation(machine, described).allocation
    line = read_launch_line("openmpi5 --map-by package --bind-to core")
    slots = place_with_launch_line(line, allocation, 4, described.node)
    local = HostSlotNumbers(machine, described.node).to_local_slots(slots)
    assert sorted(local.tolist()) == [0, 1, 3, 4]


def test_several_nodes_are_on_one_switch() -> None:
    assert format_nodes(3, "") == "tree:3"
    text = format_nodes(3, "+node:4:2,distance=8:16")
    assert text == "tree:3+node:4:2,distance=8:16:16"
    machine = Machine(text)
    assert [machine.distance(0, slot) for slot in (3, 4, 8, 23)] == [8, 16, 32, 32]


def test_the_number_of_containers_is_limited(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("topoloom.importers.hwloc.MAX_CPUS", 32)
    dies = "\n".join(f'<object type="Die" cpuset="{i:x}"/>' for i in range(200))
    with pytest.raises(Error, match="line 194: too many caches, NUMA domains"):
        read_hwloc(format_topology(dies))


BILLION_LAUGHS = (
    '<!DOCTYPE topology [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>\n'
    '<topology version="2.0"><object type="&b;"/></topology>'
)
PU = '<object type="PU" os_index="0" cpuset="0x1"/>'

CORE = '<object type="Core" cpuset="0x1"/>'


def format_topology(body: str) -> str:
    return f'<topology version="2.0">\n{body}\n</topology>'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: not XML: no element found"),
        ("<topology", "line 1: not XML"),
        (VIRTUAL[:-20], "not XML"),
        (VIRTUAL[:900], "not XML"),
        ("<platform/>", "line 1: hwloc's XML begins with <topology>, not <platform>"),
        ("\n<topology/>", "line 2: this is XML of hwloc 1; export it again"),
        ('<topology version="1.11"/>', "line 1: this is XML of hwloc 1"),
        ('<topology version="4.0"/>', "version '4.0'; supported are 2 and 3"),
        (
            format_topology('<object type="Cache" depth="2"/>'),
            "line 2: this is XML of hwloc 1",
        ),
        (format_topology(""), "line 1: the topology contains no usable PU"),
        (format_topology("<object/>"), "line 2: an object has no type"),
        (format_topology('<object type="Core"/>'), "line 2: a Core has no cpuset"),
        (
            format_topology('<object type="Die" cpuset="0xz"/>'),
            "line 2: '0xz' in cpuset is no",
        ),
        (
            format_topology('<object type="Die" cpuset="0xf...f"/>'),
            "'0xf...f' in cpuset is no",
        ),
        (
            format_topology(f'<object type="Die" cpuset="{"," * 600}"/>'),
            "line 2: cpuset names PUs beyond 16383",
        ),
        (
            format_topology('<object type="PU" cpuset="0x1"/>'),
            "line 2: a PU has no numeric os_index",
        ),
        (
            format_topology('<object type="NUMANode" os_index="x" cpuset="0x1"/>'),
            "line 2: a NUMANode has no numeric os_index",
        ),
        (
            format_topology(PU.replace('"0"', '"1"')),
            "line 2: PU 1 has a cpuset without itself",
        ),
        (
            format_topology(f"{PU}\n{PU}"),
            "line 3: PU 0 is listed twice, first on line 2",
        ),
        (
            format_topology(f'<object type="Core" cpuset="0x2"/>\n{PU}'),
            "line 3: PU 0 is not part of any Core",
        ),
        (
            format_topology(f"{CORE}\n{CORE}{PU}"),
            "line 3: the Core shares PUs with an earlier one",
        ),
        (format_topology('<object type="Machine"/>' * 2), "line 2: a second Machine"),
        (BILLION_LAUGHS, "line 1: the DOCTYPE declares entities"),
        (format_topology("&secret;"), "line 2: not XML: undefined entity"),
        (
            format_topology("<a>" * 201),
            "line 2: elements are nested more than 200 deep",
        ),
    ],
)
def test_hwloc_errors_name_the_line(text: str, message: str) -> None:
    with pytest.raises(Error) as caught:
        read_hwloc(text)
    assert message in str(caught.value)


def compute_distance(inside: NodeCores, a: int, b: int) -> int:
    """Compute the distance of two cores from the closest object that they share."""
    packages = {mask for kind, mask in inside.containers if kind == "Package"}
    pair = inside.cores[a] | inside.cores[b]
    shared = [
        compute_cost(one, inside, packages)
        for one in inside.containers
        if one.cpus & pair == pair and has_own_cost(one, inside, packages)
    ]
    return min(shared, default=8 if len(packages) == 1 else 16)


def has_own_cost(one: Container, inside: NodeCores, packages: set[int]) -> bool:
    spans = sum(bool(one.cpus & package) for package in packages) > 1
    if spans and (one.kind not in CROSSED or one.cpus == sum(inside.cores)):
        return False
    return not (one.kind in ("Die", "Group") and one.cpus in packages)


def compute_cost(one: Container, inside: NodeCores, packages: set[int]) -> int:
    """Compute a cost: one more than that of objects inside, if they cost as much."""
    cost = COSTS[SHARED[one.kind]]
    if one.kind not in CROSSED:
        return cost
    nested = [
        compute_cost(part, inside, packages)
        for part in inside.containers
        if part.kind in CROSSED
        and part.cpus & one.cpus == part.cpus != one.cpus
        and sum(bool(core & part.cpus) for core in inside.cores) > 1
        and has_own_cost(part, inside, packages)
    ]
    most = max(nested, default=0)
    return cost if most < cost else min(most + 1, 7 if most < 8 else 15)


def test_nested_groups_have_distances_of_their_own() -> None:
    """Two groups of two groups of two NUMA domains of two cores, as hwloc tests."""
    sizes = [("Group", 8), ("Group", 4), ("NUMANode", 2)]
    containers = [
        Container(kind, ((1 << size) - 1) << first)
        for kind, size in sizes
        for first in range(0, 16, size)
    ]
    inside = NodeCores([1 << core for core in range(16)], containers)
    assert format_levels(inside) == "+node:2:2:2:2,distance=4:5:6:16"
    assert make_node_parts(inside).names == ("numa", "group", "group2", "node")


def test_resources_in_no_level_are_remarked() -> None:
    """Two caches overlap, and another one has cores that are not consecutive."""
    containers = [Container("L3Cache", mask) for mask in (0x0F, 0x3C, 0x81)]
    inside = NodeCores([1 << core for core in range(8)], containers)
    assert format_levels(inside) == "+node:4:5,distance=2:16"
    (remark,) = describe_omitted_resources(inside)
    assert remark.startswith("2 L3 resources of the node left out of its levels")


@given(draw_topology())
def test_distances_follow_shared_objects(fake: UniformTopology) -> None:
    inside, _ = read_node_cores(fake.format_xml())
    machine = Machine(format_nodes(1, format_levels(inside)))
    count = len(inside.cores)
    assert machine.slot_count == count
    for b in range(1, count):
        assert machine.distance(0, b) == compute_distance(inside, 0, b)
        assert machine.distance(b - 1, b) == compute_distance(inside, b - 1, b)


@given(draw_topology(), st.randoms(use_true_random=False))
def test_a_part_of_a_node_is_never_nearer_than_in_the_full_node(
    fake: UniformTopology, rng: random.Random
) -> None:
    inside, _ = read_node_cores(fake.format_xml())
    part = inside.restrict_to(sum(core for core in inside.cores if rng.random() < 0.7))
    if not part.cores:
        return
    described = describe_identical_nodes(part, ())
    machine = Machine(described.text)
    slots = described_allocation(machine, described).allocation.slots.tolist()
    assert len(slots) == len(part.cores)
    assert machine.slot_count <= 8 * len(slots)
    for b in range(1, len(part.cores)):
        distance = machine.distance(slots[b - 1], slots[b])
        assert distance >= compute_distance(part, b - 1, b)
        if not describe_omitted_resources(part):
            assert distance == compute_distance(part, b - 1, b)
