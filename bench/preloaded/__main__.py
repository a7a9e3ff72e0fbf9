# SPDX-License-Identifier: BSD-3-Clause
"""Runs unmodified applications with MPI's collectives and with ours in their place.

Runs take turns; the table has medians. It also says what a call costs that the library
leaves to MPI; and with --calls, for every operation, beside MPI's own in the same job.
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
CALL_MARKS = "<!-- bench-calls: begin -->", "<!-- bench-calls: end -->"
HERE = Path(__file__).parent
RANKS = (2, 4)


def main(given: Sequence[str] | None = None) -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser("preloaded", description=__doc__)
    parser.add_argument("--repeat", type=int, default=7, help="runs of each kind")
    parser.add_argument(
        "--docs", type=Path, metavar="FOLDER", help="put the table there"
    )
    parser.add_argument(
        "--calls", action="store_true", help="short calls on one host instead"
    )
    asked = parser.parse_args(given)
    if asked.calls:
        table = calls()
        print(table)
        if asked.docs:
            paste(asked.docs / "reference" / "benchmarks.md", table, *CALL_MARKS)
        return
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


#: More ranks than cores take turns; none has threads beside it.
ENVIRONMENT = {
    **os.environ,
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMP_NUM_THREADS": "1",
}


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
        env=ENVIRONMENT,
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


def calls() -> str:
    """Measure all operations on one host, of 8 B to 32 KiB, under two MPIs."""
    # MPICH never yields: more ranks than cores take a time slice per message.
    jobs = [("openmpi", 2), ("openmpi", 4), ("mpich", 2)]
    found = {job: _calls(*job) for job in jobs}
    heads = [f"{mpi}, {ranks} ranks" for mpi, ranks in jobs]
    lines = [
        f"| operation | {' | '.join(heads)} |",
        f"| --- |{' ---: |' * len(jobs)}",
    ]
    for operation in found[jobs[0]]:
        cells = [_extra(found[job][operation]) for job in jobs]
        lines.append(f"| {operation} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _calls(mpi: str, ranks: int) -> dict[str, list[tuple[float, float]]]:
    """Give for each operation what MPI's own calls take and ours, size by size."""
    package = "libopenmpi-dev" if mpi == "openmpi" else "libmpich-dev"
    compiler = find(f"mpicc.{mpi}", package)
    library = build_collectives(Path(compiler))
    found: dict[str, list[tuple[float, float]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "calls"
        subprocess.run([compiler, "-O2", HERE / "calls.c", "-o", program], check=True)
        options = ["-x", f"LD_PRELOAD={library}", "-x", "TOPOLOOM_COLLECTIVES="]
        if mpi == "mpich":
            options = ["-genv", "LD_PRELOAD", str(library)]
            options += ["-genv", "TOPOLOOM_COLLECTIVES", ""]
        else:
            options += ["--oversubscribe"]
        printed = subprocess.run(
            [find(f"mpirun.{mpi}", package), *options, "-n", str(ranks), program],
            check=True,
            capture_output=True,
            text=True,
            env=ENVIRONMENT,
        ).stdout
    for line in printed.splitlines():
        operation, _, theirs, ours = line.split()
        found.setdefault(operation, []).append((float(theirs), float(ours)))
    return found


def _extra(pairs: list[tuple[float, float]]) -> str:
    """Write the shortest call of MPI's own, and the median of ours beside it."""
    ratio = median(ours / theirs for theirs, ours in pairs)
    theirs, ours = pairs[0]
    return f"{theirs:,.0f} ns {ours - theirs:+,.0f}; {ratio:.2f}"


if __name__ == "__main__":
    main()
