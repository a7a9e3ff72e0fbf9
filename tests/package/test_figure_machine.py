# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of machines: every kind can be drawn, with all that it has."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from topoloom import Error, Machine
from topoloom._core import Wiring
from topoloom.figure import draw_machine
from topoloom.figure.layout import heights, layout
from topoloom.figure.machine import cables
from topoloom.formats.topology_keys import write_topology
from topoloom.machine_file import TOPOLOGIES

KINDS = [
    *(example for _, example in TOPOLOGIES.values()),
    "torus:1",
    "torus:7",
    "mesh:5",
    "torus:2x2",
    "torus:3x2x2x2",
    "torus:9x8x7,nodes=2",
    "torus:6x6x6x2x3x2,wrap=111010",
    "tree:3:2:2",
    "graph:4:0-1,1-2,2-3,3-0",
    "graph:2:0>1,1>0",
]


@pytest.mark.parametrize("text", KINDS)
def test_every_kind_of_machine_can_be_drawn(text: str, tmp_path: Path) -> None:
    draw_machine(tmp_path / "m.png", Machine(text))
    assert (tmp_path / "m.png").read_bytes().startswith(b"\x89PNG")


def test_a_picture_is_the_same_each_time(tmp_path: Path) -> None:
    machine = Machine("graph:4+1:0-4,1-4,2-4,3-4")
    for name in ("a.svg", "b.svg"):
        draw_machine(tmp_path / name, machine, ("n1", "n2", "n3", "n4"))
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_another_ending_is_refused_and_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(Error, match=r"m.gif: figures are .svg, .png, .pdf"):
        draw_machine(tmp_path / "m.gif", Machine("torus:4"))
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("text", KINDS)
def test_vertices_stand_apart(text: str) -> None:
    wiring = Wiring(Machine(text))
    places = layout(write_topology(text.partition("+")[0]), wiring)
    assert places.shape == (wiring.vertex_count, 2)
    assert np.isfinite(places).all()
    assert len(np.unique(np.round(places, 6), axis=0)) == wiring.vertex_count


@pytest.mark.parametrize("text", [text for text in KINDS if "+down" not in text])
def test_a_cable_is_drawn_once_for_all_its_links(text: str) -> None:
    machine = Machine(text)
    pairs = {frozenset(machine.link_ends(link)) for link in range(machine.link_count)}
    ends, rates = cables(Wiring(machine))
    assert {frozenset(pair) for pair in ends.tolist()} == pairs
    assert len(ends) == len(rates) == len(pairs)


def test_what_is_down_is_not_drawn() -> None:
    ends, _ = cables(Wiring(Machine("torus:5+down:v2,3-4")))
    assert ends.tolist() == [[0, 1], [0, 4]]


def test_the_widest_of_parallel_links_gives_the_color() -> None:
    _, rates = cables(Wiring(Machine("graph:2:0>1@2GB/s,1>0@3GB/s")))
    assert rates.tolist() == [3e9]


def test_switches_stand_above_the_nodes_that_they_join() -> None:
    assert heights(Wiring(Machine("tree:2:2:2"))).tolist() == (
        [0] * 8 + [1] * 4 + [2] * 2 + [3]
    )
