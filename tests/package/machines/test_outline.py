# SPDX-License-Identifier: BSD-3-Clause
"""Machines drawn in a few lines of text."""

from __future__ import annotations

import pytest

from topoloom import Machine
from topoloom.machines.outline import outline
from topoloom.machines.topology_forms import section_forms


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("torus:8x6x4", ["8 x 6 x 4 nodes, a ring along each axis"]),
        ("torus:8", ["8 nodes, a ring"]),
        ("torus:1x1+node:4", ["1 node", "└─ 4 slots"]),
        ("torus:4x4x3,wrap=101", ["4 x 4 x 3 nodes, a ring along each axis but y"]),
        (
            "mesh:4x4,nodes=2+node:16:2",
            [
                "4 x 4 routers, a line along each axis",
                "└─ 2 nodes",
                "   └─ 2 groups",
                "      └─ 16 slots",
            ],
        ),
        (
            "twisted:4x4x8,twist.x=0:0:4",
            ["4 x 4 x 8 nodes, a ring along each axis, those of x shifted"],
        ),
        (
            "hyperx:8x4,nodes=2",
            ["8 x 4 routers, fully connected along each axis", "└─ 2 nodes"],
        ),
        ("hypercube:6", ["64 nodes, each connected to 6"]),
        (
            "ring:12,rings=2,transfers=3",
            ["12 stations, 2 rings in each direction with 3 transfers at once"],
        ),
        ("tree:4:8:2", ["2 groups", "└─ 8 groups", "   └─ 4 nodes"]),
        (
            "fattree:44:182,up=1:6,parallel=1:3",
            [
                "6 switches",
                "└─ 182 switches, 3 links to each of 6 above",
                "   └─ 44 nodes",
            ],
        ),
        (
            "fattree:2:2:2",
            [
                "4 switches",
                "└─ 2 subtrees of 2 switches, 1 link to each of 2 above",
                "   └─ 2 switches, 1 link to each of 2 above",
                "      └─ 2 nodes",
            ],
        ),
        (
            "dragonfly:9x4,nodes=2,global=2",
            [
                "9 groups, each connected to all others, 2 global links per router",
                "└─ 4 routers, fully connected",
                "   └─ 2 nodes",
            ],
        ),
        (
            "dragonfly:5x2x3",
            [
                "5 groups, each connected to all others",
                "└─ 2 x 3 nodes, connected along rows and columns",
            ],
        ),
        (
            "dragonflyplus:9x4x3,nodes=2,global=3",
            [
                "9 groups, each connected to all others, 3 global links per spine",
                "└─ 4 leaves, each connected to 3 spines",
                "   └─ 2 nodes",
            ],
        ),
        (
            "rails:8:4:2",
            ["2 scalable units", "└─ 4 NVLink domains on 8 rails", "   └─ 8 GPUs"],
        ),
        ("graph:4+1:0-4,1-4,2>4,4>2,3-4", ["4 nodes and 1 switch, 8 links"]),
        (
            "torus:4x4+down:3,v7,0-1+node:2",
            [
                "4 x 4 nodes, a ring along each axis",
                "└─ 2 slots",
                "without node 3, router or switch 7, link 0-1",
            ],
        ),
    ],
)
def test_outlines_show_the_parts_of_a_machine_as_a_tree(
    text: str, expected: list[str]
) -> None:
    assert outline(Machine(text)) == expected


def test_every_topology_has_an_outline() -> None:
    for form in section_forms().values():
        assert outline(Machine(form.example))


def test_topologies_without_an_outline_function_list_their_nodes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("topoloom.machines.outline._PARTS", {})
    for text in ("torus:4x4", "tree:4:4", "graph:3:0-1,1-2"):
        machine = Machine(f"{text}+node:2")
        assert outline(machine) == [f"{machine.node_count} nodes", "└─ 2 slots"]
