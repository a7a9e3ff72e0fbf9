# SPDX-License-Identifier: BSD-3-Clause
"""A short, seeded run of the fuzzer over every reader; `make fuzz` is the long one."""

from __future__ import annotations

import random

import pytest
from fuzz_targets import TARGETS, feed, mutant

#: what the long runs found, as it was when it crashed or took its time
FOUND = [
    ("tofu", f"{'9' * 5000} 0 0 0 0 0 0\n{'9' * 5000}1 0 0 0 0 0 0\n"),
    ("tofu", "8 0 0 0 0 0 0\nc0002 0 0 0 0 0 0\n"),
    ("toml", f"nodes = {'9' * 5000}\n"),
    ("allocation", "9" * 5000),
]


@pytest.mark.parametrize("name", TARGETS)
def test_unchanged_files_are_read_correctly(name: str) -> None:
    assert [feed(name, seed) for seed in TARGETS[name].seeds] == [""] * len(
        TARGETS[name].seeds
    )


@pytest.mark.parametrize("name", TARGETS)
def test_no_text_crashes_a_reader_or_keeps_it_busy(name: str) -> None:
    rng = random.Random(name)
    refused = sum(
        feed(name, mutant(rng, TARGETS[name].seeds)) != "" for _ in range(150)
    )
    # Texts that are all refused at once, or never, would test little.
    assert name == "recognize" or 0 < refused < 150


@pytest.mark.parametrize(("name", "text"), FOUND)
def test_earlier_findings_are_refused(name: str, text: str) -> None:
    assert feed(name, text)
