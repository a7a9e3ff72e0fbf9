# SPDX-License-Identifier: BSD-3-Clause
"""200 wrong calls, drawn from the table of commands, each give one line."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from wrong_calls import WrongCall, draw_wrong_calls

from topoloom.cli.app import command_names

if TYPE_CHECKING:
    from tests.conftest import Command, Outcome

#: Words of Python and of libraries.
FOREIGN = re.compile(
    r"Traceback|internal error|\w+Error\b|NoneType|Errno|invalid literal|is not a valid"
    r"|unable to parse|Input should|pydantic|numpy|click|Expecting|[Dd]ecode|pickle"
    r"|zip file|toml\w*\.|object has no|\bNone\b|codec"
)


@pytest.fixture
def inputs(topoloom: Command) -> Command:
    """Write the files that the calls name."""
    for ranks, file in ((16, "p.npz"), (4, "small.npz")):
        ring = ("pattern", "generate", "ring", "--ranks", ranks, "-o", file)
        assert topoloom(*ring).status == 0
    assert topoloom("map", "p.npz", "-m", "torus:4x4", "-o", "x.json").status == 0
    assert topoloom("machine", "export", "torus:4x4", "-o", "m.toml").status == 0
    Path("empty").touch()
    Path("binary.npz").write_bytes(bytes(range(256)))
    Path("folder").mkdir()
    Path("loads.txt").write_text("1\n" * 16)
    Path("costs.txt").write_text("0 1 2\n1 0 2\n2 2 0\n")
    return topoloom


def describe_flaw(call: WrongCall, outcome: Outcome) -> str:
    """Describe what is wrong with the error of a call; "" if nothing is."""
    line = outcome.err.rstrip("\n")
    if outcome.status not in (1, 2):
        return f"status {outcome.status}"
    if outcome.out:
        return "prints on stdout"
    if "\n" in line or not line.startswith("topoloom: "):
        return "not one line"
    if found := FOREIGN.search(line):
        return f"contains '{found[0]}'"
    if not any(word and word in line for word in call.named):
        return f"names none of {call.named}"
    return ""


def list_files() -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in Path().rglob("*")}


def test_200_wrong_calls_give_one_line_that_names_what_was_typed(
    inputs: Command,
) -> None:
    before = list_files()
    flaws = []
    calls = draw_wrong_calls(200, seed=52)
    assert {call.command for call in calls} == set(command_names())
    for call in calls:
        outcome = inputs(*call.words)
        if flaw := describe_flaw(call, outcome):
            flaws.append(f"{call}\n    {flaw}: {outcome.err.strip()[:300]}")
        assert list_files() == before, call
    assert not flaws, "\n".join(["", *flaws])
