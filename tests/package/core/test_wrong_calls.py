# SPDX-License-Identifier: BSD-3-Clause
"""Whatever public functions are called with, they return or raise one clear line."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from topoloom import Machine, _core, place

CALLS = 1200


def test_drawn_calls_end_well(tmp_path: Path) -> None:
    script = Path(__file__).with_name("drawn_calls.py")
    done = subprocess.run(
        [sys.executable, script, "--calls", str(CALLS)],
        cwd=tmp_path,
        text=True,
        capture_output=True,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    assert f"{CALLS} calls of" in done.stdout


@pytest.mark.parametrize(
    ("call", "line"),
    [
        (
            lambda: Machine("ring:4").route(-1, 2),
            "route() does not take (-1, 2); it is route(self, node_a: int, node_b",
        ),
        (lambda: Machine(5), "__init__() does not take (5); it is __init__(self, text"),
        (lambda: _core.ring("4"), "ring() does not take ('4'); it is ring(rank_count"),
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
def test_arguments_of_wrong_types_are_told_in_one_line(call: object, line: str) -> None:
    with pytest.raises(TypeError, match=re.escape(line)) as raised:
        call()  # type: ignore[operator]
    assert "\n" not in str(raised.value)
