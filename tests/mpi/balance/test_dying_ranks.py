# SPDX-License-Identifier: BSD-3-Clause
"""A rank that stops between the plan and the exchange does not block other ranks."""

from __future__ import annotations

from pathlib import Path

import pytest
from balanced_programs import SOURCES, compile_with_balancing
from mpis import MPICH, OPEN_MPI_4, Mpi, run_to_end


@pytest.fixture(scope="module", params=[OPEN_MPI_4, MPICH], ids=lambda mpi: mpi.name)
def job(request: pytest.FixtureRequest) -> tuple[Mpi, Path]:
    """Build the program for an MPI."""
    mpi: Mpi = request.param
    return mpi, compile_with_balancing(mpi, SOURCES / "dying_rank.c")


def test_a_rank_that_stops_responding_is_named(job: tuple[Mpi, Path]) -> None:
    mpi, program = job
    done = run_to_end(mpi.command(4, program, "said"))
    assert done.returncode != 0
    lines = [text for text in done.stderr.splitlines() if "has waited for" in text]
    start = "topoloom: topoloom_exchange: rank "
    assert lines
    assert all(line.startswith(start) and "rank 3" in line for line in lines)


def test_tasks_of_the_other_ranks_are_neither_lost_nor_duplicated(
    job: tuple[Mpi, Path],
) -> None:
    mpi, program = job
    done = run_to_end(mpi.command(4, program, "returned"))
    assert done.stdout == "an error, tasks are once\n", done.stderr


def test_a_rank_that_is_killed_ends_the_program(job: tuple[Mpi, Path]) -> None:
    mpi, program = job
    assert run_to_end(mpi.command(4, program, "killed")).returncode != 0
