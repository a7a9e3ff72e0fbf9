# SPDX-License-Identifier: BSD-3-Clause
"""Tasks move under each MPI and in SimGrid: each is once where the plan says."""

from __future__ import annotations

from pathlib import Path

import pytest
from balanced_programs import SOURCES, sanitized, with_balancing
from built_libraries import ROOT
from recorded import MPIS, OPEN_MPI_4, SIMGRID, Mpi, run_to_end
from simulated_hosts import hosts_options

CASES = SOURCES / "exchange_cases.c"
MISTAKES = SOURCES / "balance_mistakes.c"
HOW_TO = ROOT / "docs/how-to/run/balance.md"


@pytest.fixture(scope="module", params=MPIS, ids=lambda mpi: mpi.name)
def job(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Mpi, Path]:
    """Take an MPI, and a folder to build in."""
    mpi: Mpi = request.param
    return mpi, tmp_path_factory.mktemp(mpi.name)


@pytest.mark.parametrize(("ranks", "draws"), [(1, 1), (3, 4)])
def test_every_task_is_once_where_it_should_be(
    job: tuple[Mpi, Path], ranks: int, draws: int
) -> None:
    mpi, folder = job
    program = with_balancing(mpi, CASES, folder)
    done = run_to_end(mpi.command(ranks, program, draws))
    assert done.returncode == 0, done.stderr
    count = 3 * 4 * draws + 1
    assert done.stdout == f"{count} exchanges: every task is once where it should be\n"


def test_errors_are_returned_and_no_task_is_lost(job: tuple[Mpi, Path]) -> None:
    mpi, folder = job
    program = with_balancing(mpi, MISTAKES, folder)
    done = run_to_end(mpi.command(3, program, "returned"))
    assert done.returncode == 0, done.stderr
    assert done.stdout == "16 of 16 mistakes were returned, and no task was lost\n"


def test_tasks_move_among_simulated_ranks(tmp_path: Path) -> None:
    program = with_balancing(SIMGRID, CASES, tmp_path)
    options = hosts_options(tmp_path, 16, {"smpi/test": "1e-6"})
    command = SIMGRID.command(16, *options, program, 2, "torus:8x8x8")
    done = run_to_end(command)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "25 exchanges: every task is once where it should be\n"


def test_the_program_of_the_how_to_balances_loads_of_a_file(
    job: tuple[Mpi, Path],
) -> None:
    mpi, folder = job
    text = HOW_TO.read_text()
    source, loads = folder / "walkers.c", folder / "loads.csv"
    source.write_text(text.partition("```c\n")[2].partition("```")[0])
    loads.write_text("4\n2\n5\n5\n")
    program = with_balancing(mpi, source, folder)
    done = run_to_end(mpi.command(4, program, loads))
    said = text.partition("walkers loads.csv\n")[2].partition("```")[0]
    assert sorted(done.stdout.splitlines()) == said.splitlines()


def test_sanitizers_find_nothing(tmp_path: Path) -> None:
    unchecked = {"ASAN_OPTIONS": "detect_leaks=0"}  # MPI itself leaks
    for source, said in ((CASES, "2"), (MISTAKES, "returned")):
        program = sanitized(OPEN_MPI_4, source, tmp_path)
        done = run_to_end(OPEN_MPI_4.command(3, program, said), **unchecked)
        assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def mistaken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build what makes mistakes."""
    return with_balancing(OPEN_MPI_4, MISTAKES, tmp_path_factory.mktemp("mistakes"))


@pytest.mark.parametrize(
    ("which", "line"),
    [
        ("count", "balance: rank 1 has a load of -3; loads are at least 0"),
        ("sum", "balance: the loads of ranks 0 to 1 add up to 2^62 or more"),
        ("method", "balance: no balancer 'alais' (did you mean 'alias'?)"),
        ("slot", "balance: slot 9 is none of the 8 slots of ring:8"),
        ("talk", "balance: by messages ranks can decide on sweep alone, not on alias"),
        ("freed", "balance: the communicator is MPI_COMM_NULL: freed, or never made"),
        ("room", "exchange: 2 tasks would be here, and there is room for 1"),
        ("null", "exchange: the tasks are NULL"),
        ("sized-negative", "exchange: a size is negative"),
    ],
)
def test_a_mistake_ends_the_program_with_one_line(
    mistaken: Path, which: str, line: str
) -> None:
    done = run_to_end(OPEN_MPI_4.command(3, mistaken, which))
    assert done.returncode != 0
    assert f"topoloom: topoloom_{line}" in done.stderr
