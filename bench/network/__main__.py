# SPDX-License-Identifier: BSD-3-Clause
"""Compares our switches with other simulators, and prints tables; see ``--help``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from network import booksim, caminos, ours
from network.cases import CASES
from network.compare import compare, format_latencies, format_speeds
from network.figure import draw
from peers.tables import write_between_marks

MARKS = "<!-- bench-network: begin -->", "<!-- bench-network: end -->"
SPEED_LOAD = 0.3
THREADS_CASE = "8x8x8 torus"


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser("network", description=__doc__)
    parser.add_argument(
        "--booksim",
        type=Path,
        required=True,
        metavar="FOLDER",
        help="a clone of the repository booksim/booksim2",
    )
    parser.add_argument("--only", default="", help="only networks with this prefix")
    parser.add_argument(
        "--jobs", type=int, default=2, help="concurrent simulations [2]"
    )
    parser.add_argument(
        "--docs",
        type=Path,
        metavar="FOLDER",
        help="write tables and picture to this folder",
    )
    args = parser.parse_args(argv)
    home = Path("build/bench-network").absolute()
    home.mkdir(parents=True, exist_ok=True)
    book, walk = booksim.build(args.booksim, home), caminos.build(home / "caminos")
    cases = [case for case in CASES if case.name.startswith(args.only)]
    compared = []
    for one in compare(cases, book, walk, args.jobs):
        compared.append(one)
        print(format_latencies([one]), file=sys.stderr, flush=True)
    text = f"{format_latencies(compared)}\n{format_speeds(compared, SPEED_LOAD)}"
    for case in cases:
        if case.name == THREADS_CASE:
            ratios = ours.speedups(case, SPEED_LOAD, 2)
            text += (
                f"\nTwo threads, {case.name}, load {SPEED_LOAD}: "
                f"{ratios[len(ratios) // 2]:.2f} times as fast as one "
                f"({ratios[0]:.2f} to {ratios[-1]:.2f}).\n"
            )
    print(text)
    if args.docs:
        write_between_marks(
            args.docs / "reference" / "benchmarks" / "switches.md", text, *MARKS
        )
        draw(compared, args.docs / "reference" / "benchmarks" / "network-loads.svg")


if __name__ == "__main__":
    main()
