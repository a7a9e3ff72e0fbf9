# SPDX-License-Identifier: BSD-3-Clause
"""Threads use collectives concurrently, and the progress thread advances them."""

from __future__ import annotations

import os
import subprocess

import pytest
from built_libraries import compile_with_collectives
from built_programs import run
from mpis import MPIS, OPEN_MPI_4, PROGRAMS, Mpi

THREADS = PROGRAMS / "collectives/threads.c"


@pytest.fixture(scope="module", params=MPIS, ids=lambda mpi: mpi.name)
def threads_command(request: pytest.FixtureRequest) -> list[str]:
    mpi: Mpi = request.param
    program = compile_with_collectives(mpi, THREADS, "-pthread")
    return mpi.command(4, program)


@pytest.mark.parametrize("progress", "01")
def test_threads_use_separate_communicators(
    threads_command: list[str], progress: str
) -> None:
    setting = f"progress={progress}"
    output = run([*threads_command, "at-once", 3, 100], TOPOLOOM_COLLECTIVES=setting)
    assert output == "0 wrong\n"


def test_calls_progress_without_tests(threads_command: list[str]) -> None:
    # Threads start in rounds, so that later communicators are used, too.
    setting = "progress=1,schedule=bruck"
    assert (
        run([*threads_command, "unseen", 200], TOPOLOOM_COLLECTIVES=setting)
        == "0 wrong\n"
    )


def test_a_communicator_is_set_up_once_by_any_thread(
    threads_command: list[str],
) -> None:
    output = run([*threads_command, "fresh", 40], TOPOLOOM_COLLECTIVES="progress=1")
    assert output == "0 wrong\n"


def test_a_program_with_one_thread_progresses_by_tests() -> None:
    source = PROGRAMS / "collectives/repeated.c"
    program = compile_with_collectives(OPEN_MPI_4, source)
    done = subprocess.run(
        OPEN_MPI_4.command(2, program, 8, 3),
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "TOPOLOOM_COLLECTIVES": "progress=1"},
    )
    (line,) = done.stderr.splitlines()
    assert line.startswith(
        "topoloom: collectives: progress=1 needs a program that asks"
    )


@pytest.mark.full
def test_the_thread_sanitizer_reports_nothing() -> None:
    # MPICH fails in this case even without Topoloom.
    program = compile_with_collectives(
        OPEN_MPI_4, THREADS, everywhere="-g -pthread -fsanitize=thread"
    )
    variables = {
        "TOPOLOOM_COLLECTIVES": "progress=1,schedule=bruck",
        # Ignore races inside the MPI library.
        "TSAN_OPTIONS": "ignore_noninstrumented_modules=1",
    }
    for words in (["at-once", 3, 40], ["unseen", 40], ["fresh", 12]):
        output = run([*OPEN_MPI_4.command(4, program), *words], **variables)
        assert output == "0 wrong\n"
