# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom machine show` prints facts about a machine, and draws it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Command


def test_the_subcommand_show_is_optional(topoloom: Command) -> None:
    plain = topoloom("machine", "torus:8x8x8,bandwidth=2GB/s")
    shown = topoloom("machine", "show", "torus:8x8x8,bandwidth=2GB/s")
    assert shown.status == 0
    assert shown.out == plain.out
    assert "bandwidths        3,072 links of 2 GB/s\n" in shown.out
    assert "bisection         512 GB/s over 256 links\n" in shown.out
    assert shown.out.endswith("8 x 8 x 8 nodes, a ring along each axis\n")


def test_an_unproven_bisection_is_printed_as_a_range(topoloom: Command) -> None:
    out = topoloom("machine", "torus:25x16x24").out
    assert "bisection         at most 1,600 links, at least 1,539\n" in out
    found = topoloom("machine", "torus:25x16x24", "--json").json["bisection"]
    assert found["links"] == 1600
    assert not found["exact"]


def test_a_machine_is_drawn(topoloom: Command) -> None:
    outcome = topoloom("machine", "show", "hopper", "--figure", "hopper.svg")
    assert outcome.status == 0
    assert "figure            hopper.svg" in outcome.out
    assert Path("hopper.svg").read_text().startswith("<?xml")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["show"], "no machine is given"),
        (["show", "hoper"], "did you mean 'hopper'"),
        (["torus:4", "torus:5"], "expected one machine, but found: torus:4"),
        (["show", "torus:4", "torus:5"], "expected one machine"),
        (["torus:4", "--figure", "m.gif"], "m.gif: figures are .svg, .png, .pdf"),
    ],
)
def test_invalid_machine_requests_are_refused_in_one_line(
    words: list[str], message: str, topoloom: Command
) -> None:
    outcome = topoloom("machine", *words)
    assert outcome.status == 2
    assert outcome.err.count("\n") == 1
    assert message in outcome.err
    assert outcome.out == ""
