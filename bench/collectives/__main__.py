# SPDX-License-Identifier: BSD-3-Clause
"""Chooses schedules and orders, and prints a table; see ``--help``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import geometric_mean

from collectives.cases import MACHINES, SIZES, Result, measure
from peers.tables import paste

MARKS = "<!-- bench-collectives: begin -->", "<!-- bench-collectives: end -->"


def main(given: Sequence[str] | None = None) -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser("collectives", description=__doc__)
    parser.add_argument("--only", default="", help="machines whose names begin so")
    parser.add_argument(
        "--docs", type=Path, metavar="FOLDER", help="put the table there"
    )
    asked = parser.parse_args(given)
    results = []
    for machine in MACHINES:
        for size in SIZES if machine.startswith(asked.only) else ():
            results.append(measure(machine, size))
            print(line(results[-1]), file=sys.stderr, flush=True)
    print(table(results))
    if asked.docs:
        paste(asked.docs / "reference" / "benchmarks.md", table(results), *MARKS)


def table(results: Sequence[Result]) -> str:
    """Write a table as Markdown; times are microseconds."""
    rows = [
        "| machine | model | bytes | at once | MPI's usual | | best schedule "
        "| best order, too | | times as fast |",
        "| --- | --- | ---: | ---: | ---: | --- | ---: | ---: | --- | ---: |",
    ]
    for r in results:
        times = (f"{1e6 * t:,.0f}" for t in (r.direct, r.usual))
        ours = (f"{1e6 * t:,.0f}" for t in (r.alone, r.together))
        words = (r.machine, r.model, r.bytes, *times, r.usual_name, *ours, r.name)
        rows.append(f"| {' | '.join(map(str, words))} | {r.gain:.2f} |")
    mean = geometric_mean(r.gain for r in results)
    rows.append(f"| **all** | | | | | | | | | **{mean:.2f}** |")
    return "\n".join(rows)


def line(r: Result) -> str:
    """Write a result for people who wait."""
    return (
        f"{r.machine:12} {r.bytes:5} B  {r.usual_name} {1e6 * r.usual:8.1f} us, ours "
        f"{r.name} {1e6 * r.together:8.1f} us: {r.gain:.2f} times as fast, "
        f"chosen in {r.took:.1f} s"
    )


if __name__ == "__main__":
    main()
