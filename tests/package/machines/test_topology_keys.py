# SPDX-License-Identifier: BSD-3-Clause
"""Tables of [topology] and [down] are converted to machine texts and back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from topoloom import Error
from topoloom._core import MachineText
from topoloom.machines.topology_keys import (
    list_topology_kinds,
    read_down,
    read_topology,
    write_down,
    write_topology,
)

PAIRS: list[tuple[dict[str, Any], str]] = [
    ({"kind": "torus", "size": [4, 4], "wrap": [True, False]}, "torus:4x4,wrap=10"),
    (
        {
            "kind": "mesh",
            "size": [4, 3],
            "nodes": 2,
            "order": ["y", "x"],
            "ties": "split",
        },
        "mesh:4x3,nodes=2,order=1:0,ties=split",
    ),
    (
        {
            "kind": "twisted",
            "size": [4, 4, 8],
            "twist": {"x": [0, 0, 4], "y": [0, 0, 4]},
            "bandwidth": {"default": "45 GB/s", "z-": "half"},
        },
        "twisted:4x4x8,twist.x=0:0:4,twist.y=0:0:4,bandwidth=45GB/s,bandwidth.z-=half",
    ),
    (
        {
            "kind": "hyperx",
            "size": [8, 8],
            "nodes": 8,
            "cards": 0,
            "latency": {"default": "1 us", "y": "2 us"},
        },
        "hyperx:8x8,nodes=8,hosts=free,latency=1us,latency.y=2us",
    ),
    (
        {"kind": "hypercube", "dimensions": 6, "order": ["x", "y", "z", "c", "b", "a"]},
        "hypercube:6,order=0:1:2:5:4:3",
    ),
    (
        {
            "kind": "ring",
            "stations": 12,
            "rings": 2,
            "transfers": 3,
            "ties": "split",
            "bandwidth": "25.6 GB/s",
        },
        "ring:12,rings=2,transfers=3,ties=split,bandwidth=25.6GB/s",
    ),
    (
        {
            "kind": "tree",
            "levels": [4, 8],
            "distance": [1, 10],
            "bandwidth": ["2 GB/s", "1 GB/s"],
        },
        "tree:4:8,distance=1:10,bandwidth=2GB/s:1GB/s",
    ),
    (
        {
            "kind": "fattree",
            "levels": [24, 12],
            "up": [1, 18],
            "parallel": [1, 2],
            "routing": "s-mod-k",
            "bandwidth": ["12.5 GB/s", "25 GB/s"],
            "latency": "90 ns",
        },
        "fattree:24:12,up=1:18,parallel=1:2,routing=s-mod-k,bandwidth=12.5GB/s:25GB/s,latency=90ns",
    ),
    (
        {
            "kind": "dragonfly",
            "size": [9, 6, 16],
            "nodes": 4,
            "cards": 2,
            "global": 10,
            "arrangement": "palmtree",
            "routing": "valiant",
            "bandwidth": {"default": "5 GB/s", "column": "double", "host": "10 GB/s"},
            "latency": {"host": "90 ns"},
        },
        "dragonfly:9x6x16,nodes=4,cards=2,global=10,arrangement=palmtree,routing=valiant,bandwidth=5GB/s,bandwidth.column=double,bandwidth.host=10GB/s,latency.host=90ns",
    ),
    (
        {
            "kind": "torus",
            "size": [3, 4],
            "cards": 1,
            "bandwidth": {"default": "5 GB/s", "x+": "half", "host": "6 GB/s"},
        },
        "torus:3x4,cards=1,bandwidth=5GB/s,bandwidth.x+=half,bandwidth.host=6GB/s",
    ),
    (
        {
            "kind": "rails",
            "levels": [8, 32, 4],
            "rails": 8,
            "host": 4,
            "spines": 16,
            "cross": "spine",
            "bandwidth": {"default": "50 GB/s", "nvlink": "450 GB/s"},
            "latency": {"rail": "1 us"},
        },
        "rails:8:32:4,rails=8,host=4,spines=16,cross=spine,bandwidth=50GB/s,bandwidth.nvlink=450GB/s,latency.rail=1us",
    ),
    (
        {
            "kind": "graph",
            "nodes": 2,
            "switches": 1,
            "links": ["0-2", "1>2", "2>1"],
            "bandwidth": "1 GB/s",
            "routes": [[0, 2, 1]],
            "forward": False,
        },
        "graph:2+1:0-2,1>2,2>1,bandwidth=1GB/s,route=0>2>1,forward=no",
    ),
    (
        {
            "kind": "graph",
            "nodes": 2,
            "switches": 2,
            "links": ["0-2", "1-3", "2-3"],
            "routing": "ecmp",
            "tables": ["2:ba", "3:ab"],
        },
        "graph:2+2:0-2,1-3,2-3,routing=ecmp,table=2:ba,table=3:ab",
    ),
    (
        {
            "kind": "dragonflyplus",
            "size": [9, 4, 4],
            "nodes": 4,
            "cards": 2,
            "global": 2,
            "bandwidth": {"default": "25 GB/s", "global": "half", "host": "50 GB/s"},
            "latency": {"local": "1 us"},
        },
        "dragonflyplus:9x4x4,nodes=4,cards=2,global=2,bandwidth=25GB/s,"
        "bandwidth.global=half,bandwidth.host=50GB/s,latency.local=1us",
    ),
]


@pytest.mark.parametrize(("table", "text"), PAIRS)
def test_tables_and_short_texts_are_equivalent(
    table: dict[str, Any], text: str
) -> None:
    assert read_topology(table, Path()) == text
    assert write_topology(MachineText(text)) == table


@pytest.mark.parametrize(
    "text",
    [
        "torus:4x4,bandwidth=1e9,latency=1.5e-6",
        "torus:4x4,bandwidth=2.5e9B/s,bandwidth.y=1e9",
        "rails:4:4:1,spines=0,cross=nvlink",
    ],
)
def test_a_table_has_every_option_of_a_short_text(text: str) -> None:
    table = write_topology(MachineText(text))
    assert write_topology(MachineText(read_topology(table, Path()))) == table


def test_the_examples_contain_every_key_of_every_kind() -> None:
    tried = {kind: set[str]() for kind in list_topology_kinds()}
    for table, _ in PAIRS:
        tried[table["kind"]] |= set(table)
    options = {key for kind in list_topology_kinds().values() for key in kind.options}
    assert not [kind for kind, keys in tried.items() if not keys]
    assert options <= set().union(*tried.values())


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (
            {"kind": "ring", "stations": [12]},
            "topology.stations must be an integer",
        ),
        ({"kind": "ring", "stations": 0}, "topology.stations must be 1 or more"),
        (
            {"kind": "ring", "stations": 12, "rings": 0},
            "topology.rings must be 1 or more",
        ),
        (
            {"kind": "ring", "stations": 12, "ring": 2},
            r"no key 'topology.ring' \(did you mean 'topology.rings'\?\)",
        ),
        ({"kind": "hypercube"}, "topology.dimensions is missing"),
        (
            {"kind": "fattree", "levels": [4, 4], "latency": ["1 us"]},
            "topology.latency must have an entry for each level",
        ),
        ({"kind": "fattree", "levels": [4, 4], "up": 2}, "topology.up must be a list"),
        (
            {"kind": "fattree", "levels": [4], "routing": "a,b"},
            "topology.routing must be one word",
        ),
        (
            {"kind": "dragonfly", "size": [9, 4], "bandwidth": {"x": "1 GB/s"}},
            "topology.bandwidth.x: the links are local, row, column, global",
        ),
        (
            {"kind": "hyperx", "size": [4, 4], "cards": -1},
            "topology.cards must be 0 .nodes have no links to routers. or more",
        ),
        (
            {"kind": "hyperx", "size": [4, 4], "cards": "free"},
            "topology.cards must be an integer",
        ),
        (
            {"kind": "tree", "levels": [4, 4], "cards": 1},
            "no key 'topology.cards'",
        ),
        (
            {"kind": "hyperx", "size": [4, 4], "bandwidth": {"x+": "1 GB/s"}},
            r"topology.bandwidth.x\+: the axes are x, y$",
        ),
        (
            {"kind": "twisted", "size": [4, 4], "twist": {"z": [0, 1]}},
            "topology.twist.z: the axes are x, y",
        ),
        (
            {"kind": "twisted", "size": [4, 4], "twist": {"x": [1]}},
            "topology.twist.x must have a shift for each of 2 axes",
        ),
        (
            {"kind": "graph", "nodes": 2, "links": ["0-1"], "tables": ["0>1"]},
            r"topology.tables\[0\] must be a vertex and its forwarding table",
        ),
        (
            {"kind": "graph", "nodes": 2, "links": ["0-1"], "forward": "no"},
            "topology.forward must be true or false",
        ),
    ],
)
def test_errors_in_topology_tables_name_the_key(
    table: dict[str, Any], message: str
) -> None:
    with pytest.raises(Error, match=message):
        read_topology(table, Path())


def test_failures_follow_the_network_in_the_text() -> None:
    down = {"nodes": [17, 3], "vertices": [40], "links": ["0-1", "5>6"]}
    assert read_down(down) == "+down:17,3,v40,0-1,5>6"
    assert write_down(MachineText("torus:8x8+down:17,v40,0-1,3,5>6")) == down


@pytest.mark.parametrize(
    ("down", "message"),
    [
        ({}, r"\[down\] must name nodes, vertices or links"),
        ({"links": ["0-1-2"]}, r"down.links\[0\] must be"),
        ({"links": [[0, 1]]}, r"down.links\[0\] must be"),
        ({"nodes": [-1]}, "down.nodes must be a list of integers"),
        ({"node": [1]}, "did you mean 'down.nodes'"),
    ],
)
def test_wrong_failures_are_named(down: dict[str, object], message: str) -> None:
    with pytest.raises(Error, match=message):
        read_down(down)
