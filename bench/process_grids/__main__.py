# SPDX-License-Identifier: BSD-3-Clause
"""Simulates collectives on grids, and prints what tiles gain; see ``--help``."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from peers.tables import paste
from process_grids.programs import Cell, Times, build, simulate

MARKS = "<!-- bench-grids: begin -->", "<!-- bench-grids: end -->"
MIB = 1 << 20
#: By cores per node, as on the machines of Karlsson 2012, tables 5.2 to 5.4; of the
#: third, which had up to 40,000 processes of 64 MB, smaller grids.
GROUPS = {
    4: [((4, 4), 8 * MIB), ((6, 6), 8 * MIB), ((6, 8), 8 * MIB)],
    8: [((6, 8), 16 * MIB), ((8, 8), 16 * MIB)],
    12: [((6, 8), 16 * MIB), ((6, 12), 16 * MIB)],
}
#: Theta of a row, measured there: on Alamode, RA and Jaguar.
PUBLISHED = {
    "library broadcast": (1.35, 1.10, 1.64),
    "pipeline": (1.24, 1.17, 1.40),
    "binomial": (1.30, 1.13, 1.68),
    "library gather": (1.24, 1.69, 1.88),
    "library scatter": (1.37, 1.53, 1.76),
}


def main(given: Sequence[str] | None = None) -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser("process_grids", description=__doc__)
    parser.add_argument(
        "--cores", type=int, choices=GROUPS, help="only with this number per node"
    )
    parser.add_argument(
        "--docs", type=Path, metavar="FOLDER", help="put the table there"
    )
    asked = parser.parse_args(given)
    found: dict[Cell, dict[str, Times]] = {}
    with tempfile.TemporaryDirectory() as folder:
        program = build(Path(folder))
        for cores in (asked.cores,) if asked.cores else GROUPS:
            for grid, size in GROUPS[cores]:
                cell = Cell(grid, cores, size)
                found[cell] = simulate(program, cell)
                for line in rows({cell: found[cell]}):
                    print(line, file=sys.stderr, flush=True)
    print(table(found))
    if asked.docs:
        paste(asked.docs / "reference" / "benchmarks.md", table(found), *MARKS)


def rows(found: dict[Cell, dict[str, Times]]) -> Iterator[str]:
    """Write the times of the cells that have equally many cores, in milliseconds."""
    cores = next(iter(found)).cores
    published = list(GROUPS).index(cores)
    for way in next(iter(found.values())):
        times = [of_cell[way] for of_cell in found.values()]
        columns = [
            " / ".join(f"{1e3 * getattr(one, order):.2f}" for one in times)
            for order in ("default", "tiled")
        ]
        theta = sum(one.default for one in times) / sum(one.tiled for one in times)
        theirs = f"{PUBLISHED[way][published]:.2f}" if way in PUBLISHED else ""
        words = [str(cores), way, *columns, f"{theta:.2f}", theirs]
        yield f"| {' | '.join(words)} |"


def table(found: dict[Cell, dict[str, Times]]) -> str:
    """Write all cells as Markdown."""
    lines = [
        "| cores | collective | row-major, ms | tiled, ms | Theta | published |",
        "| ---: | --- | ---: | ---: | ---: | ---: |",
    ]
    for cores in GROUPS:
        group = {cell: times for cell, times in found.items() if cell.cores == cores}
        if group:
            lines += rows(group)
    return "\n".join(lines)


if __name__ == "__main__":
    main()
