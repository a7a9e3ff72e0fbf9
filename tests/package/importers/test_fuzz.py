# SPDX-License-Identifier: BSD-3-Clause
"""Fuzzes every reader briefly, with fixed seeds; `make fuzz` runs longer."""

from __future__ import annotations

import random

import pytest
from fuzz_targets import TARGETS, mutate_seeds, run_target

#: the original inputs with which fuzzing found a crash or a timeout
FOUND = [
    ("tofu", f"{'9' * 5000} 0 0 0 0 0 0\n{'9' * 5000}1 0 0 0 0 0 0\n"),
    ("tofu", "8 0 0 0 0 0 0\nc0002 0 0 0 0 0 0\n"),
    ("toml", f"nodes = {'9' * 5000}\n"),
    ("allocation", "9" * 5000),
]


@pytest.mark.parametrize("name", TARGETS)
def test_fuzzer_seeds_are_read_correctly(name: str) -> None:
    assert [run_target(name, seed) for seed in TARGETS[name].seeds] == [""] * len(
        TARGETS[name].seeds
    )


@pytest.mark.parametrize("name", TARGETS)
def test_no_text_crashes_or_stalls_a_reader(name: str) -> None:
    rng = random.Random(name)
    refused = sum(
        run_target(name, mutate_seeds(rng, TARGETS[name].seeds)) != ""
        for _ in range(150)
    )
    # Some mutants must be valid, and some invalid.
    assert name == "recognize" or 0 < refused < 150


@pytest.mark.parametrize(("name", "text"), FOUND)
def test_inputs_of_fixed_bugs_are_refused(name: str, text: str) -> None:
    assert run_target(name, text)
