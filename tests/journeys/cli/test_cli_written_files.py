# SPDX-License-Identifier: BSD-3-Clause
"""Commands report the files that they write, and placement files name their graph."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Command

TORUS = ["-m", "torus:4x4"]


@pytest.fixture
def topoloom_with_placement(topoloom: Command) -> Command:
    topoloom("pattern", "generate", "ring", "-n", 8, "--bytes", 1000, "-o", "p.npz")
    topoloom("map", "p.npz", *TORUS, "-o", "x.json")
    return topoloom


@pytest.mark.parametrize(
    ("words", "written"),
    [
        (["map", "p.npz", *TORUS, "-o", "y.json"], ["y.json"]),
        (["judge", "p.npz", "x.json", "--write-loads", "l.json"], ["l.json"]),
        (
            [
                "judge",
                "p.npz",
                "x.json",
                "--figure",
                "f.svg",
                "--write-loads",
                "l.json",
            ],
            ["f.svg", "l.json"],
        ),
        (
            ["compare", "p.npz", *TORUS, "--mappers", "gge", "--figure", "f.svg"],
            ["f.svg"],
        ),
        (
            [
                "collective",
                "contention",
                "prefix",
                *TORUS,
                "--find",
                "routes",
                "-o",
                "order.txt",
            ],
            ["order.txt"],
        ),
        (["machine", "export", "torus:4x4", "-o", "m.tgt"], ["m.tgt"]),
        (["machine", "import", "hopper", "-o", "m.toml"], ["m.toml"]),
        (["machine", "draw", "torus:4x4", "-o", "m.svg"], ["m.svg"]),
        (["allocate", *TORUS, "-N", 4, "-o", "a.txt"], ["a.txt"]),
    ],
)
def test_commands_report_their_written_files(
    topoloom_with_placement: Command, words: list[str], written: list[str]
) -> None:
    outcome = topoloom_with_placement(*words)
    assert outcome.status == 0, outcome.err
    lines = [line.split() for line in outcome.out.splitlines()]
    assert [line[1] for line in lines if line[:1] == ["written"]] == written
    assert all(Path(name).stat().st_size for name in written)


def test_written_placements_name_their_graph(topoloom_with_placement: Command) -> None:
    Path("free.txt").write_text("".join(f"{node}\n" for node in range(10)))
    free = ["--choose", "free.txt", "-N", 8, "-g", "p.npz"]
    assert (
        topoloom_with_placement(
            "allocate", *TORUS, *free, "--write-placement", "c.json"
        ).status
        == 0
    )
    chosen, mapped = (json.loads(Path(f).read_text()) for f in ("c.json", "x.json"))
    assert chosen["graph"] == mapped["graph"] == "p.npz"
    assert topoloom_with_placement("report", "c.json", "-o", "c.html").status == 0


@pytest.mark.parametrize("machine", ["torus:4x4", "torus:4x4,bandwidth=1GB/s"])
def test_a_comparison_figure_shows_all_mappers(
    topoloom_with_placement: Command, machine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("topoloom.figure.page.SETTINGS", {"svg.fonttype": "none"})
    mappers = ["hilbert", "gge", "mahd+swap"]
    words = ["-m", machine, "--mappers", ",".join(mappers), "--figure", "f.svg"]
    found = topoloom_with_placement("compare", "p.npz", *words, "--json").json
    assert found["figure"] == "f.svg"
    picture = Path("f.svg").read_text()
    names = [f"{m} (best)" if m == found["best"] else m for m in ["block", *mappers]]
    for text in (*names, "hop-bytes", "congestion", "inter-node bytes", "search"):
        assert f">{text}</text>" in picture
    assert (">predicted time</text>" in picture) == ("bandwidth" in machine)
    for result in found["results"]:
        assert f">{result['hop_bytes']:,}</text>" in picture
