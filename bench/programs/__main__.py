# SPDX-License-Identifier: BSD-3-Clause
"""Simulates programs of many ranks in switches, and prints a table; see ``--help``."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from peers.tables import write_between_marks
from programs.cases import CASES
from topoloom.support.units import format_count, format_seconds

MARKS = "<!-- bench-programs: begin -->", "<!-- bench-programs: end -->"
HEAD = (
    "| program | switches | threads | simulated time | flits that cross a switch "
    "| takes | memory |\n"
    "| --- | --- | ---: | ---: | ---: | ---: | ---: |\n"
)


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser("programs", description=__doc__)
    parser.add_argument("--only", default="", help="only programs with this prefix")
    parser.add_argument(
        "--router",
        choices=("output-queued", "input-queued"),
        default="output-queued",
        help="kind of router [output-queued, as in simulate]",
    )
    parser.add_argument("--flit", type=int, default=64, help="bytes of a flit [64]")
    parser.add_argument("--threads", type=int, default=1, help="threads [1]")
    parser.add_argument(
        "--docs", type=Path, metavar="FOLDER", help="write the table to this folder"
    )
    args = parser.parse_args(argv)
    text = HEAD
    for name in CASES:
        if not name.startswith(args.only):
            continue
        found = _run(name, args.router, args.flit, args.threads)
        simulated = format_seconds(found["simulated_seconds"])
        line = (
            f"| {name} | {args.router} | {args.threads} | {simulated} "
            f"| {format_count(found['flit_hops'])} | {found['seconds']:.0f} s "
            f"| {found['mebibytes']:,.0f} MiB |\n"
        )
        print(line, end="", file=sys.stderr, flush=True)
        text += line
    print(text)
    if args.docs:
        write_between_marks(
            args.docs / "reference" / "benchmarks" / "switches.md", text, *MARKS
        )


def _run(name: str, router: str, flit: int, threads: int) -> dict[str, Any]:
    words = [sys.executable, "-m", "programs.cases", name, router]
    words += [str(flit), str(threads)]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


if __name__ == "__main__":
    main()
