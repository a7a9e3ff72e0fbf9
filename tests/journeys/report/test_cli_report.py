# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom report`: several placements on one page, and errors."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from topoloom import CommGraph, save_graph
from topoloom.graphs.phases import add_phases, make_phase_array

if TYPE_CHECKING:
    from tests.conftest import Command


@pytest.fixture
def placement_file(topoloom: Command) -> None:
    """Write p.npz and its placement x.json."""
    topoloom("pattern", "generate", "stencil2d", "--grid", "4x4", "-o", "p.npz")
    topoloom("map", "p.npz", "-m", "torus:4x4x2", "-o", "x.json")


def test_a_placement_records_its_pattern_and_command(
    topoloom: Command, placement_file: None
) -> None:
    document = json.loads(Path("x.json").read_text())
    assert document["graph"] == "p.npz"
    words = ["topoloom", "map", "p.npz", "-m", "torus:4x4x2", "-o", "x.json"]
    assert document["command"] == words
    summary = topoloom("report", "x.json", "-o", "r.html", "--json").json
    assert summary["bytes"] == Path("r.html").stat().st_size
    page = Path("r.html").read_text()
    assert "topoloom map p.npz -m torus:4x4x2 -o x.json" in page
    assert "topoloom report x.json -o r.html --json" in page
    judged = topoloom("judge", "p.npz", "x.json", "--json").json
    shown = {view["name"]: view for view in summary["placements"]}
    for measure in ("hop_bytes", "congestion_max", "dilation_average"):
        assert shown[summary["best"]][measure] == judged[measure]
        assert shown["block (default)"][measure] == judged["block"][measure]


def test_the_pattern_can_be_in_the_folder_of_the_placement(
    topoloom: Command, placement_file: None
) -> None:
    Path("away").mkdir()
    for name in ("p.npz", "x.json"):
        Path(name).rename(Path("away") / name)
    assert topoloom("report", "away/x.json", "-o", "r.html").status == 0


def test_several_placements_of_one_job_share_a_page(
    topoloom: Command, placement_file: None
) -> None:
    words = ["-m", "torus:4x4x2", "--mapper", "random", "-o", "y.json"]
    topoloom("map", "p.npz", *words)
    summary = topoloom("report", "x.json", "y.json", "-o", "r.html", "--json").json
    names = [view["name"] for view in summary["placements"]]
    assert names == ["block (default)", "auto", "random"]
    assert summary["best"] == "auto"


def test_the_first_placement_sets_the_objective_of_the_comparison(
    topoloom: Command, placement_file: None
) -> None:
    for name, time in (("y.json", 3.0), ("z.json", 2.0)):
        words = ["-m", "torus:4x4x2", "--objective", "congestion-soft", "-o", name]
        topoloom("map", "p.npz", *words)
        document = json.loads(Path(name).read_text())
        document["values"]["objective"] = time
        Path(name).write_text(json.dumps(document))
    summary = topoloom("report", "y.json", "z.json", "-o", "r.html", "--json").json
    assert summary["best"] == "z"


def test_placements_with_unprintable_characters_are_refused(
    topoloom: Command, placement_file: None
) -> None:
    document = json.loads(Path("x.json").read_text())
    for odd in ("\udcff", "\x1b[31m", "two\nlines"):
        Path("x.json").write_text(json.dumps({**document, "mapper": odd}))
        refused = topoloom("report", "x.json", "-o", "r.html")
        assert refused.status == 2
        assert "x.json: mapper has characters that cannot be printed" in refused.err
        assert refused.err.count("\n") == 1


def test_placements_without_a_recorded_pattern_require_one(
    topoloom: Command, placement_file: None
) -> None:
    document = json.loads(Path("x.json").read_text())
    del document["graph"], document["command"]
    Path("x.json").write_text(json.dumps(document))
    refused = topoloom("report", "x.json", "-o", "r.html")
    assert refused.status == 2
    assert refused.err.startswith("topoloom: x.json does not name its graph")
    assert topoloom("report", "x.json", "-g", "p.npz", "-o", "r.html").status == 0


