# SPDX-License-Identifier: BSD-3-Clause
"""Words of the command line that are not UTF-8."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Command

ODD = os.fsdecode(b"\xff")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("map p.npz -m ?:4x4", "-m cannot be decoded: '\\xff:4x4'; use ASCII"),
        ("map p.npz -m torus:2x2 --mapper ?", "--mapper cannot be decoded: '\\xff'"),
        ("pattern generate ?", "NAME cannot be decoded: '\\xff'"),
        ("export ?.json --to list", "\\xff.json: No such file or directory"),
        ("export p.npz --to ?", "--to cannot be decoded: '\\xff'"),
        ("machine import ?", "'\\xff' cannot be decoded; use ASCII"),
        ("map p.npz -m torus:2x2 --seed ?", "--seed must be an integer"),
    ],
)
def test_undecodable_words_are_refused_in_one_line(
    topoloom: Command, words: str, message: str
) -> None:
    refused = topoloom(*words.replace("?", ODD).split())
    assert refused.status == 2
    assert refused.err.startswith(f"topoloom: {message}")
    assert refused.err.count("\n") == 1


def test_files_may_have_undecodable_names(topoloom: Command) -> None:
    graph, placement = f"{ODD}.npz", f"{ODD}.json"
    ring = ("pattern", "generate", "ring", "-n", 4, "--bytes", 8)
    assert topoloom(*ring, "--json", "-o", graph).status == 0
    assert (
        topoloom("map", graph, "-m", "torus:2x2", "--json", "-o", placement).status == 0
    )
    assert topoloom("judge", graph, placement).status == 0
    assert Path(placement).is_file()
