# SPDX-License-Identifier: BSD-3-Clause
"""Places the patterns by all mappers, and prints tables; see ``--help``."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from os import cpu_count
from pathlib import Path

from contention import cases, figure, tables
from contention.cases import Case
from contention.measure import OURS, Run, list_impossible_runs, measure
from contention.patterns import PATTERNS, PUBLISHED
from peers.instances import ROOT
from peers.tables import write_between_marks

OUT = ROOT / "build" / "bench-contention"
MARKS = "<!-- bench-contention: begin -->", "<!-- bench-contention: end -->"


def options(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        "contention", description="The busiest link under placements that aim at it."
    )
    parser.add_argument(
        "--patterns",
        type=lambda text: text.split(","),
        default=list(PATTERNS),
        help=f"of {', '.join(PATTERNS)}; all",
    )
    parser.add_argument(
        "--sizes",
        type=lambda text: [int(word) for word in text.split(",")],
        default=list(cases.TABLE_SIZES),
        help="published numbers of ranks [all]",
    )
    parser.add_argument("--seeds", type=int, default=3, help="ragged allocations [3]")
    parser.add_argument(
        "--jobs", type=int, default=cpu_count(), help="concurrent cases"
    )
    parser.add_argument(
        "--report",
        action="store_true",
        help="run nothing; print tables of earlier results",
    )
    parser.add_argument(
        "--docs",
        type=Path,
        metavar="FOLDER",
        help="write tables and pictures to this folder",
    )
    args = parser.parse_args(argv)
    for name in args.patterns:
        if name not in PATTERNS:
            parser.error(f"no pattern {name!r}; there are {', '.join(PATTERNS)}")
    return args


def main() -> None:
    """Run the command line."""
    args = options()
    OUT.mkdir(parents=True, exist_ok=True)
    file = OUT / "results.jsonl"
    if not args.report:
        asked_cases = [
            *cases.published(args.patterns, args.sizes, args.seeds),
            *cases.choice(args.patterns, args.sizes),
        ]
        with file.open("w") as log, ProcessPoolExecutor(args.jobs) as pool:
            for found in pool.map(measure, asked_cases):
                log.write("".join(json.dumps(asdict(run)) + "\n" for run in found))
                log.flush()
                print(line(found), file=sys.stderr, flush=True)
    runs = load(file)
    if errors := list_impossible_runs(runs):
        sys.exit("\n".join(errors))
    results = tables.Results(runs)
    print(tables.report(results))
    print(tables.choice(results))
    for kind in ("svg", "png"):
        draw(results, OUT, kind)
    if args.docs:
        page = args.docs / "reference" / "benchmarks" / "busiest-link.md"
        write_between_marks(page, tables.report(results), *MARKS)
        write_between_marks(
            args.docs / "which-objective.md", tables.choice(results), *MARKS
        )
        draw(results, args.docs, "svg")


def line(runs: Sequence[Run]) -> str:
    """Format a line about a case; the last of its runs is the bound."""
    case = runs[0].case
    ours = next(run for run in runs if run.way == OURS)
    least = min(runs[:-1], key=lambda run: run.congestion)
    return (
        f"{case.machine:12} {case.pattern:18} {case.ranks:3} ranks, seed {case.seed}: "
        f"{ours.congestion * 1e6:9.2f} us, least {least.congestion * 1e6:9.2f} us by "
        f"{least.way}, {ours.search_cpu:5.2f} CPU s"
    )


def draw(results: tables.Results, folder: Path, kind: str) -> None:
    """Draw the available results."""
    shown = {(case.pattern, case.ranks) for case in results.of("published").cases}
    if shown >= {(p, n) for p in PUBLISHED for n in cases.FIGURE_SIZES}:
        figure.published(results, folder / f"contention.{kind}")
    if results.of("choice").cases:
        figure.choice(results, folder / f"which-objective.{kind}")


def load(file: Path) -> list[Run]:
    """Read saved results."""
    lines = map(json.loads, file.read_text().splitlines())
    return [Run(**{**line, "case": Case(**line["case"])}) for line in lines]


if __name__ == "__main__":
    main()
