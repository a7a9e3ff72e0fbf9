# SPDX-License-Identifier: BSD-3-Clause
"""Persistent collectives do not allocate memory after initialization."""

from __future__ import annotations

import re

import pytest
from built_libraries import compile_with_collectives
from built_programs import run
from mpis import MPIS, PROGRAMS, Mpi


@pytest.mark.parametrize("mpi", MPIS, ids=lambda mpi: mpi.name)
def test_persistent_starts_allocate_nothing(mpi: Mpi) -> None:
    source = PROGRAMS / "collectives/allocations.c"
    program = compile_with_collectives(mpi, source)
    for ranks in (1, 3):
        printed = run(mpi.command(ranks, program))
        counts = re.search(r"(\d+) allocations when made, (\d+) later", printed)
        assert counts is not None, printed
        made, later = map(int, counts.groups())
        assert made > 0
        assert later == 0
