# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of machines: every kind is drawn completely."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from topoloom import Error, Machine
from topoloom._core import MachineText
from topoloom.figure import draw_machine
from topoloom.figure.layout import place_vertices
from topoloom.figure.network import (
    DrawnNetwork,
    fold_parts,
    make_network,
    select_vertices,
)
from topoloom.figure.parts import DrawnParts, find_parts
from topoloom.machines.machine_file import load_machine
from topoloom.machines.topology_forms import section_forms
from topoloom.machines.topology_keys import write_topology

KINDS = [
    *(form.example for form in section_forms().values()),
    "torus:1",
    "torus:7",
    "mesh:5",
    "torus:2x2",
    "torus:3x2x2x2",
    "torus:9x8x7,nodes=2",
    "torus:6x6x6x2x3x2,wrap=111010",
    "tree:3:2:2",
    "graph:4:0-1,1-2,2-3,3-0",
    "dragonflyplus:3x3x2,nodes=2",
    "dragonflyplus:3x3x2,hosts=free",
    "graph:2:0>1,1>0",
]


#: (machine with too many links for one picture, name of its parts, number of parts)
CROWDED = [
    ("dragonfly:20x12,nodes=2", "group", 20),
    ("dragonfly:8x4x8,nodes=2", "group", 8),
    ("dragonflyplus:12x8x8,nodes=4", "group", 12),
    ("hyperx:8x9x5", "plane", 8),
    ("hypercube:9", "cube", 32),
    ("torus:4x5x6x3", "point", 120),
    ("mesh:5x6x2x4x3", "point", 120),
    ("tree:8:16:9", "branch", 9),
    ("fattree:16:64,up=1:4,parallel=1:2", "branch", 64),
    ("rails:8:32:4", "unit", 4),
    ("rails:24:16:1", "domain", 16),
]


def describe_network(text: str) -> tuple[dict[str, Any], DrawnNetwork]:
    topology = write_topology(MachineText(text))
    return topology, make_network(Machine(text), topology)


def describe_parts(text: str) -> tuple[DrawnNetwork, DrawnParts]:
    topology, network = describe_network(text)
    found = find_parts(topology, network)
    assert found is not None
    return network, found


@pytest.mark.parametrize(
    "text",
    [
        *KINDS,
        *(text for text, _, _ in CROWDED),
        "torus:200x1x1x1",
        "torus:1x1",
        "torus:1x5",
        "mesh:3x1x2",
        "tree:1100",
        "graph:50:" + ",".join(f"{a}-{b}" for a in range(50) for b in range(a)),
        "fattree:40:40+down:0,v1605",
    ],
)
def test_every_kind_of_machine_can_be_drawn(text: str, tmp_path: Path) -> None:
    draw_machine(tmp_path / "m.png", Machine(text))
    assert (tmp_path / "m.png").read_bytes().startswith(b"\x89PNG")


def test_pictures_are_reproducible(tmp_path: Path) -> None:
    machine = Machine("graph:4+1:0-4,1-4,2-4,3-4")
    for name in ("a.svg", "b.svg"):
        draw_machine(tmp_path / name, machine, ("n1", "n2", "n3", "n4"))
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_another_suffix_is_refused_and_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(Error, match=r"m.gif: figures are .svg, .png, .pdf"):
        draw_machine(tmp_path / "m.gif", Machine("torus:4"))
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("text", KINDS)
def test_vertices_do_not_overlap(text: str) -> None:
    topology, network = describe_network(text)
    places = place_vertices(topology, network)
    assert places.shape == (len(network.nodes), 2)
    assert np.isfinite(places).all()
    assert len(np.unique(np.round(places, 6), axis=0)) == len(network.nodes)


@pytest.mark.parametrize("text", [text for text in KINDS if "+down" not in text])
def test_parallel_links_are_drawn_as_one_line(text: str) -> None:
    machine = Machine(text)
    if machine.host_hops:  # nodes are drawn as part of their routers
        whole = machine
        machine = Machine(f"{text},hosts=free")
        assert whole.link_count == machine.link_count + 2 * whole.node_count
    pairs = {frozenset(machine.link_ends(link)) for link in range(machine.link_count)}
    _, network = describe_network(text)
    assert {frozenset(pair) for pair in network.ends.tolist()} == pairs
    assert len(network.ends) == len(network.bandwidth) == len(pairs)
    if not text.startswith("graph"):  # a graph's links may be one-way
        assert 2 * network.cables.sum() == machine.link_count


def test_failed_parts_are_not_drawn() -> None:
    _, network = describe_network("torus:5+down:v2,3-4")
    assert network.ends.tolist() == [[0, 1], [0, 4]]


def test_parallel_links_have_the_color_of_the_widest() -> None:
    _, network = describe_network("graph:2:0>1@2GB/s,1>0@3GB/s")
    assert network.bandwidth.tolist() == [3e9]
    assert network.cables.tolist() == [1]


def test_switches_are_drawn_above_their_nodes() -> None:
    _, network = describe_network("tree:2:2:2")
    assert network.height.tolist() == [0] * 8 + [1] * 4 + [2] * 2 + [3]


@pytest.mark.parametrize(("text", "name", "count"), CROWDED)
def test_every_cable_is_between_two_parts_or_inside_one(
    text: str, name: str, count: int
) -> None:
    network, found = describe_parts(text)
    whole = fold_parts(network, found.part)
    assert found.name == name
    assert (whole.nodes > 0).sum() == count
    assert whole.nodes.sum() == network.nodes.sum()
    inside = sum(
        int(select_vertices(network, found.part == part).cables.sum())
        for part in range(len(whole.nodes))
    )
    assert whole.cables.sum() + inside == network.cables.sum()


@pytest.mark.parametrize(("text", "name", "count"), CROWDED)
def test_parts_and_their_vertices_have_positions(
    text: str, name: str, count: int
) -> None:
    network, found = describe_parts(text)
    one = select_vertices(network, found.part == 0)
    for topology, drawn in (
        (found.whole, fold_parts(network, found.part)),
        (found.inside, one),
    ):
        places = place_vertices(topology, drawn)
        assert len(np.unique(np.round(places, 6), axis=0)) == len(drawn.nodes)


@pytest.mark.parametrize(
    ("name", "cables_between_parts", "links_inside_part"),
    [
        # 32 routers, fully connected; 74 groups, any two by 4 of their 320 global links
        ("frontier", {4}, 32 * 31 // 2),
        # 6 x 16 routers: rows and columns joined
        ("theta", {87}, 6 * 16 * 15 // 2 + 16 * 6 * 5 // 2),
        # a leaf switch with its nodes, 3 cables to each of 6 core switches
        ("frontera", {3}, 44),
        # cells of 2 x 3 x 2 nodes, ring along b; 12 cables along X, Y and Z
        ("fugaku", {12}, 12 + 6 + 6),
    ],
)
def test_cables_between_parts_equal_published_numbers(
    name: str, cables_between_parts: set[int], links_inside_part: int
) -> None:
    network, found = describe_parts(load_machine(name).text)
    assert set(fold_parts(network, found.part).cables.tolist()) == cables_between_parts
    assert select_vertices(network, found.part == 0).cables.sum() == links_inside_part
