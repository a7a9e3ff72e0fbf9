# SPDX-License-Identifier: BSD-3-Clause
"""Files in the place of others, and names that cannot be written, give one line."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from topoloom._core import random_geometric, ring, stencil
from topoloom.graphs.graph_file import save_graph

if TYPE_CHECKING:
    from tests.conftest import Command

TORUS = ["-m", "torus:4x4"]
PLACEMENT = "x.json is a placement, not {}; give it as PLACEMENT"
GRAPH = "{} is a communication graph, not {}; give it as GRAPH"


@pytest.fixture
def files(topoloom: Command) -> Command:
    """Make a graph, a placement and a machine."""
    save_graph("p.npz", ring(16))
    topoloom("map", "p.npz", *TORUS, "-o", "x.json")
    topoloom("machine", "export", "torus:4x4", "-o", "m.toml")
    Path("plain").write_bytes(Path("p.npz").read_bytes())
    return topoloom


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["judge", "x.json", "p.npz"], PLACEMENT.format("a communication graph")),
        (["judge", "p.npz", "p.npz"], GRAPH.format("p.npz", "a placement")),
        (["judge", "p.npz", "plain"], GRAPH.format("plain", "a placement")),
        (["map", "x.json", *TORUS], PLACEMENT.format("a communication graph")),
        (["map", "p.npz", "-m", "x.json"], PLACEMENT.format("a machine")),
        (["map", "p.npz", "-m", "p.npz"], GRAPH.format("p.npz", "a machine")),
        (
            ["map", "p.npz", *TORUS, "-a", "x.json"],
            PLACEMENT.format("an allocation"),
        ),
        (
            ["map", "p.npz", *TORUS, "--background", "x.json"],
            "x.json is a placement; another job is a graph and its placement: "
            "GRAPH,PLACEMENT",
        ),
        (
            ["map", "p.npz", *TORUS, "--background", "p.npz,"],
            "'p.npz,' is not GRAPH,PLACEMENT",
        ),
        (["report", "p.npz", "-o", "r.html"], GRAPH.format("p.npz", "a placement")),
        (
            ["export", "m.toml", "--to", "openmpi-rankfile"],
            "m.toml is a machine, not a placement; 'topoloom machine show' takes it as "
            "MACHINE",
        ),
    ],
)
def test_a_file_in_the_place_of_another_is_named(
    files: Command, words: list[str], error: str
) -> None:
    refused = files(*words)
    assert (refused.status, refused.out) == (2, "")
    assert refused.err == f"topoloom: {error}\n"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.txt", "%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 2 8\n"),
        ("b.csv", "src,dst,bytes\n0,1,8\n"),
        ("c.txt", "num_ranks 2\nrank 0 {\n}\nrank 1 {\n}\n"),
    ],
)
def test_graphs_of_any_name_are_recognized(
    files: Command, name: str, text: str
) -> None:
    Path(name).write_text(text)
    refused = files("judge", "p.npz", name)
    assert refused.err == f"topoloom: {GRAPH.format(name, 'a placement')}\n"


@pytest.mark.parametrize(
    "text",
    [
        "SwitchName=s0 Nodes=n[0-3]\n",
        "<?xml version='1.0'?>\n<topology version='2.0'/>\n",
    ],
)
def test_machines_of_other_programs_are_recognized(files: Command, text: str) -> None:
    Path("m.txt").write_text(text)
    refused = files("map", "m.txt", *TORUS)
    assert refused.err == (
        "topoloom: m.txt is a machine, not a communication graph; give it as MACHINE\n"
    )


def test_show_looks_at_placements(files: Command) -> None:
    shown = files("machine", "show", "x.json")
    assert shown.status == 0
    assert "torus:4x4" in shown.out
    shown = files("pattern", "show", "x.json")
    assert shown.status == 0
    assert "  ranks " in shown.out
    Path("p.npz").unlink()
    refused = files("pattern", "show", "x.json")
    assert refused.err == (
        "topoloom: x.json is a placement of the graph p.npz, which is not beside or "
        "below it\n"
    )


def test_a_placement_is_no_model(files: Command) -> None:
    refused = files("model", "show", "x.json")
    assert refused.err == (
        "topoloom: x.json is a placement, not a model of message costs; "
        "'topoloom judge' takes it as PLACEMENT\n"
    )


@pytest.mark.parametrize("name", ["r.pdf", "r", "r.htm"])
def test_pages_are_only_written_as_html(files: Command, name: str) -> None:
    refused = files("report", "x.json", "-o", name)
    assert refused.status == 2
    assert refused.err == (
        f"topoloom: {name}: pages are written as HTML; end the name with .html\n"
    )
    assert not Path(name).exists()


@pytest.mark.parametrize(
    "words", [["demo"], ["joint", "p.npz", "-m", "torus:4x4"]], ids=["demo", "joint"]
)
@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("p.npz", "p.npz is a file; name a directory for the results"),
        ("new.json", "new.json is a file name; name a directory for the results"),
    ],
)
def test_results_need_a_directory(
    files: Command, words: list[str], name: str, error: str
) -> None:
    refused = files(*words, "-o", name)
    assert (refused.status, refused.err) == (2, f"topoloom: {error}\n")


@pytest.mark.parametrize(
    ("flags", "reason"), [(os.ST_RDONLY, errno.EROFS), (0, errno.EACCES)]
)
def test_the_reason_why_a_directory_is_not_writable_is_named(
    files: Command, monkeypatch: pytest.MonkeyPatch, flags: int, reason: int
) -> None:
    class Status:
        f_flag = flags

    monkeypatch.setattr(os, "access", lambda *_: False)
    monkeypatch.setattr(os, "statvfs", lambda _: Status)
    refused = files("map", "p.npz", *TORUS, "-o", "y.json")
    assert refused.status == 2
    assert refused.err == f"topoloom: y.json: {os.strerror(reason)}\n"


@pytest.mark.parametrize("words", [["demo"], ["joint", "p.npz", "p.npz", *TORUS]])
def test_a_directory_that_is_not_writable_is_named_as_typed(
    files: Command, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)
    refused = files(*words, "-o", "new/results")
    assert refused.err == f"topoloom: new/results: {os.strerror(errno.EACCES)}\n"


def test_map_says_when_block_order_is_already_best(files: Command) -> None:
    # More than 16 slots, because placements of smaller jobs are proven by search.
    save_graph("s.npz", stencil([6, 6], 5))
    shown = files("map", "s.npz", "-m", "torus:6x6")
    assert shown.out.endswith(
        "  advice     the launcher's order is proven optimal: no placement has fewer "
        "hop-bytes\n"
    )
    save_graph("g.npz", random_geometric(16))
    assert "launcher's order is" not in files("map", "g.npz", *TORUS).out
