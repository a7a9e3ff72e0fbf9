# SPDX-License-Identifier: BSD-3-Clause
"""Ranks that --fix puts on given hosts and slots."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.conftest import Command

WHERE = ("-m", "torus:4x4+node:2", "-a", "n[02-09]")


def generate_pattern(topoloom: Command) -> None:
    made = topoloom("pattern", "generate", "stencil", "--grid", "4x4", "-o", "p.npz")
    assert made.status == 0, made.err


def map_fixed(topoloom: Command, fix: str, *words: str) -> dict[str, Any]:
    outcome = topoloom("map", "p.npz", *WHERE, "--fix", fix, *words, "-o", "x.json")
    assert outcome.status == 0, outcome.err
    document: dict[str, Any] = json.loads(Path("x.json").read_text())
    return document


@pytest.mark.parametrize("mapper", ["auto", "block", "multisection+swap"])
def test_fixed_ranks_are_on_their_hosts(topoloom: Command, mapper: str) -> None:
    generate_pattern(topoloom)
    found = map_fixed(topoloom, "0=n09:1,7=n02,15=n09,3=4", "--mapper", mapper)
    placed = found["placement"]
    assert (placed[0], placed[7], placed[15]) == (9 * 2 + 1, 2 * 2, 9 * 2)
    assert placed[3] == found["allocation"].get("slots", range(4, 20))[4]
    assert found["fixed"] == [0, 3, 7, 15]
    shown = topoloom("map", "p.npz", *WHERE, "--fix", "0=n09", "--mapper", mapper)
    assert "fixed" in shown.out
    assert "1 rank" in shown.out


def test_shared_slots_hold_several_fixed_ranks(topoloom: Command) -> None:
    generate_pattern(topoloom)
    words = ("map", "p.npz", "-m", "torus:2x2", "--imbalance", "0", "-o", "x.json")
    outcome = topoloom(*words, "--fix", "0=3,15=3")
    assert outcome.status == 0, outcome.err
    placed = json.loads(Path("x.json").read_text())["placement"]
    assert placed[0] == placed[15] == 3
    assert sorted(placed) == sorted([*range(4)] * 4)


@pytest.mark.parametrize(
    ("fix", "message"),
    [
        ("0", "--fix contains '0'; write RANK=HOST:SLOT"),
        ("16=n02", "--fix names rank 16, but ranks are 0 to 15"),
        ("0=n02,0=n03", "--fix names rank 0 twice"),
        ("0=n10", "--fix names no host 'n10'"),
        ("0=n02:2", "--fix names slot 2 of n02; the job has its slots 0-1"),
        ("0=16", "--fix names slot 16; the slots of the allocation are 0 to 15"),
        ("0=n02:0,5=0", "--fix puts ranks 0 and 5 on the same slot"),
        ("0=n02,1=n02,2=n02", "--fix puts more ranks on n02 than its 2 slots"),
    ],
)
def test_errors_name_the_option(topoloom: Command, fix: str, message: str) -> None:
    generate_pattern(topoloom)
    outcome = topoloom("map", "p.npz", *WHERE, "--fix", fix)
    assert outcome.status == 2
    assert message in outcome.err
    assert outcome.err.count("\n") == 1
