# SPDX-License-Identifier: BSD-3-Clause
"""Places programs on real machines by default, and simulates; see ``--help``."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from os import cpu_count
from pathlib import Path

from defaults import tables
from defaults.cases import cases
from defaults.measure import BLOCK, Run, measure
from defaults.rows import JOBS, Row, measure_row
from peers.instances import ROOT
from peers.tables import write_between_marks

OUT = ROOT / "build" / "bench-defaults"
MARKS = "<!-- bench-defaults: begin -->", "<!-- bench-defaults: end -->"


def parse_options(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser("defaults", description=__doc__)
    parser.add_argument(
        "--every", type=int, default=1, help="only every N-th case, no larger jobs"
    )
    parser.add_argument(
        "--machines", default="", help="only names with this prefix [all]"
    )
    parser.add_argument(
        "--jobs", type=int, default=cpu_count(), help="concurrent cases"
    )
    parser.add_argument(
        "--report",
        action="store_true",
        help="run nothing; print tables of earlier results",
    )
    parser.add_argument(
        "--docs", type=Path, metavar="FOLDER", help="write the tables to this folder"
    )
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line."""
    args = parse_options(argv)
    OUT.mkdir(parents=True, exist_ok=True)
    results, larger = OUT / "results.jsonl", OUT / "rows.jsonl"
    if not args.report:
        chosen = [case for case in cases() if case.machine.startswith(args.machines)]
        with results.open("w") as log, ProcessPoolExecutor(args.jobs) as pool:
            for run in pool.map(measure, chosen[:: args.every]):
                log.write(json.dumps(asdict(run)) + "\n")
                log.flush()
                print(format_line(run), file=sys.stderr, flush=True)
        if args.every == 1:
            rows = [json.dumps(asdict(measure_row(job))) + "\n" for job in JOBS]
            larger.write_text("".join(rows))
    runs = [Run(**json.loads(text)) for text in results.read_text().splitlines()]
    known = larger.read_text().splitlines() if larger.exists() else []
    text = tables.report(runs, [Row(**json.loads(row)) for row in known])
    print(text)
    print("\n".join(["worse than aimed at:", *(tables.list_misses(runs) or ["none"])]))
    if args.docs:
        write_between_marks(args.docs / "defaults.md", text, *MARKS)


def format_line(run: Run) -> str:
    """Print a line about a case."""
    ratio = run.ratio(BLOCK)
    return f"{run.case!s:60} {ratio:.3f} x launcher, search {run.seconds:.1f} s"


if __name__ == "__main__":
    main()
