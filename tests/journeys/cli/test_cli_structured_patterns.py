# SPDX-License-Identifier: BSD-3-Clause
"""Programs with a known communication structure, from pattern to placement."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Command


def test_groups_of_a_triangular_grid_are_judged_separately(topoloom: Command) -> None:
    words = ["triangular", "--rows", "23", "--order", "bcm", "--phases", "-o", "p.npz"]
    assert "phases    3" in topoloom("pattern", "generate", *words).out
    where = ["-m", "hopper", "--nodes", "12", "--launcher", "openmpi"]
    shown = topoloom("judge", "p.npz", *where, "--json")
    columns, rows, orthogonalization = shown.json["phases"]
    assert shown.json["phase_names"][2] == "orthogonalization"
    assert columns["hop_bytes"] == orthogonalization["hop_bytes"] == 0
    assert rows["congestion_max"] > 0


def test_levels_of_the_trees_of_a_triangular_grid_are_phases(
    topoloom: Command,
) -> None:
    groups = ["--groups", "row,row-reduction"]
    words = ["triangular", "--rows", "9", *groups, "--phases", "--levels"]
    assert "phases    6" in topoloom("pattern", "generate", *words, "-o", "p.npz").out
    shown = topoloom("judge", "p.npz", "-m", "torus:4x4x4", "--json").json
    assert shown["phase_names"][:2] == [
        "row bcasts, level 1",
        "row bcasts, level 2",
    ]
    hop_bytes = [level["hop_bytes"] for level in shown["phases"]]
    # Reductions send the messages of the bcasts in reverse, and the last level
    # first.
    assert sum(hop_bytes[:3]) == sum(hop_bytes[3:])
    assert hop_bytes[:3] == hop_bytes[:2:-1]


def test_the_mapper_bricks_beats_block_order_on_molecular_dynamics(
    topoloom: Command,
) -> None:
    made = topoloom("pattern", "generate", "molecular-dynamics", "-o", "p.npz")
    assert "ranks     2,160" in made.out  # 6 x 6 x 4 cells with 14 computes each
    where = ["p.npz", "-m", "torus:8x8x8", "--imbalance", "0.5", "--json"]
    found = {
        mapper: topoloom("map", *where, "--mapper", mapper).json["values"]
        for mapper in ("block", "bricks", "bricks(cells=6x6x4)", "auto(effort=fast)")
    }
    hop_bytes = {mapper: measures["hop_bytes"] for mapper, measures in found.items()}
    assert hop_bytes["auto(effort=fast)"] <= hop_bytes["bricks"]
    assert hop_bytes["bricks"] < 0.4 * hop_bytes["block"]
    # Without cells=, the inferred grid may be transposed, and then divided differently.
    assert hop_bytes["bricks(cells=6x6x4)"] < 1.1 * hop_bytes["bricks"]
    topoloom("pattern", "generate", "molecular-dynamics", "--no-proxies", "-o", "p.npz")
    copies = topoloom("map", *where, "--mapper", "bricks").json["values"]
    assert hop_bytes["bricks"] < copies["hop_bytes"]
    average = 13.5 * 92224**2 / 144 / 512
    assert found["bricks"]["load_max"] < 1.52 * average


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["triangular"], "needs --rows"),
        (["triangular", "--rows", "6"], "the nearest are 5 and 7"),
        (["triangular", "--rows", "0"], "--rows must be 1 or more"),
        (["triangular", "--rows", "5", "--order", "bmc"], "no order 'bmc'"),
        (["triangular", "--rows", "5", "--groups", "row,col"], "no group 'col'"),
        (["triangular", "--rows", "5", "--levels"], "--levels is not an option of"),
        (
            ["triangular", "--rows", "5", "--threads-per-rank", "0"],
            "--threads-per-rank must be 1",
        ),
        (["molecular-dynamics", "--cells", "7x7"], "cells along 3 axes"),
        (["molecular-dynamics", "--cells", "7x0x5"], "axis without"),
    ],
)
def test_sizes_without_a_pattern_are_refused(
    topoloom: Command, words: list[str], message: str
) -> None:
    done = topoloom("pattern", "generate", *words)
    assert done.status == 2
    assert message in done.err
