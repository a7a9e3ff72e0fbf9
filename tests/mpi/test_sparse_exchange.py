# SPDX-License-Identifier: BSD-3-Clause
"""Sparse exchanges under each MPI and in SimGrid equal MPI_Alltoallv."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from built_libraries import compile_with_collectives
from mpis import MPIS, PROGRAMS, SIMGRID, Mpi
from simulated_hosts import hosts_options

SOURCE = PROGRAMS / "collectives/sparse_cases.c"
ALGORITHMS = ["", "exchange=reduction", "exchange=nbx", "exchange=mesh"]
SECONDS = 600


@pytest.fixture(scope="module", params=MPIS, ids=lambda mpi: mpi.name)
def mpi_and_program(request: pytest.FixtureRequest) -> tuple[Mpi, Path]:
    """Build the program for an MPI."""
    mpi: Mpi = request.param
    return mpi, compile_with_collectives(mpi, SOURCE)


def run_with_algorithm(
    command: list[str], algorithm: str = ""
) -> subprocess.CompletedProcess[str]:
    settings = {"TOPOLOOM_COLLECTIVES": algorithm, "OMPI_MCA_mpi_yield_when_idle": "1"}
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
        env={**os.environ, **settings},
    )


def check_output_contains(
    done: subprocess.CompletedProcess[str], expected: str
) -> None:
    assert done.returncode == 0, done.stderr[-3000:]
    assert expected in done.stdout


@pytest.mark.parametrize("cases", [25, pytest.param(100, marks=pytest.mark.full)])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("ranks", [1, 2, 5])
def test_random_messages_arrive_as_by_a_dense_exchange(
    mpi_and_program: tuple[Mpi, Path], ranks: int, algorithm: str, cases: int
) -> None:
    mpi, program = mpi_and_program
    seed = ranks * 10 + ALGORITHMS.index(algorithm)
    done = run_with_algorithm(mpi.command(ranks, program, seed, cases), algorithm)
    check_output_contains(done, f"{cases} cases are equal")


@pytest.mark.every_mpi
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_other_messages_and_collectives_progress_meanwhile(
    mpi_and_program: tuple[Mpi, Path], algorithm: str
) -> None:
    mpi, program = mpi_and_program
    done = run_with_algorithm(mpi.command(4, program, "crossed"), algorithm)
    check_output_contains(done, "crossed rounds are right")


#: The larger number exceeds the smallest MPI_TAG_UB of all MPIs.
CALLS = [1000, pytest.param(40_000, marks=pytest.mark.full)]


@pytest.mark.parametrize("calls", CALLS)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_many_calls_do_not_interfere(
    mpi_and_program: tuple[Mpi, Path], algorithm: str, calls: int
) -> None:
    mpi, program = mpi_and_program
    done = run_with_algorithm(mpi.command(2, program, "many", calls), algorithm)
    check_output_contains(done, f"{calls} calls are right")


def test_errors_are_returned_if_the_program_handles_them(
    mpi_and_program: tuple[Mpi, Path],
) -> None:
    mpi, program = mpi_and_program
    check_output_contains(
        run_with_algorithm(mpi.command(2, program, "wrong", "returned")),
        "3 calls are right",
    )


@pytest.mark.parametrize(
    ("which", "line"),
    [
        ("number", "send_count is -2, but must not be negative"),
        ("destination", "destinations[0] is 2, but ranks are 0 to 1"),
        ("count", "sendcounts[0] is -1, but must not be negative"),
        ("list", "destinations is NULL, but there are messages"),
        ("buffer", "sendbuf is NULL"),
        ("type", "sendtype is MPI_DATATYPE_NULL"),
        ("address", "an output argument is NULL"),
        (
            "length",
            "a message of 1 B from rank 1 is not a whole number of elements",
        ),
    ],
)
def test_a_wrong_argument_ends_the_program_with_one_line(
    mpi_and_program: tuple[Mpi, Path], which: str, line: str
) -> None:
    mpi, program = mpi_and_program
    done = run_with_algorithm(mpi.command(2, program, "wrong", which))
    assert done.returncode != 0
    assert f"topoloom: topoloom_sparse_exchange: {line}" in done.stderr


def test_an_unknown_algorithm_is_reported(mpi_and_program: tuple[Mpi, Path]) -> None:
    mpi, program = mpi_and_program
    done = run_with_algorithm(mpi.command(2, program, "many", 3), "exchange=magic")
    check_output_contains(done, "3 calls are right")
    assert "no exchange 'magic'; there are: reduction, nbx, mesh" in (done.stderr)


@pytest.mark.parametrize("cases", [3, pytest.param(10, marks=pytest.mark.full)])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_simulated_ranks_exchange_messages(
    algorithm: str, cases: int, simulated_command: list[str]
) -> None:
    done = run_with_algorithm([*simulated_command, "7", str(cases)], algorithm)
    check_output_contains(done, f"{cases} cases are equal")


@pytest.fixture(scope="module")
def simulated_command(
    tmp_path_factory: pytest.TempPathFactory,
) -> list[str]:
    """Build the program for SimGrid; return the command that starts 60 ranks."""
    folder = tmp_path_factory.mktemp(SIMGRID.name)
    program = compile_with_collectives(SIMGRID, SOURCE)
    settings = {
        "smpi/simulate-computation": "no",
        # Unsuccessful polls take time, so that the clock advances.
        "smpi/test": "1e-6",
        "smpi/iprobe": "1e-6",
        "smpi/bcast": "binomial_tree",
        "smpi/allreduce": "rdb",
    }
    options = hosts_options(folder, 64, settings)
    return SIMGRID.command(60, *options, program)
