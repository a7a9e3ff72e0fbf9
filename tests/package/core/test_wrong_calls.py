# SPDX-License-Identifier: BSD-3-Clause
"""Public functions with any arguments return, or raise a one-line error."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from topoloom import Allocation, CommGraph, Machine, Placement, _core, place


def test_random_calls_return_or_raise_one_line(
    tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    calls = 1200 if pytestconfig.getoption("full") else 200
    script = Path(__file__).with_name("random_calls.py")
    done = subprocess.run(
        [sys.executable, script, "--calls", str(calls)],
        cwd=tmp_path,
        text=True,
        capture_output=True,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    assert f"{calls} calls of" in done.stdout


@pytest.mark.parametrize(
    ("call", "line"),
    [
        (
            lambda: Machine("ring:4").route(-1, 2),
            "Machine.route(): node_a is -1, which is out of range",
        ),
        (
            lambda: Machine(5),
            "Machine(): text must be a str, not int 5; such as 'torus:",
        ),
        (lambda: _core.ring("4"), "ring(): rank_count must be an int, not str '4'"),
        (
            lambda: Allocation.whole("torus:4x4"),
            "Allocation.whole(): machine must be a Machine, not str 'torus:4x4'; make "
            "it with topoloom.load_machine(text)",
        ),
        (
            lambda: Placement([0, 1], [0, 1]),
            "Placement(): allocation must be an Allocation, not list",
        ),
        (
            lambda: CommGraph.from_edges(4, [0], [1], sizes=[2]),
            "CommGraph.from_edges(): there is no argument 'sizes'; it takes rank_co",
        ),
        (
            lambda: Machine.from_links([(0, 1)]),
            "Machine.from_links(): missing a required argument: 'bandwidth'; it takes",
        ),
        (
            lambda: Machine.from_links([(0, 1)], None),
            "Machine.from_links(): bandwidth must be a number, array or list of",
        ),
        (
            lambda: Machine("ring:4").link_name("x"),
            "Machine.link_name(): link must be an int, not str 'x'",
        ),
        (
            lambda: place(1, seed=2),
            "place(): missing a required argument: 'allocation'; it takes graph, ",
        ),
        (
            lambda: setattr(_core.MessageCosts(), "latency", "x"),
            "does not take ('x')",
        ),
    ],
)
def test_arguments_of_wrong_types_give_one_line(call: object, line: str) -> None:
    with pytest.raises(TypeError, match=re.escape(line)) as raised:
        call()  # type: ignore[operator]
    assert "\n" not in str(raised.value)
