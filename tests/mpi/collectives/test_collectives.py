# SPDX-License-Identifier: BSD-3-Clause
"""Collectives of libtopoloom-collective give the same results as MPI's."""

from __future__ import annotations

import os
import platform
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from built_libraries import compile_with_collectives
from built_programs import run
from mpis import MPIS, OPEN_MPI_4, PROGRAMS, Mpi

from topoloom import _core

#: All schedules; each runs in the operations that it supports.
SCHEDULES = [str(schedule["name"]) for schedule in _core.schedules()]


@dataclass(frozen=True)
class Cases:
    """Build the program that runs random cases, for one MPI."""

    mpi: Mpi
    program: Path

    def run(self, ranks: int, *words: object, **variables: str) -> str:
        """Run a command; a failure shows all of its output."""
        done = subprocess.run(
            self.mpi.command(ranks, self.program, *words),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=600,
            env={**os.environ, **variables},
        )
        assert done.returncode == 0, done.stdout[-3000:]
        return done.stdout


@pytest.fixture(scope="module", params=MPIS, ids=lambda mpi: mpi.name)
def cases(request: pytest.FixtureRequest) -> Cases:
    mpi: Mpi = request.param
    source = PROGRAMS / "collectives/collective_cases.c"
    return Cases(mpi, compile_with_collectives(mpi, source))


@pytest.mark.parametrize("count", [20, pytest.param(60, marks=pytest.mark.full)])
@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 7, 8])
def test_the_chosen_schedule_gives_the_results_of_mpi(
    cases: Cases, ranks: int, count: int
) -> None:
    assert "\n0 failures" in "\n" + cases.run(ranks, ranks, count)


@pytest.mark.every_mpi
@pytest.mark.parametrize("ranks", [5, 8])
def test_each_schedule_gives_the_results_of_mpi(cases: Cases, ranks: int) -> None:
    assert "\n0 failures" in "\n" + cases.run(ranks, ranks, 8, *SCHEDULES)


#: Nine ranks on a torus, and on a fat tree with missing nodes, with their schedules.
FITTED = (
    "disjoint-trees(grid=3x3,segment=8)",
    "disjoint-trees(grid=3x3,lines=open,segment=8)",
    "pairwise(seats=0-2:4-6:8-9:12)",
    "cyclic(seats=12:0-2:4-6:8-9/14)",
)


def test_schedules_fitted_to_a_machine_give_the_results_of_mpi(cases: Cases) -> None:
    assert "\n0 failures" in "\n" + cases.run(9, 9, 3, *FITTED)


COSTS = "message 2047 6e-7 1e-10\nmessage - 5e-7 5e-11\ncost latency 6e-7\n"
TORUS = "machine torus:2x2,bandwidth=1GB/s,latency=1us\n" + COSTS


def read_reports(cases: Cases, setting: str) -> set[str]:
    """Run a few cases under a setting; they must succeed. Return standard error."""
    output = cases.run(3, 1, 4, TOPOLOOM_COLLECTIVES=setting)
    assert "\n0 failures" in "\n" + output
    fields = (line.partition("topoloom: collectives: ") for line in output.splitlines())
    return {what for _, ours, what in fields if ours}


def test_a_report_names_the_basis_of_the_choice(cases: Cases, tmp_path: Path) -> None:
    costs, torus = tmp_path / "costs", tmp_path / "torus"
    costs.write_text(COSTS)
    host = platform.node()
    torus.write_text(f"{TORUS}node 2 {host}\n")
    on_one = "3 ranks on 1 node, schedules by"
    assert f"{on_one} what messages cost" in read_reports(cases, "report=1")
    assert f"{on_one} what messages cost" in read_reports(
        cases, f"machine={costs},report=1"
    )
    by_torus = read_reports(cases, f"machine={torus},schedule=ring,report=1")
    (whole,) = (line for line in by_torus if line.startswith("3 ranks"))
    assert "torus:2x2" in whole
    assert whole.endswith("by name, ring, else by the machine's routes")


def test_a_wrong_setting_is_reported_once_and_ignored(
    cases: Cases, tmp_path: Path
) -> None:
    torus = tmp_path / "torus"
    torus.write_text(f"{TORUS}node 2 elsewhere\n")
    binary = tmp_path / "binary"
    binary.write_bytes(b"\0" + TORUS.encode())
    wrong = {
        "nothing=1": "no option 'nothing'",
        "learn=yes": "'learn' is 0 or 1, not 'yes'",
        "schedule=rings": "'rings'",
        f"decisions={tmp_path}/absent": "absent",
        f"decisions={tmp_path}": "is not a text file",
        f"machine={binary}": "is not a text file",
        f"machine={torus},schedule=ring,report=1": "rank 0",
    }
    for setting, what in wrong.items():
        fields = read_reports(cases, setting)
        assert any(what in line for line in fields), fields
    assert any("by name, ring" in line for line in fields), fields


def test_ranks_with_different_datatypes_choose_the_same_schedule(
    tmp_path: Path,
) -> None:
    """A third of 40 bytes is 13 in whole bytes, but 8 in whole pairs of integers."""
    source = PROGRAMS / "collectives/paired_types.c"
    program = compile_with_collectives(OPEN_MPI_4, source)
    lines = (("0", "ring"), ("10", "bruck"))
    table = tmp_path / "table.json"
    table.write_text(
        '{"format": "topoloom-decisions", "version": 1,\n"operation": "allgather",\n'
        '"decisions": [\n'
        + ",\n".join(
            f'{{"ranks": 3, "bytes": {least}, "schedule": "{name}"}}'
            for least, name in lines
        )
        + "]}"
    )
    fields = run(
        OPEN_MPI_4.command(3, program), TOPOLOOM_COLLECTIVES=f"decisions={table}"
    )
    assert fields == "0 wrong\n"
