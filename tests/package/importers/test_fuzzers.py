# SPDX-License-Identifier: BSD-3-Clause
"""The programs of `make fuzz` find their targets."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

FUZZERS = Path(__file__).parents[2] / "fuzz"


@pytest.mark.parametrize(
    "words",
    [
        ["fuzz_machines.py", "--seconds", "1", "--only", "metis"],
        ["mutate_machines.py", "--count", "1", "--only", "hwloc"],
    ],
    ids=["fuzz", "mutate"],
)
def test_a_fuzzer_runs_a_target(words: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, FUZZERS / words[0], *words[1:]],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
