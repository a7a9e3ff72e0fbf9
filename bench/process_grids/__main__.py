# SPDX-License-Identifier: BSD-3-Clause
"""Simulates collectives on grids, and prints gains of tiles; see ``--help``."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from peers.tables import write_between_marks
from process_grids.programs import Cell, Times, build, simulate

MARKS = "<!-- bench-grids: begin -->", "<!-- bench-grids: end -->"
MIB = 1 << 20
#: Grids and bytes by (cores per node, dimensions), as on the machines of Karlsson 2012,
#: tables 5.1 to 5.4. Grids for the third machine are smaller: the source has up to
#: 46,656 processes and 64 MB.
GROUPS: dict[tuple[int, int], list[tuple[tuple[int, ...], int]]] = {
    (4, 2): [((4, 4), 8 * MIB), ((6, 6), 8 * MIB), ((6, 8), 8 * MIB)],
    (8, 2): [((6, 8), 16 * MIB), ((8, 8), 16 * MIB), ((8, 12), 16 * MIB)],
    (12, 2): [((6, 8), 16 * MIB), ((6, 12), 16 * MIB)],
    (8, 3): [((2, 4, 6), 16 * MIB), ((4, 4, 4), 16 * MIB), ((4, 4, 6), 16 * MIB)],
    (12, 3): [((4, 4, 6), 16 * MIB)],
}
#: Theta of measured rows by cores per node: Alamode, RA and Jaguar.
PUBLISHED = {
    ("library bcast", 2): {4: 1.35, 8: 1.10, 12: 1.64},
    ("pipeline", 2): {4: 1.24, 8: 1.17, 12: 1.40},
    ("binomial", 2): {4: 1.30, 8: 1.13, 12: 1.68},
    ("library gather", 2): {4: 1.24, 8: 1.69, 12: 1.88},
    ("library scatter", 2): {4: 1.37, 8: 1.53, 12: 1.76},
    ("library bcast", 3): {8: 1.09, 12: 1.34},
}


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser("process_grids", description=__doc__)
    parser.add_argument(
        "--cores",
        type=int,
        choices=(4, 8, 12),
        help="only with this number of cores per node",
    )
    parser.add_argument(
        "--docs", type=Path, metavar="FOLDER", help="write the table to this folder"
    )
    args = parser.parse_args(argv)
    found: dict[Cell, dict[str, Times]] = {}
    with tempfile.TemporaryDirectory() as folder:
        program = build(Path(folder))
        for (cores, _), group in GROUPS.items():
            for grid, size in group if args.cores in (None, cores) else ():
                cell = Cell(grid, cores, size)
                found[cell] = simulate(program, cell)
                for line in format_rows({cell: found[cell]}):
                    print(line, file=sys.stderr, flush=True)
    print(format_table(found))
    if args.docs:
        write_between_marks(
            args.docs / "reference" / "benchmarks" / "collectives.md",
            format_table(found),
            *MARKS,
        )


def format_rows(found: dict[Cell, dict[str, Times]]) -> Iterator[str]:
    """Format the times of a group's cells in milliseconds."""
    first = next(iter(found))
    cores, dimensions = first.cores, len(first.grid)
    for way in found[first]:
        times = [of_cell[way] for of_cell in found.values()]
        columns = [
            " / ".join(f"{1e3 * getattr(one, order):.2f}" for one in times)
            for order in ("default", "tiled")
        ]
        theta = sum(one.default for one in times) / sum(one.tiled for one in times)
        published = PUBLISHED.get((way, dimensions), {}).get(cores)
        theirs = "" if published is None else f"{published:.2f}"
        words = [str(cores), f"{dimensions}-D", way, *columns, f"{theta:.2f}", theirs]
        yield f"| {' | '.join(words)} |"


def format_table(found: dict[Cell, dict[str, Times]]) -> str:
    """Format all cells as Markdown."""
    lines = [
        "| cores | grid | collective | row-major, ms | tiled, ms | Theta | published |",
        "| ---: | --- | --- | ---: | ---: | ---: | ---: |",
    ]
    for group in GROUPS:
        cells = {
            cell: times
            for cell, times in found.items()
            if (cell.cores, len(cell.grid)) == group
        }
        if cells:
            lines += format_rows(cells)
    return "\n".join(lines)


if __name__ == "__main__":
    main()