def test_a_placement_names_only_graphs_beside_or_below_it(
    topoloom: Command, placement_file: None
) -> None:
    document = json.loads(Path("x.json").read_text())
    Path("secret.npz").write_bytes(Path("p.npz").read_bytes())
    Path("sent/below").mkdir(parents=True)
    Path("sent/below/p.npz").write_bytes(Path("p.npz").read_bytes())
    Path("sent/link.npz").symlink_to("../secret.npz")
    secret = str(Path("secret.npz").absolute())
    for graph in ("secret.npz", "../secret.npz", "below/../../secret.npz", secret,
                  "link.npz", "/dev/zero", "/etc/passwd"):  # fmt: skip
        Path("sent/x.json").write_text(json.dumps({**document, "graph": graph}))
        refused = topoloom("report", "sent/x.json", "-o", "r.html")
        assert refused.status == 2
        assert "which is neither beside nor below it" in refused.err
        assert not Path("r.html").exists()
    confirmed = topoloom("report", "sent/x.json", "-g", "secret.npz", "-o", "r.html")
    assert confirmed.status == 0
    Path("sent/x.json").write_text(json.dumps({**document, "graph": "below/p.npz"}))
    assert topoloom("report", "sent/x.json", "-o", "r.html").status == 0


def test_another_pattern_than_the_placements_is_noted(
    topoloom: Command, placement_file: None
) -> None:
    topoloom("pattern", "generate", "ring", "--ranks", "16", "-o", "q.npz")
    noted = topoloom("report", "x.json", "-g", "q.npz", "-o", "r.html")
    assert noted.status == 0
    assert "it was made for another pattern" in noted.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["x.json"], "--output is missing"),
        (["-o", "r.html"], "is missing"),
        (["none.json", "-o", "r.html"], "none.json: No such file"),
        (["p.npz", "-o", "r.html"], "p.npz is a communication graph, not a placement"),
        (["empty.json", "-o", "r.html"], "empty.json: the file is empty"),
        (["x.json", "-o", "x.json"], "x.json: pages are written as HTML"),
        (["x.json", "-o", "p.npz"], "p.npz: pages are written as HTML"),
        (["x.json", "-o", "none/r.html"], "there is no directory 'none'"),
        (["x.json", "-g", "few.npz", "-o", "r.html"], "x.json places 16 ranks"),
        (["x.json", "-g", "empty.json", "-o", "r.html"], "empty.json: the file is"),
        (["x.json", "big.json", "-o", "r.html"], "big.json is a placement for torus"),
        (["x.json"] * 8 + ["-o", "r.html"], "8 placements are too many"),
    ],
)
def test_invalid_report_input_is_named_and_no_page_is_written(
    topoloom: Command, placement_file: None, words: list[str], message: str
) -> None:
    Path("empty.json").write_text("")
    topoloom("pattern", "generate", "ring", "--ranks", "8", "-o", "few.npz")
    topoloom("map", "p.npz", "-m", "torus:8x8", "-o", "big.json")
    refused = topoloom("report", *words)
    assert refused.status == 2
    assert message in refused.err
    assert refused.err.count("\n") == 1
    assert not Path("r.html").exists()


def test_shared_slots_are_shown_without_a_bound(topoloom: Command) -> None:
    topoloom("pattern", "generate", "stencil2d", "--grid", "8x8", "-o", "p.npz")
    topoloom("map", "p.npz", "-m", "torus:4x4", "--imbalance", "0", "-o", "x.json")
    assert topoloom("report", "x.json", "-o", "r.html").status == 0
    assert "Nothing was proven for this page" in Path("r.html").read_text()


def test_file_names_that_are_not_utf8_are_shown(
    topoloom: Command, placement_file: None
) -> None:
    odd = Path(os.fsdecode(b"\xff.json"))
    Path("x.json").rename(odd)
    assert topoloom("report", odd, "-o", "r.html").status == 0
    assert "?.json" in Path("r.html").read_text()


@pytest.mark.parametrize(("count", "has_names"), [(3, False), (30, True)])
def test_a_page_needs_no_names_of_phases_and_no_few_phases(
    topoloom: Command, count: int, has_names: bool
) -> None:
    phases = [CommGraph.from_edges(4, [k % 4], [k * 7 % 3], [k]) for k in range(count)]
    arrays = {"phases": make_phase_array(phases)}
    if has_names:
        arrays["phase_names"] = np.array([f"step {k}" for k in range(count)])
    save_graph("p.npz", add_phases(phases), arrays)
    topoloom("map", "p.npz", "-m", "mesh:4", "-o", "x.json")
    assert topoloom("report", "x.json", "-o", "r.html").status == 0
