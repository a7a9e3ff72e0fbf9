# SPDX-License-Identifier: BSD-3-Clause
"""Orders the axes of the jobs, and prints a table; see ``--help``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from axes.cases import CASES, Result, measure
from axes.figure import draw
from peers.tables import write_between_marks

MARKS = "<!-- bench-axes: begin -->", "<!-- bench-axes: end -->"


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser("axes", description=__doc__)
    parser.add_argument("--only", default="", help="only machines with this prefix")
    parser.add_argument(
        "--seconds",
        type=float,
        default=10,
        help="seconds of the mapper auto per job [10]",
    )
    parser.add_argument(
        "--docs",
        type=Path,
        metavar="FOLDER",
        help="write table and picture to this folder",
    )
    args = parser.parse_args(argv)
    results = []
    for case in CASES:
        if case.machine.startswith(args.only):
            results.append(measure(case, args.seconds))
            print(line(results[-1]), file=sys.stderr, flush=True)
    print(table(results))
    if args.docs:
        write_between_marks(
            args.docs / "reference" / "benchmarks" / "axes.md", table(results), *MARKS
        )
        draw(results, args.docs / "axes.svg")


def table(results: Sequence[Result]) -> str:
    """Format a table as Markdown."""
    rows = [
        "| machine | model | sizes | default | best name | best | `auto` | best order "
        "| by name | gain |",
        "| --- | --- | --- | ---: | ---: | ---: | ---: | --- | ---: | ---: |",
    ]
    for result in results:
        case, orders = result.case, result.orders
        totals = (
            *(order.total for order in (orders.given, orders.nested, orders.best)),
            result.auto,
        )
        words = (
            case.machine_name,
            case.model,
            case.sizes,
            *(f"{total:.3f}" for total in totals),
            f"`{orders.text(orders.best)}`",
            f"{result.gain(orders.nested):.1f} %",
            f"{result.gain(orders.best):.1f} %",
        )
        rows.append(f"| {' | '.join(words)} |")
    return "\n".join(rows) + "\n"


def line(result: Result) -> str:
    """Format the result of a job as one line."""
    case, orders = result.case, result.orders
    return (
        f"{case.machine_name:36} {case.model:16} {orders.given.total:7.3f} s, best "
        f"{orders.best.total:7.3f} s in {result.search:4.1f} s, auto {result.auto:7.3f}"
    )


if __name__ == "__main__":
    main()
