# SPDX-License-Identifier: BSD-3-Clause
"""Non-blocking collectives of unmodified programs run on a progress thread."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from mpis import MPICH, MPIS, OPEN_MPI_4, Mpi, build_program
from own_process import topoloom
from replaced_collectives import REPLACED, read_answers, read_reports, run as run_some

from topoloom import save_graph
from topoloom.graphs import ring

#: MPICH never yields: if ranks outnumber cores, each message takes a time slice.
run = partial(run_some, ranks=3)
ours = pytest.mark.parametrize("mpi", MPIS, ids=lambda mpi: mpi.name)


@pytest.fixture
def nonblocking_program(mpi: Mpi) -> Path:
    return build_program(mpi, REPLACED / "started.c")


@ours
@pytest.mark.parametrize(
    "setting", ["schedule=bruck", "schedule=recursive-doubling(fold=even)", "learn=1"]
)
def test_results_equal_those_of_blocking_calls(
    mpi: Mpi, setting: str, nonblocking_program: Path
) -> None:
    done = run(
        mpi, f"{setting},progress=1", nonblocking_program, "multiple", "random", 60
    )
    assert read_answers(done) == ["0 wrong, ours"]


@ours
def test_calls_progress_while_the_program_is_in_mpi(
    mpi: Mpi, nonblocking_program: Path
) -> None:
    setting = "schedule=recursive-doubling(fold=even),progress=1"
    done = run(mpi, setting, nonblocking_program, "multiple", "unseen", 20, 64)
    assert read_answers(done) == ["0 wrong, ours"]


@ours
@pytest.mark.parametrize(
    ("level", "progress"), [("single", 1), ("multiple", 0)], ids=["single", "alone"]
)
def test_without_a_progress_thread_mpi_runs_the_calls(
    mpi: Mpi, level: str, progress: int, nonblocking_program: Path
) -> None:
    setting = f"schedule=recursive-doubling(fold=even),progress={progress}"
    done = run(mpi, setting, nonblocking_program, level, "unseen", 20, 64)
    assert read_answers(done) == ["0 wrong, theirs"]
    refused = "progress=1 needs a program that asks for MPI_THREAD_MULTIPLE"
    assert done.stderr.count(refused) == progress
    reason = "there is no progress thread (needs progress=1 and MPI_THREAD_MULTIPLE)"
    assert f"{reason}: 20 MPI_Iallreduce" in done.stderr


@ours
def test_mpi_runs_calls_that_a_progress_thread_would_notice_too_late(
    mpi: Mpi, nonblocking_program: Path, tmp_path: Path
) -> None:
    """Nodes are described as distant, so that short blocking calls are replaced."""
    costs, pattern = tmp_path / "costs", tmp_path / "ring.npz"
    placement = tmp_path / "placement.json"
    costs.write_text("message - 1e-6 1e-9\n")
    save_graph(pattern, ring(3, 1000))
    topoloom("map", pattern, "--machine", "torus:3,bandwidth=1GB/s", "-o", placement)
    setting = f"machine={costs},placement={placement},progress=1"
    short = run(mpi, setting, nonblocking_program, "multiple", "unseen", 20, 64)
    assert read_answers(short) == ["0 wrong, theirs"]
    assert "3 nodes of torus:3,bandwidth=1GB/s, placed by a file" in short.stderr
    long = run(mpi, setting, nonblocking_program, "multiple", "unseen", 5, 100_000)
    assert read_answers(long) == ["0 wrong, ours"]
    blocking = build_program(mpi, REPLACED / "messages.c")
    (line,) = read_answers(run(mpi, setting, blocking))
    assert not line.startswith("0 messages")


@ours
def test_objects_may_be_freed_as_early_as_with_mpi(
    mpi: Mpi, nonblocking_program: Path
) -> None:
    done = run(
        mpi, "schedule=binomial,progress=1", nonblocking_program, "multiple", "freed"
    )
    assert read_answers(done) == ["0 wrong, ours"]


@ours
def test_a_non_blocking_call_does_no_setup(mpi: Mpi, nonblocking_program: Path) -> None:
    done = run(
        mpi, "schedule=binomial,progress=1", nonblocking_program, "multiple", "alone"
    )
    assert read_answers(done) == ["0 wrong, theirs"]
    reason = "no blocking collective on the communicator came before"
    assert f"{reason}: 20 MPI_Iallreduce" in done.stderr


@ours
@pytest.mark.parametrize(
    "what",
    ["nulls", "truncated", "faults", "attributes", "again", "fortran", "leaving"],
)
def test_unusual_programs_run_as_with_mpi(mpi: Mpi, what: str) -> None:
    program = build_program(mpi, REPLACED / "unusual_starts.c")
    schedule = "bruck" if what in ("attributes", "again") else "binomial"
    if what in ("nulls", "faults", "fortran", "leaving"):
        schedule = "recursive-doubling(fold=even)"
    done = run(mpi, f"schedule={schedule},progress=1", program, what)
    assert read_answers(done) == ["0 wrong"]


@pytest.mark.parametrize("source", ["started_f08.F90", "started_f90.F90"])
@pytest.mark.parametrize("mpi", [OPEN_MPI_4, MPICH], ids=lambda mpi: mpi.name)
def test_fortran_programs_are_supported(mpi: Mpi, source: str) -> None:
    program = build_program(mpi, REPLACED / source)
    done = run(mpi, "schedule=ring,progress=1", program)
    assert read_answers(done) == read_answers(run(mpi, None, program))
    assert sum(", schedules by " in line for line in read_reports(done)) == 1


@pytest.mark.every_mpi
@ours
def test_errors_equal_those_of_mpi(mpi: Mpi, nonblocking_program: Path) -> None:
    words = [
        nonblocking_program,
        "multiple",
        "wrong",
        "root",
        "count",
        "op",
        "communicator",
        "alias",
    ]
    schedule = "recursive-doubling(fold=even)"
    returned = run(mpi, f"schedule={schedule},progress=1", *words)
    assert read_answers(returned) == read_answers(run(mpi, None, *words))
