# SPDX-License-Identifier: BSD-3-Clause
"""Grids of objects on the command line: hashed, box, fold, and curves."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.conftest import Command


def write_grid(topoloom: Command, grid: str) -> None:
    made = topoloom(
        "pattern", "generate", "stencil", "--grid", grid, "--bytes", 1, "-o", "g.npz"
    )
    assert made.status == 0, made.err


def map_grid(topoloom: Command, *words: object) -> dict[str, Any]:
    outcome = topoloom("map", "g.npz", *words, "-o", "x.json")
    assert outcome.status == 0, outcome.err
    document: dict[str, Any] = json.loads(Path("x.json").read_text())
    return document


@pytest.mark.parametrize(
    ("mapper", "hops"),
    [
        ("fold", 24576),
        ("fold(grid=64x1024,boxes=8x64,reflect=no)", 25600),
        ("box", 25600),
        ("round-robin", 149504),
    ],
)
def test_a_plane_on_a_torus_has_the_published_hops(
    topoloom: Command, mapper: str, hops: int
) -> None:
    write_grid(topoloom, "64x1024")
    words = ("-m", "torus:8x8x8", "--imbalance", 0, "--mapper", mapper)
    document = map_grid(topoloom, *words)
    assert document["values"]["hop_bytes"] == hops
    assert set(Counter(document["placement"]).values()) == {128}


def test_auto_is_at_least_as_good_as_folding(topoloom: Command) -> None:
    write_grid(topoloom, "30x20x7")
    words = ("-m", "torus:4x4x2+node:3", "--imbalance", 0.02)
    auto, fold, box = (
        map_grid(topoloom, *words, "--mapper", mapper)["values"]["hop_bytes"]
        for mapper in ("auto(effort=fast)", "fold", "box")
    )
    assert auto <= min(fold, box)


def test_folding_a_grid_onto_an_equal_torus_keeps_the_rank_order(
    topoloom: Command,
) -> None:
    write_grid(topoloom, "8x8x8")
    document = map_grid(topoloom, "-m", "torus:8x8x8", "--mapper", "fold")
    assert document["values"]["hop_bytes"] == 6 * 512


def test_mapping_curve_to_curve_beats_rows_along_a_curve(topoloom: Command) -> None:
    write_grid(topoloom, "8x8x8")
    words = ("-m", "torus:25x32x16", "--nodes", 512, "--mapper")
    values = [
        map_grid(topoloom, *words, mapper)["values"]["hop_bytes"]
        for mapper in ("hilbert", "hilbert(ranks=by-curve)", "hilbert(grid=8x8x8)")
    ]
    assert values[1] < values[0]
    assert values[2] == values[1]


@pytest.mark.parametrize(
    ("mapper", "message"),
    [
        ("fold(grid=64x10)", "the nearest that does is 64x16"),
        ("box(grid=7x150)", "the nearest that does is 8x128"),
        ("fold(boxes=8x9)", "the nearest that do are 8x8"),
        ("fold(grid=64x0)", "must be integers from 1"),
        ("peano(grid=5x5)", "the nearest that does is"),
        ("snake(ranks=by-hand)", "there are: by-number, by-curve"),
    ],
)
def test_grids_that_do_not_fit_are_refused_with_a_suggestion(
    topoloom: Command, mapper: str, message: str
) -> None:
    write_grid(topoloom, "64x16")
    words = ("-m", "torus:8x8", "--imbalance", 0, "--mapper", mapper)
    outcome = topoloom("map", "g.npz", *words, "-o", "x.json")
    assert outcome.status == 2
    assert message in outcome.err
    assert outcome.err.count("\n") == 1
    assert not Path("x.json").exists()
