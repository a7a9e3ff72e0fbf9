# SPDX-License-Identifier: BSD-3-Clause
"""A model that shares the code of termination detection tries all interleavings."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from built_programs import compile_program
from streams import SOURCES, STREAM

PREMATURE = "a phase ended before its last message was delivered\n"
MIXED = "an item came in another phase\n"


@pytest.fixture(scope="module")
def model_program() -> Path:
    """Compile the model of termination detection."""
    source = SOURCES / "quiescence_model.cpp"
    return compile_program("model", ["g++", "-std=c++20", "-O2", f"-I{STREAM}", source])


def run_model(model_program: Path, *words: object) -> str:
    command = [str(model_program), *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout


@pytest.mark.parametrize("size", [(3, 1, 1), (2, 1, 2)])
def test_all_interleavings_terminate_correctly(
    model_program: Path, size: tuple[int, ...]
) -> None:
    output = run_model(model_program, "all", *size, "ours")
    assert output.startswith("every interleaving of ")
    assert output.endswith("ends in time\n")


def test_random_delays_terminate_correctly(model_program: Path) -> None:
    assert (
        run_model(model_program, "drawn", 5000, 1, "ours")
        == "every run ended in time\n"
    )


def test_the_model_detects_planted_errors(model_program: Path) -> None:
    assert run_model(model_program, "all", 3, 1, 1, "counts") == PREMATURE
    assert run_model(model_program, "drawn", 5000, 1, "counts") == PREMATURE
    assert run_model(model_program, "all", 2, 1, 2, "phases") in (MIXED, PREMATURE)
