# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom machine show` prints facts about a machine, and `draw` draws it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Command


def test_facts_and_an_outline_are_shown(topoloom: Command) -> None:
    shown = topoloom("machine", "show", "torus:8x8x8,bandwidth=2GB/s")
    assert shown.status == 0
    assert "bandwidths        3,072 links of 2 GB/s\n" in shown.out
    assert "bisection         512 GB/s over 256 links\n" in shown.out
    assert shown.out.endswith("8 x 8 x 8 nodes, a ring along each axis\n")


def test_an_unproven_bisection_is_printed_as_a_range(topoloom: Command) -> None:
    out = topoloom("machine", "show", "torus:25x16x24").out
    assert "bisection         at most 1,600 links, at least 1,539\n" in out
    found = topoloom("machine", "show", "torus:25x16x24", "--json").json["bisection"]
    assert found["links"] == 1600
    assert not found["exact"]


def test_the_name_in_a_file_is_shown_and_exported(topoloom: Command) -> None:
    topoloom("machine", "export", "torus:4x4", "-o", "m.toml")
    assert topoloom("machine", "show", "m.toml").out.startswith("4x4 torus\n")
    text = Path("m.toml").read_text().replace('"4x4 torus"', '"Rack 7"')
    Path("m.toml").write_text(text)
    assert topoloom("machine", "show", "m.toml").out.startswith("Rack 7: 4x4 torus\n")
    assert topoloom("machine", "show", "m.toml", "--json").json["name"] == "Rack 7"
    topoloom("machine", "export", "m.toml", "-o", "again.toml")
    assert Path("again.toml").read_text() == text
    changed = topoloom("machine", "show", "m.toml+node:2").out
    assert changed.startswith("4x4 torus; 2 slots per node\n")


def test_a_machine_is_drawn(topoloom: Command) -> None:
    outcome = topoloom("machine", "draw", "hopper", "-o", "hopper.svg")
    assert outcome.status == 0
    assert "written  hopper.svg" in outcome.out
    assert Path("hopper.svg").read_text().startswith("<?xml")


def test_a_machine_without_a_command_is_refused_with_a_suggestion(
    topoloom: Command,
) -> None:
    outcome = topoloom("machine", "torus:4x4")
    assert (outcome.status, outcome.out) == (2, "")
    assert "did you mean 'topoloom machine show torus:4x4'?" in outcome.err
    assert "did you mean 'detect'?" in topoloom("machine", "detec").err
    assert "did you mean 'topoloom machine probe'?" in topoloom("probe").err
    assert "machine show' or 'topoloom model show'?" in topoloom("show").err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["show"], "MACHINE is missing"),
        (["show", "hoper"], "did you mean 'hopper'"),
        (["show", "torus:4", "torus:5"], "torus:5"),
        (["export", "torus:4"], "--output is missing"),
        (["draw", "torus:4", "-o", "m.gif"], "m.gif: figures are .svg, .png, .pdf"),
        (["detect", "-o", "m.xml"], "'topoloom machine export' writes other formats"),
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
