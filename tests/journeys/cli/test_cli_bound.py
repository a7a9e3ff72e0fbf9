# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom bound`: no placement is better than the printed bound."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Command

JOBS = [
    (["stencil3d", "--grid", "4x4x4"], "torus:4x4x4"),
    (["stencil2d", "--grid", "6x8"], "mesh:8x8"),
    (["binomial", "--ranks", "32"], "tree:4:4:2"),
    (["bruck", "--ranks", "24"], "fattree:4:4:2"),
    (["recursive-doubling", "--ranks", "32"], "dragonfly:5x4,nodes=2"),
    (["alltoall", "--ranks", "12"], "ring:12"),
]


@pytest.mark.parametrize(("pattern", "machine"), JOBS)
def test_no_mapper_is_better_than_the_bounds(
    topoloom: Command, pattern: list[str], machine: str
) -> None:
    topoloom("pattern", "generate", *pattern, "--bytes", "1000", "-o", "p.npz")
    for mapper in ("block", "random", "auto(effort=fast)"):
        topoloom("map", "p.npz", "-m", machine, "--mapper", mapper, "-o", "x.json")
        found = topoloom("bound", "p.npz", "x.json", "--json").json
        for name in ("hop_bytes", "congestion_max"):
            assert found[name]["at_least"] <= found[name]["value"]
            assert found[name]["at_least"] > 0
            assert found[name]["gap"] >= 1


def test_a_stencil_on_its_own_torus_is_proven_optimal(topoloom: Command) -> None:
    topoloom(
        "pattern",
        "generate",
        "stencil3d",
        "--grid",
        "8x8x8",
        "--periodic",
        "-o",
        "p.npz",
    )
    topoloom("map", "p.npz", "-m", "torus:8x8x8", "-o", "x.json")
    found = topoloom("bound", "p.npz", "x.json", "--json").json
    assert found["hop_bytes"]["gap"] == 1
    assert found["congestion_max"]["gap"] == pytest.approx(1)
    printed = topoloom("bound", "p.npz", "x.json")
    assert (printed.status, printed.err) == (0, "")
    assert printed.out.count("1.000") == 2


def test_without_a_placement_bound_prints_only_bounds(topoloom: Command) -> None:
    topoloom(
        "pattern", "generate", "ring", "--ranks", "16", "--bytes", "5", "-o", "p.npz"
    )
    found = topoloom("bound", "p.npz", "-m", "torus:16", "--json").json
    assert (found["ranks"], found["nodes"]) == (16, 16)
    assert (
        found["hop_bytes"]["at_least"]
        == topoloom("judge", "p.npz", "-m", "torus:16", "--json").json["hop_bytes"]
    )
    assert "gap" not in found["hop_bytes"]
    assert "gap" not in topoloom("bound", "p.npz", "-m", "torus:16").out


def test_shared_slots_need_capacities_or_an_imbalance(topoloom: Command) -> None:
    topoloom(
        "pattern",
        "generate",
        "stencil2d",
        "--grid",
        "8x8",
        "--bytes",
        "9",
        "-o",
        "p.npz",
    )
    shared = ["p.npz", "-m", "torus:4x4", "--imbalance", "0"]
    topoloom("map", *shared, "-o", "x.json")
    outcome = topoloom("bound", "p.npz", "x.json")
    assert outcome.status == 2
    assert "--imbalance or --capacities" in outcome.err
    found = topoloom("bound", "p.npz", "x.json", "--imbalance", "0", "--json").json
    assert 0 < found["hop_bytes"]["at_least"] <= found["hop_bytes"]["value"]
    assert (
        topoloom("bound", *shared, "--json").json["hop_bytes"]["at_least"]
        == (found["hop_bytes"]["at_least"])
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["p.npz"],
            "--machine is missing; name a placement file or a machine to",
        ),
        (["p.npz", "-m", "torus:2x2"], "only 4 slots"),
        (["p.npz", "x.json", "-m", "torus:4x4"], "leave out the machine"),
        (["p.npz", "empty.json"], "empty.json"),
        (["p.npz", "-m", "torus:4x4", "--time", "-1s"], "-1s"),
        (["p.npz", "-m", "torus:16x16", "--lp"], "entries"),
        (["p.npz", "-m", "torus:4x4", "--lp", "--imbalance", "0"], "one rank per slot"),
    ],
)
def test_invalid_bound_options_are_refused_in_one_line(
    topoloom: Command, words: list[str], message: str
) -> None:
    topoloom("pattern", "generate", "ring", "--ranks", "16", "-o", "p.npz")
    topoloom("map", "p.npz", "-m", "torus:4x4", "-o", "x.json")
    Path("empty.json").write_text("")
    outcome = topoloom("bound", *words)
    assert outcome.status == 2
    assert outcome.err.count("\n") == 1
    assert message in outcome.err


def test_a_linear_relaxation_proves_a_larger_congestion_bound(
    topoloom: Command,
) -> None:
    grid = ("--grid", "2x4", "--open", "--bytes", "1000")
    topoloom("pattern", "generate", "stencil2d", *grid, "-o", "p.npz")
    topoloom("map", "p.npz", "-m", "mesh:8", "-o", "x.json")
    without = topoloom("bound", "p.npz", "x.json", "--json").json["congestion_max"]
    found = topoloom("bound", "p.npz", "x.json", "--lp", "--json").json
    congestion = found["congestion_max"]
    assert "rounded" not in without
    assert congestion["proved_by"] == "lp"
    assert 1 <= congestion["gap"] < without["gap"]
    assert congestion["rounded"] >= congestion["at_least"]
    printed = topoloom("bound", "p.npz", "-m", "mesh:8", "--lp")
    assert (printed.status, printed.err) == (0, "")
    assert " lp " in printed.out
    assert "in whole ranks: congestion" in printed.out


def test_a_weaker_relaxation_does_not_change_the_bound(topoloom: Command) -> None:
    topoloom(
        "pattern",
        "generate",
        "binomial",
        "--ranks",
        "4",
        "--bytes",
        "1000",
        "-o",
        "p.npz",
    )
    words = ["bound", "p.npz", "-m", "tree:2:4", "--json"]
    without = topoloom(*words).json["congestion_max"]
    found = topoloom(*words, "--lp").json["congestion_max"]
    assert without["proved_by"] != "lp"
    assert {**without, "rounded": found["rounded"]} == found
