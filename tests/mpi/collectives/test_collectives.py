# SPDX-License-Identifier: BSD-3-Clause
"""Collectives of libtopoloom-collective leave in memory what the MPI's own ones do."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from built_libraries import installed, run
from recorded import MPIS, PROGRAMS, Mpi, need

from topoloom import _core

#: All schedules, so that each is run in the operations that it can do.
SCHEDULES = [str(schedule["name"]) for schedule in _core.schedules()]


@dataclass(frozen=True)
class Cases:
    """The program that draws cases, for one MPI."""

    mpi: Mpi
    program: Path

    def run(self, ranks: int, *words: object, **variables: str) -> str:
        """Let all that is printed be seen where a case fails."""
        done = subprocess.run(
            self.mpi.command(ranks, self.program, *words),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=300,
            env={**os.environ, **variables},
        )
        assert done.returncode == 0, done.stdout[-3000:]
        return done.stdout


@pytest.fixture(scope="module", params=MPIS, ids=lambda mpi: mpi.name)
def cases(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Cases:
    mpi: Mpi = request.param
    folder = tmp_path_factory.mktemp(mpi.name)
    prefix, program = installed(mpi, folder), folder / "cases"
    words = ["pkg-config", "--cflags", "--libs", "topoloom-collective"]
    flags = run(words, PKG_CONFIG_PATH=f"{prefix}/lib/pkgconfig").split()
    compiler = need(mpi.compilers[".c"], mpi.install)
    run([compiler, "-O1", PROGRAMS / "collective_cases.c", "-o", program, *flags])
    return Cases(mpi, program)


@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 7, 8])
def test_the_choice_leaves_what_mpi_leaves(cases: Cases, ranks: int) -> None:
    assert "\n0 failures" in "\n" + cases.run(ranks, ranks, 60)


@pytest.mark.parametrize("ranks", [5, 8])
def test_each_schedule_leaves_what_mpi_leaves(cases: Cases, ranks: int) -> None:
    assert "\n0 failures" in "\n" + cases.run(ranks, ranks, 8, *SCHEDULES)
