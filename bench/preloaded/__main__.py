# SPDX-License-Identifier: BSD-3-Clause
"""Runs unmodified applications with MPI's collectives and with replaced ones.

Runs alternate. The output also shows the extra cost of calls that the library passes to
MPI. With --calls, all operations are timed alternately in one job. With --neighbors,
potential gains of neighborhood collectives are simulated.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

from peers.tables import write_between_marks
from preloaded import stencil
from preloaded.calls import calls, self_barriers
from preloaded.jobs import launch
from preloaded.programs import Program, Run, build_nas, hpcc, lammps, nas
from smpi import find
from topoloom.preload.collectives import build_collective_library
from topoloom.tasks.collectives.measure import median_interval

MARKS = "<!-- bench-preloaded: begin -->", "<!-- bench-preloaded: end -->"
CALL_MARKS = "<!-- bench-calls: begin -->", "<!-- bench-calls: end -->"
NEIGHBOR_MARKS = "<!-- bench-neighbors: begin -->", "<!-- bench-neighbors: end -->"
RANKS = (2, 4)
HEAD = """\
| program | ranks | MPI | ours | ours / MPI | MPI / MPI | of pairs | answers \
| all calls ours |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- | --- |"""


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser("preloaded", description=__doc__)
    parser.add_argument(
        "--repeat", type=int, default=7, help="runs with and without the library"
    )
    parser.add_argument(
        "--nas", type=Path, metavar="FOLDER", help="folder NPB3.4-MPI, for IS and FT"
    )
    parser.add_argument(
        "--docs", type=Path, metavar="FOLDER", help="write the table to this folder"
    )
    parser.add_argument(
        "--calls", action="store_true", help="measure short calls on one host instead"
    )
    parser.add_argument(
        "--neighbors", action="store_true", help="simulate stencils instead"
    )
    args = parser.parse_args(argv)
    if args.neighbors:
        table, marks = stencil.table(stencil.measure()), NEIGHBOR_MARKS
    elif args.calls:
        table, marks = calls(), CALL_MARKS
    else:
        table, marks = list_applications(args.nas, args.repeat), MARKS
    print(table)
    if args.docs:
        write_between_marks(
            args.docs / "reference" / "benchmarks" / "programs.md", table, *marks
        )


def list_applications(sources: Path | None, repeat: int) -> str:
    """Measure all programs; NAS programs only if sources are passed."""
    compiler = find("mpicc.openmpi", "libopenmpi-dev")
    library = build_collective_library(Path(compiler))
    lines = [HEAD]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if sources is not None:
            fortran = find("mpif90.openmpi", "libopenmpi-dev")
            build_nas(sources, (compiler, fortran), folder / "nas")
        for ranks in RANKS:
            for program in list_programs(ranks, folder):
                lines.append(measure(program, ranks, library, repeat))
                print(lines[-1], file=sys.stderr, flush=True)
    return "\n".join(lines) + f"\n\n{self_barriers(library, compiler, repeat)}"


def list_programs(ranks: int, folder: Path) -> Iterator[Program]:
    """Return the available programs."""
    if (folder / "nas").is_dir():
        yield from nas(folder / "nas")
    yield hpcc(find("hpcc", "hpcc"), ranks, folder)
    yield lammps(find("lmp", "lammps"), folder)


def measure(program: Program, ranks: int, library: Path, repeat: int) -> str:
    """Run a program with and without the library alternately; return a table row."""

    def run(argv: Path | None, setting: str = "") -> Run:
        printed = launch(program.words, ranks, argv, setting, folder=program.folder)
        return program.read(printed)

    rounds = [(run(None), run(library), run(None)) for _ in range(repeat)]
    return row(program, ranks, rounds, run(library, "learn=1"))


def row(
    program: Program, ranks: int, rounds: Sequence[tuple[Run, Run, Run]], every: Run
) -> str:
    """Format a row: fastest runs, because disturbances only lengthen runs; then ratios.

    MPI runs before and after each run of ours; their ratio shows the noise. The last
    ratio is the median of ours to the previous run, with its 95 % confidence interval.
    """
    ratios = [ours.time / front.time for front, ours, _ in rounds]
    low, high = median_interval(ratios)
    front, ours, behind = (
        min(run.time for run in side) for side in zip(*rounds, strict=True)
    )
    answers = {run.answers for each in rounds for run in each}
    cells = (
        program.name,
        ranks,
        f"{front:.3g} {program.unit}",
        f"{ours:.3g} {program.unit}",
        f"{ours / front:.2f}",
        f"{behind / front:.2f}",
        f"{median(ratios):.2f} ({low:.2f}-{high:.2f})",
        "equal" if len(answers) == 1 else "differ",
        "equal" if answers == {every.answers} else "verified",
    )
    return f"| {' | '.join(map(str, cells))} |"


if __name__ == "__main__":
    main()
