# SPDX-License-Identifier: BSD-3-Clause
"""Learns from wrong models, and counts disagreements of real ranks; see ``--help``."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import smpi
from peers.tables import write_between_marks

MARKS = "<!-- bench-learning: begin -->", "<!-- bench-learning: end -->"
ROOT = smpi.MPI.parent
PLANTED = ROOT / "build/release/bench/learning/bench_learning"
PROGRAM = ROOT / "tests/mpi/programs/collectives/learning.c"


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser("learning", description=__doc__)
    parser.add_argument("--cases", type=int, default=2000, help="random wrong models")
    parser.add_argument(
        "--calls", type=int, metavar="N", help="only N calls of four real ranks"
    )
    parser.add_argument(
        "--docs", type=Path, metavar="FOLDER", help="write the table to this folder"
    )
    args = parser.parse_args(argv)
    if args.calls:
        os.nice(10)
        print(call_often(args.calls), end="")
        return
    result = subprocess.run(
        [PLANTED, str(args.cases)], check=True, capture_output=True, text=True
    )
    table = result.stdout.strip()
    print(table)
    if args.docs:
        page = args.docs / "how-to" / "run" / "collectives.md"
        write_between_marks(page, table, *MARKS)


def call_often(calls: int) -> str:
    """Run calls on four ranks with unreliable clocks, and compare their schedules."""
    compiler = smpi.find("mpicc.openmpi", "libopenmpi-dev")
    launcher = smpi.find("mpirun.openmpi", "openmpi-bin")
    with tempfile.TemporaryDirectory() as folder:
        program = smpi.build(PROGRAM, compiler, Path(folder))
        command = [launcher, "--oversubscribe", "-n", "4", program, str(calls), "7"]
        done = subprocess.run(
            list(map(str, command)),
            check=True,
            stdout=subprocess.PIPE,
            stderr=sys.stderr,
            text=True,
            env={
                **os.environ,
                "OMPI_ALLOW_RUN_AS_ROOT": "1",
                "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                "OMPI_MCA_mpi_yield_when_idle": "1",
                "TOPOLOOM_COLLECTIVES": "learn=1",
            },
        )
    return done.stdout


if __name__ == "__main__":
    main()
