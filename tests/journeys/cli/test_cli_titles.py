# SPDX-License-Identifier: BSD-3-Clause
"""Verbs use the same titles for the same measures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from topoloom.placements.measures import MEASURES

if TYPE_CHECKING:
    from tests.conftest import Command

MACHINE = "torus:4x4,bandwidth=1GB/s"
USUAL = [name for name in MEASURES if name not in ("load_max", "minimal_share")]


@pytest.mark.parametrize("words", [["map"], ["judge"]], ids=lambda words: str(words[0]))
def test_tables_have_a_row_for_every_measure(
    topoloom: Command, words: list[str]
) -> None:
    topoloom("pattern", "ring", "-n", 16, "--bytes", 1000, "-o", "p.npz")
    shown = topoloom(*words, "p.npz", "-m", MACHINE).out
    for name in USUAL:
        assert f"\n  {MEASURES[name].title}  " in shown


def test_a_comparison_has_their_titles_in_its_heading(topoloom: Command) -> None:
    topoloom("pattern", "ring", "-n", 16, "--bytes", 1000, "-o", "p.npz")
    words = ["compare", "p.npz", "-m", MACHINE, "--mappers", "hilbert"]
    heading = topoloom(*words).out.partition("─")[0]
    in_rows = {"traffic_average"}
    for name in set(USUAL) - in_rows:
        for word in MEASURES[name].title.split():
            assert word in heading
