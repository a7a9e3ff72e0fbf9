# SPDX-License-Identifier: BSD-3-Clause
"""Persistent collectives of unmodified programs are replaced with a progress thread."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from mpis import MPICH, MPICH_5, OPEN_MPI_5, Mpi, build_program
from replaced_collectives import REPLACED, read_answers, run as run_some

run = partial(run_some, ranks=3)
#: Each strategy serves the collectives that a case starts.
TREES, DOUBLING = "schedule=binomial", "schedule=recursive-doubling(fold=even)"


@pytest.fixture(params=[OPEN_MPI_5, MPICH_5], ids=lambda mpi: mpi.name)
def mpi(request: pytest.FixtureRequest) -> Mpi:
    served: Mpi = request.param
    return served


@pytest.fixture
def persistent_program(mpi: Mpi) -> Path:
    return build_program(mpi, REPLACED / "persistent.c")


@pytest.mark.parametrize(
    ("schedule", "words"),
    [
        (TREES, ["repeated", 3]),
        (DOUBLING, ["unseen", 20]),
        (TREES, ["kept"]),
        (TREES, ["truncated"]),
    ],
    ids=lambda given: given[0] if isinstance(given, list) else "",
)
def test_started_collectives_give_the_results_of_mpi(
    mpi: Mpi, persistent_program: Path, schedule: str, words: list[object]
) -> None:
    done = run(mpi, f"{schedule},progress=1", persistent_program, "multiple", *words)
    assert read_answers(done) == ["0 wrong, ours"]


def test_without_thread_support_mpi_runs_the_calls(
    mpi: Mpi, persistent_program: Path
) -> None:
    done = run(mpi, f"{TREES},progress=1", persistent_program, "single", "repeated", 2)
    assert read_answers(done) == ["0 wrong, theirs"]


def test_mpi_runs_calls_whose_completion_it_would_not_notice() -> None:
    program = build_program(MPICH, REPLACED / "persistent.c")
    done = run(MPICH, f"{DOUBLING},progress=1", program, "multiple", "unseen", 3)
    assert read_answers(done) == ["0 wrong, theirs"]


def test_errors_equal_those_of_mpi(mpi: Mpi, persistent_program: Path) -> None:
    done = run(mpi, f"{TREES},progress=1", persistent_program, "multiple", "wrong")
    assert read_answers(done) == read_answers(
        run(mpi, None, persistent_program, "multiple", "wrong")
    )
