# SPDX-License-Identifier: BSD-3-Clause
"""Simulates sparse exchanges, and prints a table; see ``--help``."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from exchange.programs import Cell, build, call_often, simulate
from peers.tables import write_between_marks
from smpi import find

MARKS = "<!-- bench-exchange: begin -->", "<!-- bench-exchange: end -->"
#: Number of leading columns that identify a row.
KEY = 3
RANKS = (64, 256, 1024)
#: Destinations per rank; fewer if there are fewer ranks.
DEGREES = (1, 8, 64)
SIZES = (8, 1024, 32768)
PATTERNS = 1


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser("exchange", description=__doc__)
    parser.add_argument("--ranks", type=int, help="only this number of ranks")
    parser.add_argument(
        "--calls", type=int, metavar="N", help="only N calls between two real ranks"
    )
    parser.add_argument(
        "--docs", type=Path, metavar="FOLDER", help="write each row to this folder"
    )
    args = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        if args.calls:
            compiler = find("mpicc.openmpi", "libopenmpi-dev")
            launcher = find("mpirun.openmpi", "openmpi-bin")
            program = build(compiler, Path(folder))
            print(call_often(program, launcher, args.calls))
            return
        program = build(find("smpicc", "libsimgrid-dev"), Path(folder))
        cells = []
        for ranks in (args.ranks,) if args.ranks else RANKS:
            for cell in simulate(program, ranks, PATTERNS, DEGREES, SIZES):
                cells.append(cell)
                print(format_row(cell), file=sys.stderr, flush=True)
                if args.docs:
                    update_row(
                        args.docs / "reference" / "benchmarks" / "collectives.md", cell
                    )
    print(format_table([format_row(cell) for cell in cells]))


def update_row(page: Path, cell: Cell) -> None:
    """Replace a row of the table in a page."""
    begin, end = MARKS
    shown = page.read_text().partition(begin)[2].partition(end)[0].splitlines()
    rows = {
        _parse_row_key(line): line
        for line in shown
        if line.startswith("| ") and _parse_row_key(line)
    }
    new = format_row(cell)
    rows[_parse_row_key(new)] = new
    write_between_marks(page, format_table([rows[key] for key in sorted(rows)]), *MARKS)


def _parse_row_key(line: str) -> tuple[int, ...]:
    """Return ranks, degree and bytes of a row; empty if it is not a result."""
    words = [word.strip() for word in line.split("|")[1 : 1 + KEY]]
    return tuple(map(int, words)) if all(map(str.isdigit, words)) else ()


def format_row(cell: Cell) -> str:
    """Format a result as a row; times are microseconds."""
    times = [f"{1e6 * cell.seconds[a]:.1f}" for a in ("reduction", "nbx", "mesh", "")]
    words = (cell.ranks, cell.degree, cell.bytes, *times, f"{cell.ratio:.2f}")
    return f"| {' | '.join(map(str, words))} |"


def format_table(rows: Sequence[str]) -> str:
    """Format all rows as Markdown, with the worst ratio."""
    head = (
        "| ranks | degree | bytes | reduction | NBX | mesh | ours "
        "| ours / better of the first two |"
    )
    worst = max(float(line.split("|")[-2]) for line in rows)
    return "\n".join(
        [
            head,
            "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
            *rows,
            f"| **worst** | | | | | | | **{worst:.2f}** |",
        ]
    )


if __name__ == "__main__":
    main()
