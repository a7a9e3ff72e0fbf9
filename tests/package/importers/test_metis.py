# SPDX-License-Identifier: BSD-3-Clause
"""Machines as METIS graphs, and back."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from topoloom import Error, Machine, load_machine
from topoloom.importers.metis import write_metis_machine

UNKNOWN = "relative: bandwidths are unknown"


@pytest.mark.parametrize(
    ("text", "graph"),
    [
        (
            "graph:2+1:0-2@2GB/s,1-2@3GB/s",
            "% 2 nodes, 1 switches; weight 1 is 1000000000 B/s\n"
            "3 2 1\n3 2\n3 3\n1 2 2 3\n",
        ),
        (
            "mesh:3",
            f"% 3 nodes, 0 switches; weight 1 is 1, {UNKNOWN}\n3 2\n2\n1 3\n2\n",
        ),
        # Two cables between the two routers of a ring of two.
        ("torus:2", f"% 2 nodes, 0 switches; weight 1 is 2, {UNKNOWN}\n2 1\n2\n1\n"),
        # Nodes 0 and 1 are on the first router; host links have twice the bandwidth.
        (
            "mesh:2,nodes=2,bandwidth=1GB/s,bandwidth.host=2GB/s",
            "% 4 nodes, 2 switches; weight 1 is 1000000000 B/s\n"
            "6 5 1\n5 2\n5 2\n6 2\n6 2\n1 2 2 2 6 1\n3 2 4 2 5 1\n",
        ),
        ("graph:1", f"% 1 nodes, 0 switches; weight 1 is 1, {UNKNOWN}\n1 0\n\n"),
    ],
)
def test_a_machine_is_exported_as_a_metis_graph(text: str, graph: str) -> None:
    assert write_metis_machine(Machine(text)) == graph


def test_bandwidths_are_exported_as_integer_weights() -> None:
    text = write_metis_machine(Machine("tree:2:2,bandwidth=12.5GB/s:31.25GB/s"))
    assert text.splitlines()[0] == "% 4 nodes, 3 switches; weight 1 is 6250000000 B/s"
    assert text.splitlines()[2:4] == ["5 2", "5 2"]
    assert text.splitlines()[6] == "1 2 2 2 7 5"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("torus:4x4,nodes=2,hosts=free", "several nodes on one router"),
        ("torus:4x4,bandwidth=2,bandwidth.x+=1", "differs from the one back"),
        ("graph:2:0>1,1-0@3", "is given twice"),
        ("graph:3:0>1,1>2,2>0", "the link from vertex 0 to 1 differs"),
        ("graph:3:0-1@1e5,1-2@1e15", "differ by more than METIS weights can"),
    ],
)
def test_machines_that_metis_cannot_express_are_refused(
    text: str, message: str
) -> None:
    with pytest.raises(Error, match=message):
        write_metis_machine(Machine(text))


@st.composite
def draw_machine_text(draw: st.DrawFn) -> str:
    """Draw a connected graph: a random tree and some additional links."""
    count = draw(st.integers(2, 9))
    pairs = {(draw(st.integers(0, v - 1)), v) for v in range(1, count)}
    vertex = st.integers(0, count - 1)
    more = draw(st.lists(st.tuples(vertex, vertex), max_size=6))
    pairs |= {(min(pair), max(pair)) for pair in more if pair[0] != pair[1]}
    rate = st.integers(1, 9)
    links = ",".join(f"{u}-{v}@{draw(rate)}" for u, v in sorted(pairs))
    return f"graph:{count}:{links}"


@pytest.mark.parametrize(
    "text",
    [
        "torus:3x4,nodes=2,bandwidth=1GB/s,bandwidth.y=half",
        "mesh:3x2,cards=2",
        "hyperx:3x4,nodes=3,cards=2,bandwidth=1GB/s",
        "dragonfly:5x4,nodes=2",
    ],
)
def test_nodes_on_routers_are_read_back_with_their_links(
    text: str, tmp_path: Path
) -> None:
    machine = Machine(text)
    file = tmp_path / "m.graph"
    file.write_text(write_metis_machine(machine))
    again = load_machine(file)
    # In METIS graphs, switches are vertices after the nodes, and become nodes here.
    nodes = range(machine.node_count)
    assert again.node_count > machine.node_count
    assert again.link_count == machine.link_count
    assert [[again.hops(a, b) for b in nodes] for a in nodes] == [
        [machine.hops(a, b) for b in nodes] for a in nodes
    ]


@given(draw_machine_text())
def test_an_exported_metis_graph_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    machine = Machine(text)
    file = tmp_path_factory.mktemp("metis") / "m.graph"
    written = write_metis_machine(machine)
    file.write_text(written)
    again = load_machine(file)
    unit = float(re.split(" B/s|, relative", written)[0].split()[-1])
    assert again.link_count == machine.link_count
    for link in range(machine.link_count):
        assert again.link_ends(link) == machine.link_ends(link)
        assert again.bandwidth(link) * unit == pytest.approx(machine.bandwidth(link))


@pytest.mark.parametrize("text", ["torus:4x4x2", "tree:4:8:2,bandwidth=1:2:3"])
def test_gpmetis_accepts_the_exported_graph(text: str, tmp_path: Path) -> None:
    file = tmp_path / "m.graph"
    file.write_text(write_metis_machine(Machine(text)))
    result = subprocess.run(
        ["graphchk", str(file)],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert "correct" in result.stdout
