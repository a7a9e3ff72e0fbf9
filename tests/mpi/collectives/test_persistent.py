# SPDX-License-Identifier: BSD-3-Clause
"""Persistent and repeated collectives allocate no memory after the first call."""

from __future__ import annotations

import re

import pytest
from built_libraries import compile_with_collectives
from built_programs import run
from mpis import MPIS, PROGRAMS, Mpi


@pytest.mark.parametrize("mpi", MPIS, ids=lambda mpi: mpi.name)
def test_persistent_starts_and_repeated_calls_allocate_nothing(mpi: Mpi) -> None:
    source = PROGRAMS / "collectives/allocations.c"
    program = compile_with_collectives(mpi, source)
    for ranks in (1, 3):
        printed = run(mpi.command(ranks, program))
        made, later, repeated = map(int, re.findall(r"\d+", printed))
        assert made > 0
        assert later == 0
        assert repeated == 0
