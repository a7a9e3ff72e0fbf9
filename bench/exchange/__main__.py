# SPDX-License-Identifier: BSD-3-Clause
"""Simulates sparse exchanges, and prints a table; see ``--help``."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from exchange.programs import Cell, build, call_often, simulate
from peers.tables import paste
from smpi import find

MARKS = "<!-- bench-exchange: begin -->", "<!-- bench-exchange: end -->"
RANKS = (64, 256, 1024)
#: To all others where there are fewer.
DEGREES = (1, 8, 64)
SIZES = (8, 1024, 32768)
PATTERNS = 1


def main(given: Sequence[str] | None = None) -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser("exchange", description=__doc__)
    parser.add_argument("--ranks", type=int, help="only this number of ranks")
    parser.add_argument(
        "--calls", type=int, metavar="N", help="only N calls between two real ranks"
    )
    parser.add_argument(
        "--docs", type=Path, metavar="FOLDER", help="put the table there"
    )
    asked = parser.parse_args(given)
    with tempfile.TemporaryDirectory() as folder:
        if asked.calls:
            os.nice(10)
            program = build(find("mpicc.mpich", "libmpich-dev"), Path(folder))
            print(call_often(program, find("mpirun.mpich", "mpich"), asked.calls))
            return
        program = build(find("smpicc", "libsimgrid-dev"), Path(folder))
        cells = []
        for ranks in (asked.ranks,) if asked.ranks else RANKS:
            for cell in simulate(program, ranks, PATTERNS, DEGREES, SIZES):
                cells.append(cell)
                print(row(cell), file=sys.stderr, flush=True)
    print(table(cells))
    if asked.docs:
        paste(asked.docs / "reference" / "benchmarks.md", table(cells), *MARKS)


def row(cell: Cell) -> str:
    """Write a cell; times are microseconds."""
    times = [f"{1e6 * cell.seconds[a]:.1f}" for a in ("reduction", "nbx", "mesh", "")]
    words = (cell.ranks, cell.degree, cell.bytes, *times, f"{cell.ratio:.2f}")
    return f"| {' | '.join(map(str, words))} |"


def table(cells: Sequence[Cell]) -> str:
    """Write all cells as Markdown."""
    head = (
        "| ranks | degree | bytes | reduction | NBX | mesh | ours "
        "| ours / better of the first two |"
    )
    worst = max(cell.ratio for cell in cells)
    return "\n".join(
        [
            head,
            "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
            *map(row, cells),
            f"| **worst** | | | | | | | **{worst:.2f}** |",
        ]
    )


if __name__ == "__main__":
    main()
