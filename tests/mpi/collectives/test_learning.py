# SPDX-License-Identifier: BSD-3-Clause
"""Choices that are learned at run time: all ranks agree, and they end at the best."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from built_libraries import run, with_collectives
from recorded import MPIS, PROGRAMS, Mpi
from simulated_hosts import hosts_options

from smpi import QUICK, SETTINGS

HERE = PROGRAMS / "collectives"
SIMGRID = Mpi(
    "simgrid", "smpirun", {".c": "smpicc"}, (), "apt-get install libsimgrid-dev"
)


#: Some MPIs spin where ranks are more than cores; `make bench-learning` makes more.
CALLS = 200


@pytest.mark.parametrize("mpi", MPIS, ids=lambda mpi: mpi.name)
def test_ranks_agree_whatever_their_clocks_say(mpi: Mpi, tmp_path: Path) -> None:
    program = with_collectives(mpi, HERE / "learning.c", tmp_path)
    settings = {"TOPOLOOM_COLLECTIVES": "learn=1", "OMPI_MCA_mpi_yield_when_idle": "1"}
    done = subprocess.run(
        mpi.command(4, program, CALLS, 1),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, **settings},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout == f"{CALLS} calls, 0 disagreements, some changes, our clock\n"


RANKS = 32
#: A message starts 50 times as slowly as on the platform.
WRONG = "message - 1e-4 1e-10\ncost latency 1e-6\n"
SOME = (
    "at-once",
    "cyclic",
    "pairwise",
    "bruck",
    "bruck(radix=4)",
    "bruck(radix=8)",
    "mesh",
)


@pytest.fixture(scope="module")
def repeated(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Build for SimGrid's MPI; give the command."""
    folder = tmp_path_factory.mktemp(SIMGRID.name)
    program = with_collectives(SIMGRID, HERE / "repeated.c", folder)
    options = hosts_options(folder, RANKS, SETTINGS | QUICK)
    return SIMGRID.command(RANKS, *options, program)


def repeat(
    command: list[str], setting: str, size: int, calls: int
) -> tuple[str, float]:
    """Give the schedule that was used at last, and the seconds of a call."""
    told = run([*command, size, calls], TOPOLOOM_COLLECTIVES=setting).split()
    return told[0], float(told[1])


@pytest.mark.parametrize("size", [512, 4096])
def test_it_ends_at_the_best_schedule(
    repeated: list[str], tmp_path: Path, size: int
) -> None:
    machine = tmp_path / "machine"
    machine.write_text(WRONG)
    learned, _ = repeat(repeated, f"machine={machine};learn=1", size, 20)
    not_learned, _ = repeat(repeated, f"machine={machine}", size, 1)
    times = {
        name: repeat(repeated, f"schedule={name}", size, 5)[1]
        for name in {*SOME, learned, not_learned}
    }
    assert times[learned] <= 1.05 * min(times.values()) < times[not_learned]
