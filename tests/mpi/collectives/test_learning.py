# SPDX-License-Identifier: BSD-3-Clause
"""Ranks agree on learned schedules and converge to the fastest schedule."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from built_libraries import compile_with_collectives
from built_programs import run
from mpis import MPICH, MPIS, OPEN_MPI_4, PROGRAMS, SIMGRID, Mpi
from simulated_hosts import hosts_options

from smpi import QUICK, SETTINGS

HERE = PROGRAMS / "collectives"
#: Few, as some MPIs spin when ranks outnumber cores; `make bench-learning` runs more.
CALLS = 200


def run_learning(mpi: Mpi, ranks: int, *words: object) -> str:
    """Run a program that learns; return its output."""
    done = subprocess.run(
        mpi.command(ranks, *words),
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        env={
            **os.environ,
            "TOPOLOOM_COLLECTIVES": "learn=1",
            "OMPI_MCA_mpi_yield_when_idle": "1",
        },
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def check_agreement(mpi: Mpi, *words: object) -> None:
    """Expect that all ranks choose the same schedules."""
    program = compile_with_collectives(mpi, HERE / "learning.c")
    output = run_learning(mpi, 4, program, CALLS, *words)
    calls, classes, *others = output.strip().split(", ")
    assert calls.startswith(f"{CALLS} calls on ")
    assert int(classes.split()[0]) > 0
    assert others == ["0 wrong", "0 disagreements", "some changes", "our clock"]


@pytest.mark.parametrize("mpi", MPIS, ids=lambda mpi: mpi.name)
def test_ranks_agree_if_their_clocks_differ(mpi: Mpi) -> None:
    check_agreement(mpi, 1)


def test_a_rank_that_is_out_of_memory_learns_the_decision_of_the_others() -> None:
    check_agreement(OPEN_MPI_4, 2, "poor")


@pytest.mark.parametrize("which", ["learn", "exchange"])
@pytest.mark.parametrize("mpi", [OPEN_MPI_4, MPICH], ids=lambda mpi: mpi.name)
def test_a_rank_that_missed_a_step_fails_instead_of_taking_another_schedule(
    mpi: Mpi, which: str
) -> None:
    program = compile_with_collectives(mpi, HERE / "after_failure.c")
    assert "3 of 3 calls fail" in run_learning(mpi, 2, program, which).splitlines()


RANKS = 32
#: Starting a message takes 50 times as long as on the platform.
WRONG_COSTS = "message - 1e-4 1e-10\ncost latency 1e-6\n"
SCHEDULES = (
    "at-once",
    "cyclic",
    "pairwise",
    "bruck",
    "bruck(radix=4)",
    "bruck(radix=8)",
    "mesh",
)


@pytest.fixture(scope="module")
def simulated_command(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Build the program for SimGrid's MPI; return the command."""
    folder = tmp_path_factory.mktemp(SIMGRID.name)
    program = compile_with_collectives(SIMGRID, HERE / "repeated.c")
    options = hosts_options(folder, RANKS, SETTINGS | QUICK)
    return SIMGRID.command(RANKS, *options, program)


def measure_repeated(
    command: list[str], setting: str, size: int, calls: int
) -> tuple[str, float]:
    """Return the last schedule and the seconds of a call."""
    output = run([*command, size, calls], TOPOLOOM_COLLECTIVES=setting).split()
    return output[0], float(output[1])


@pytest.mark.parametrize("size", [512, 4096])
def test_learning_ends_at_the_best_schedule(
    simulated_command: list[str], tmp_path: Path, size: int
) -> None:
    machine = tmp_path / "machine"
    machine.write_text(WRONG_COSTS)
    learned, _ = measure_repeated(
        simulated_command, f"machine={machine},learn=1", size, 20
    )
    not_learned, _ = measure_repeated(simulated_command, f"machine={machine}", size, 1)
    times = {
        name: measure_repeated(simulated_command, f"schedule={name}", size, 5)[1]
        for name in {*SCHEDULES, learned, not_learned}
    }
    assert times[learned] <= 1.05 * min(times.values()) < times[not_learned]
