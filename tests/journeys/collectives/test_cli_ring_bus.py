# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom ring-bus` places threads on the elements of a ring bus and on blades."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Command


def test_the_best_assignments_are_counted_and_written(topoloom: Command) -> None:
    found = topoloom("ring-bus", "rd2", "--top", 3, "-o", "best.txt", "--json").json
    assert found["assignments"] == 40320
    best, *others = found["levels"]
    assert len(others) == 2
    assert best["rank"] == 1
    assert best["alike"] == 768
    written = [int(line) for line in Path("best.txt").read_text().split()]
    assert written == best["elements"]
    assert sorted(written) == list(range(8))
    ranks = {one["name"]: one["rank"] for one in found["named"]}
    assert ranks["identity"] == 1 < ranks["leap2"]


def test_a_blade_is_split_with_the_least_crossing_traffic(topoloom: Command) -> None:
    topoloom(
        "pattern", "generate", "ring", "-n", 16, "--bytes", "64KiB", "-o", "p16.npz"
    )
    shown = topoloom("ring-bus", "p16.npz").out
    assert "128.0 KiB (16 sets of 8 alike" in shown
    assert topoloom("ring-bus", "p16.npz", "-m", "cell-blade").out == shown
    shown = topoloom("ring-bus", "p16.npz", "--halves", "worst").out
    assert "1.0 MiB (2 sets of 8 alike" in shown


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["ring", "--by", "speed"], "no ranking 'speed'; there are: score, bandwidth"),
        (["ring", "--top", "0"], "1 or more, not 0"),
        (["nothing"], "nothing: No such file"),
        (
            ["ring", "-m", "cell-blade"],
            "cell-blade is for 16 threads; 8 threads run on",
        ),
    ],
)
def test_impossible_rankings_are_refused(
    topoloom: Command, words: list[str], text: str
) -> None:
    refused = topoloom("ring-bus", *words)
    assert refused.status == 2
    assert text in refused.err


@pytest.mark.parametrize(
    ("ranks", "option", "text"),
    [
        (8, ["--halves", "worst"], "--halves are those of 16 threads"),
        (8, ["--bytes", "1KiB"], "a file contains its message sizes"),
        (16, ["--by-size", "4KiB"], "--by-size is for 8 threads"),
        (16, ["--by", "bandwidth"], "--by is for 8 threads"),
    ],
)
def test_options_without_effect_are_refused(
    topoloom: Command, ranks: int, option: list[str], text: str
) -> None:
    topoloom("pattern", "generate", "ring", "-n", ranks, "-o", "p.npz")
    refused = topoloom("ring-bus", "p.npz", *option)
    assert refused.status == 2
    assert text in refused.err
