# SPDX-License-Identifier: BSD-3-Clause
"""Simulates placements with SimGrid, and prints a table; see ``--help``."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from itertools import product
from os import cpu_count
from pathlib import Path

from peers.instances import ROOT
from peers.tables import write_between_marks
from validation import figure, packets, tables
from validation.cases import MACHINES, PATTERNS
from validation.measure import Run, correlation, measure
from validation.packets import PacketRun, measure_packets

OUT = ROOT / "build" / "bench-validation"
MARKS = "<!-- bench-validation: begin -->", "<!-- bench-validation: end -->"
PACKET_MARKS = "<!-- bench-packets: begin -->", "<!-- bench-packets: end -->"


def parse_options(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser("validation", description=__doc__)
    parser.add_argument(
        "--machines", default="", help="only names with this prefix [all]"
    )
    parser.add_argument(
        "--patterns", default="", help="only names with this prefix [all]"
    )
    parser.add_argument(
        "--jobs", type=int, default=cpu_count(), help="concurrent cases"
    )
    parser.add_argument(
        "--switches", action="store_true", help="simulate packet by packet"
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
        help="write table and picture to this folder",
    )
    args = parser.parse_args(argv)
    args.cases = [
        (machine, pattern)
        for machine, pattern in product(MACHINES, PATTERNS)
        if machine.startswith(args.machines) and pattern.startswith(args.patterns)
    ]
    if not args.cases:
        parser.error("no machine or no pattern has a name that begins so")
    return args


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line."""
    args = parse_options(argv)
    OUT.mkdir(parents=True, exist_ok=True)
    if args.switches:
        _simulate_switches(args)
        return
    file = OUT / "results.jsonl"
    if not args.report:
        with file.open("w") as log, ProcessPoolExecutor(args.jobs) as pool:
            for runs in pool.map(measure, *zip(*args.cases, strict=True)):
                log.write("".join(json.dumps(asdict(run)) + "\n" for run in runs))
                log.flush()
                print(format_line(runs), file=sys.stderr, flush=True)
    found = [Run(**json.loads(text)) for text in file.read_text().splitlines()]
    print(tables.report(found))
    print(
        "\n".join(["below the aim:", *(tables.list_missed_targets(found) or ["none"])])
    )
    for kind in ("svg", "png"):
        figure.draw(found, OUT / f"validation.{kind}")
    if args.docs:
        write_between_marks(args.docs / "validation.md", tables.report(found), *MARKS)
        figure.draw(found, args.docs / "validation.svg")


def _simulate_switches(args: argparse.Namespace) -> None:
    file = OUT / "packets.jsonl"
    if not args.report:
        with file.open("w") as log, ProcessPoolExecutor(args.jobs) as pool:
            found = pool.map(measure_packets, *zip(*args.cases, strict=True))
            for case, runs in zip(args.cases, found, strict=True):
                log.write("".join(json.dumps(asdict(run)) + "\n" for run in runs))
                log.flush()
                what = f"{len(runs)} placements" if runs else "took too long"
                print(f"{', '.join(case)}: {what}", file=sys.stderr, flush=True)
    table = packets.report(
        [PacketRun(**json.loads(text)) for text in file.read_text().splitlines()]
    )
    print(table)
    if args.docs:
        write_between_marks(args.docs / "validation.md", table, *PACKET_MARKS)


def format_line(runs: Sequence[Run]) -> str:
    """Print a line about a case."""
    numbers = [
        f"{name} {0 if found is None else found:.3f}"
        for name in ("hop_bytes", "congestion", "time")
        for found in [correlation(runs, name)]
    ]
    case = f"{runs[0].machine}, {runs[0].pattern}"
    return f"{case:60} {len(runs)} placements: {', '.join(numbers)}"


if __name__ == "__main__":
    main()
