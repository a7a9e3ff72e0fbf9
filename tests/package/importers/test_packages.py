# SPDX-License-Identifier: BSD-3-Clause
"""Rankfiles name sockets only if a level of the node consists of packages."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hwloc_files import UniformTopology, draw_topology
from hypothesis import given, strategies as st

from topoloom import Allocation, Machine, Placement, PlacementFile, save_placement
from topoloom.importers.hwloc import read_hwloc
from topoloom.importers.machine_description import MachineDescription
from topoloom.launch.exports.launch_formats import find_format
from topoloom.launch.host_placement import HostPlacement, host_placement
from topoloom.machines.machine_file import load_machine_and_description
from topoloom.machines.machine_names import zoo
from topoloom.machines.machine_writers import save_machine
from topoloom.machines.node_files import replace_nodes_from_files
from topoloom.nodes.hosts import slots_per_host
from topoloom.nodes.node_parts import NodeParts
from topoloom.placements.placement_file import load_placement

ZOO = [entry.name for entry in zoo()]


def place_on_first_host(machine: Machine, node: NodeParts) -> HostPlacement:
    """Put a rank on each slot of the first host."""
    slots = range(slots_per_host(machine))
    return host_placement(machine, range(machine.nodes_per_host), slots, node=node)


def list_rankfile_slots(machine: Machine, node: NodeParts) -> list[str]:
    """List the rankfile entry of each slot of the first host."""
    placed = place_on_first_host(machine, node)
    lines = find_format("openmpi-rankfile").write(placed).splitlines()
    return [line.partition("slot=")[2] for line in lines]


@pytest.mark.parametrize("name", ZOO)
def test_no_included_machine_has_too_many_sockets(name: str) -> None:
    machine, described = load_machine_and_description(name)
    sockets = int(place_on_first_host(machine, described.node).packages_of_host[0])
    each = slots_per_host(machine) // sockets
    for slot, text in enumerate(list_rankfile_slots(machine, described.node)):
        socket, colon, core = text.rpartition(":")
        assert bool(colon) == (sockets > 1)
        assert (int(socket or 0) * each) + int(core) == slot
        assert int(socket or 0) < sockets
    if not described.node.names:
        assert sockets == 1


def test_rankfiles_of_single_socket_machines_name_only_cores() -> None:
    for name, slots in (("frontier", 64), ("lumi-g", 64), ("fugaku", 48)):
        machine, described = load_machine_and_description(name)
        expected = [str(core) for core in range(slots)]
        assert list_rankfile_slots(machine, described.node) == expected


@given(draw_topology())
def test_an_imported_node_has_the_sockets_of_its_file(fake: UniformTopology) -> None:
    xml = fake.format_xml()
    described = read_hwloc(xml)
    machine = Machine(described.text)
    sockets = xml.count('type="Package"')
    each = machine.slots_per_node // max(sockets, 1)
    for slot, text in enumerate(list_rankfile_slots(machine, described.node)):
        socket, colon, core = text.rpartition(":")
        if colon:
            assert 0 <= int(socket) < sockets
            assert 0 <= int(core) < each
            assert int(socket) * each + int(core) == slot
        else:
            assert int(text) == slot


@given(st.lists(draw_topology(), min_size=1, max_size=3))
def test_nodes_from_files_keep_their_costs_in_a_network(
    nodes: list[UniformTopology],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        arguments = []
        for number, node in enumerate(nodes):
            file = Path(folder, f"{number}.xml")
            file.write_text(node.format_xml())
            arguments.append(f"{number}={file}" if number else str(file))
        joined = replace_nodes_from_files(MachineDescription("tree:4:2"), arguments)
        machine = Machine(joined.text)
        saved = Path(folder, "m.toml")
        save_machine(saved, machine, node=joined.node)
        again, kept = load_machine_and_description(saved)
    assert again.text == machine.text
    assert kept.node == joined.node
    if any(read_hwloc(node.format_xml()).node.names for node in nodes):
        assert machine.distance(0, machine.slots_per_node) == 2 * 16


def test_a_saved_placement_contains_its_sockets(tmp_path: Path) -> None:
    levels = [("Package", 2), ("L3Cache", 2), ("Core", 4)]
    described = read_hwloc(UniformTopology(levels).format_xml())
    machine = Machine(described.text)
    allocation = Allocation.whole(machine)
    placement = Placement(allocation, allocation.slots)
    file = PlacementFile(machine, allocation, placement, node=described.node)
    save_placement(tmp_path / "x.json", file)
    kept = load_placement(tmp_path / "x.json").node
    assert kept == described.node
    assert list_rankfile_slots(machine, kept)[8] == "1:0"
