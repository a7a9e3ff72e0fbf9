# SPDX-License-Identifier: BSD-3-Clause
"""A repeated call reuses the previous call's plan only if all arguments match."""

from __future__ import annotations

import pytest
from built_libraries import compile_with_collectives
from built_programs import run
from mpis import MPIS, PROGRAMS, Mpi


@pytest.mark.parametrize("ranks", [3, 4])
@pytest.mark.parametrize("mpi", MPIS, ids=lambda mpi: mpi.name)
def test_repeated_calls_match_mpi(mpi: Mpi, ranks: int) -> None:
    program = compile_with_collectives(mpi, PROGRAMS / "collectives/repeated_calls.c")
    assert run(mpi.command(ranks, program, 1, 5000)) == "0 wrong\n"
