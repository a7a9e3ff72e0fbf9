# SPDX-License-Identifier: BSD-3-Clause
"""Runs unmodified applications with MPI's collectives and with ours in their place.

Runs take turns; the table has medians. It also says what a call costs that the library
leaves to MPI.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from time import perf_counter

from peers.tables import paste
from topoloom.preload.collectives import build_collectives

MARKS = "<!-- bench-preloaded: begin -->", "<!-- bench-preloaded: end -->"
HERE = Path(__file__).parent
RANKS = (2, 4)


def main(given: Sequence[str] | None = None) -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser("preloaded", description=__doc__)
    parser.add_argument("--repeat", type=int, default=7, help="runs of each kind")
    parser.add_argument(
        "--docs", type=Path, metavar="FOLDER", help="put the table there"
    )
    asked = parser.parse_args(given)
    compiler = find("mpicc.openmpi", "libopenmpi-dev")
    library = build_collectives(Path(compiler))
    lines = ["| program | ranks | MPI, s | ours, s | ours / MPI | answers |",
             "| --- | ---: | ---: | ---: | ---: | --- |"]  # fmt: skip
    for ranks in RANKS:
        lines.append(lammps(library, ranks, asked.repeat))
        print(lines[-1], file=sys.stderr, flush=True)
    table = "\n".join(lines) + f"\n\n{aside(library, compiler, asked.repeat)}"
    print(table)
    if asked.docs:
        paste(asked.docs / "reference" / "benchmarks.md", table, *MARKS)


def find(program: str, package: str) -> str:
    """Find a program, or end with the package that has it."""
    found = shutil.which(program)
    if found is None:
        raise SystemExit(f"preloaded: {program} is missing: apt-get install {package}")
    return found


def run(library: Path | None, ranks: int, *words: object) -> tuple[float, str]:
    """Run a program; give its seconds and what it prints."""
    options = ["--oversubscribe", "-n", str(ranks)]
    if library is not None:
        options += ["-x", f"LD_PRELOAD={library}", "-x", "TOPOLOOM_COLLECTIVES="]
    start = perf_counter()
    done = subprocess.run(
        [find("mpirun.openmpi", "openmpi-bin"), *options, *map(str, words)],
        check=True,
        capture_output=True,
        text=True,
        env={
            **os.environ,
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "OMPI_MCA_mpi_yield_when_idle": "1",
            "OMP_NUM_THREADS": "1",
        },
    )
    return perf_counter() - start, done.stdout


def lammps(library: Path, ranks: int, repeat: int) -> str:
    """Measure LAMMPS; its answers are the energies of each step."""
    program = find("lmp", "lammps")
    seconds: dict[Path | None, list[float]] = {None: [], library: []}
    answers = set()
    for _ in range(repeat):
        for preloaded, found in seconds.items():
            words = (program, "-log", "none", "-in", HERE / "melt.in")
            printed = run(preloaded, ranks, *words)[1]
            steps = printed.partition("Step ")[2].partition("Loop time of ")
            found.append(float(steps[2].split()[0]))
            answers.add(steps[0])
    theirs, ours = (median(found) for found in seconds.values())
    same = "equal" if len(answers) == 1 else "differ"
    return (
        f"| LAMMPS, melt with PPPM | {ranks} | {theirs:.3f} | {ours:.3f} | "
        f"{ours / theirs:.2f} | {same} |"
    )


def aside(library: Path, compiler: str, repeat: int) -> str:
    """Measure barriers of MPI_COMM_SELF."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "aside"
        subprocess.run([compiler, "-O2", HERE / "aside.c", "-o", program], check=True)
        times = [
            [float(run(preloaded, 1, program)[1]) for preloaded in (None, library)]
            for _ in range(repeat)
        ]
    extra = median(ours - theirs for theirs, ours in times)
    return f"A call that is left to MPI costs {extra:.0f} ns more (`MPI_COMM_SELF`)."


if __name__ == "__main__":
    main()
