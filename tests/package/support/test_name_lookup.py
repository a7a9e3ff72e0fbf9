# SPDX-License-Identifier: BSD-3-Clause
"""Suggestions for unknown names."""

from __future__ import annotations

import pytest

from topoloom.support.name_lookup import suggest

FORMATS = ["openmpi-rankfile", "mpich-rankmap", "mpich-hostfile", "slurm-hostfile"]


@pytest.mark.parametrize(
    ("given", "suggestion"),
    [
        ("slurm-hostfil", " (did you mean 'slurm-hostfile'?)"),
        ("slurm", " (did you mean 'slurm-hostfile'?)"),
        ("MPICH", " (did you mean 'mpich-rankmap' or 'mpich-hostfile'?)"),
        ("s", ""),
        ("torque", ""),
    ],
)
def test_similar_names_and_completions_are_suggested(
    given: str, suggestion: str
) -> None:
    assert suggest(given, FORMATS) == suggestion
