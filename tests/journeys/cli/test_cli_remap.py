# SPDX-License-Identifier: BSD-3-Clause
"""Remapping of a job with --placement and --migration-cost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.conftest import Command

MACHINE = "torus:4x4x5"
HOSTS = "n[00-63]"
LOST_ONE = "n[00-30,32-64]"


def map_pattern(topoloom: Command, output: str, *words: object) -> dict[str, Any]:
    outcome = topoloom("map", "p.npz", "--effort", "fast", *words, "-o", output)
    assert outcome.status == 0, outcome.err
    document: dict[str, Any] = json.loads(Path(output).read_text())
    return document


def map_initially(topoloom: Command, *words: object) -> dict[str, Any]:
    made = topoloom(
        "pattern", "generate", "stencil3d", "--grid", "4x4x4", "-o", "p.npz"
    )
    assert made.status == 0, made.err
    return map_pattern(
        topoloom, "before.json", *(words or ("-m", MACHINE, "-a", HOSTS))
    )


def count_moves(old: dict[str, Any], new: dict[str, Any]) -> int:
    pairs = zip(old["placement"], new["placement"], strict=True)
    return sum(a != b for a, b in pairs)


def test_remapping_an_unchanged_problem_moves_no_rank(topoloom: Command) -> None:
    old = map_initially(topoloom)
    words = ["-m", MACHINE, "-a", HOSTS, "--placement", "before.json"]
    again = map_pattern(topoloom, "x.json", *words, "--migration-cost", 10**6)
    assert again["placement"] == old["placement"]
    shown = topoloom("map", "p.npz", *words, "--migration-cost", 10**6)
    assert "moved" in shown.out
    assert "0 ranks" in shown.out


def test_remapping_never_increases_the_cost(topoloom: Command) -> None:
    old = map_initially(topoloom)
    again = map_pattern(
        topoloom, "x.json", "-m", MACHINE, "-a", HOSTS, "--placement", "before.json"
    )
    assert again["values"]["hop_bytes"] <= old["values"]["hop_bytes"]


def test_only_the_rank_of_a_lost_node_must_move(topoloom: Command) -> None:
    old = map_initially(topoloom)
    words = ["-m", MACHINE, "-a", LOST_ONE, "--placement", "before.json"]
    dear = map_pattern(topoloom, "x.json", *words, "--migration-cost", 10**6)
    assert 31 not in dear["placement"]
    assert count_moves(old, dear) == old["placement"].count(31) == 1
    cheap = map_pattern(topoloom, "y.json", *words)
    assert cheap["values"]["hop_bytes"] <= dear["values"]["hop_bytes"]


def test_the_mapper_previous_moves_only_ranks_of_lost_nodes(topoloom: Command) -> None:
    old = map_initially(topoloom)
    outcome = topoloom(
        "map", "p.npz", "-m", MACHINE, "-a", LOST_ONE, "--placement", "before.json",
        "--mapper", "previous", "--json",
    )  # fmt: skip
    assert outcome.status == 0, outcome.err
    assert count_moves(old, outcome.json) == 1


def test_a_smaller_job_keeps_its_remaining_nodes(topoloom: Command) -> None:
    old = map_initially(topoloom, "-m", "torus:4x4x4+node:2")
    words = ["-m", "torus:4x4x4+node:2", "--nodes", 40, "--placement", "before.json"]
    new = map_pattern(topoloom, "x.json", *words, "--migration-cost", 1)
    nodes = set(new["allocation"]["nodes"])
    assert {slot // 2 for slot in new["placement"]} <= nodes
    stayed = sum(slot // 2 in nodes for slot in old["placement"])
    assert stayed > 0


@pytest.mark.parametrize("threads", [1, 2])
def test_remapping_is_repeatable(topoloom: Command, threads: int) -> None:
    map_initially(topoloom)
    words = ["-m", MACHINE, "-a", LOST_ONE, "--placement", "before.json"]
    costs = ["--migration-cost", 100, "--threads"]
    one = map_pattern(topoloom, "x.json", *words, *costs, 1)
    two = map_pattern(topoloom, "y.json", *words, *costs, threads)
    assert one.pop("command") != two.pop("command")
    assert one == two


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["-m", "torus:8x8", "--placement", "before.json"],
            "is for torus:4x4x5, not torus:8x8, and nodes cannot be matched",
        ),
        (
            ["-m", "torus:8x8+node:2", "--placement", "before.json"],
            "nodes of 1 slot, but nodes of torus:8x8+node:2 have 2",
        ),
        (
            ["-m", MACHINE, "--migration-cost", "5"],
            "--migration-cost requires --placement",
        ),
        (
            ["-m", MACHINE, "--placement", "before.json", "--migration-cost", "-1"],
            "--migration-cost: cannot read an amount of bytes '-1'",
        ),
        (
            ["-m", MACHINE, "--placement", "before.json", "--migration-cost", "much"],
            "--migration-cost",
        ),
        (
            ["-m", MACHINE, "--placement", "before.json", "--migration-cost", 2**62],
            "the migration cost is",
        ),
        (["-m", MACHINE, "--placement", "none.json"], "none.json"),
        (["-m", MACHINE, "--placement", "p.npz"], "p.npz"),
        (
            ["-m", MACHINE, "-a", "n[00-40]", "--placement", "before.json"],
            "64 ranks, but the allocation has only 41 slots",
        ),
        (
            ["-m", MACHINE, "--mapper", "previous"],
            "needs an earlier placement to start from",
        ),
    ],
)
def test_wrong_arguments_of_remapping_are_refused_in_one_line(
    topoloom: Command, words: list[object], message: str
) -> None:
    map_initially(topoloom)
    outcome = topoloom("map", "p.npz", *words, "-o", "out")
    assert outcome.status == 2, outcome
    assert outcome.out == ""
    assert outcome.err.count("\n") == 1
    assert message in outcome.err
    assert not Path("out").exists()
