# SPDX-License-Identifier: BSD-3-Clause
"""Maps two hundred grids by every mapper and prints inter-node bytes."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import track

from tiles.cases import Case, cases
from tiles.figure import draw
from tiles.measure import OURS, InterNodeBytes, measure
from tiles.peers import PEERS
from topoloom.cli.console import print_table


def main() -> None:
    """Run the command line; fail if another mapper is better than `tile`."""
    parser = argparse.ArgumentParser("tiles", description=__doc__)
    parser.add_argument("--every", type=int, default=1, help="only every N-th case")
    parser.add_argument("--auto", action="store_true", help="also run the mapper auto")
    parser.add_argument(
        "--figure",
        type=Path,
        help="run nothing; draw the picture of the docs to this file",
    )
    args = parser.parse_args()
    if args.figure:
        draw(args.figure)
        return
    chosen = list(cases())[:: args.every]
    console = Console(stderr=True)
    runs = [
        (case, measure(case, args.auto))
        for case in track(chosen, "blocking", console=console)
    ]
    print_report(runs)
    behind = [
        f"{case.name}: {way} {found[way].total:,}, {OURS} {found[OURS].total:,}"
        for case, found in runs
        for way in PEERS
        if found[way].total < found[OURS].total
    ]
    if behind:
        sys.exit("\n".join(behind))


def print_report(runs: Sequence[tuple[Case, dict[str, InterNodeBytes]]]) -> None:
    """Print inter-node bytes relative to `tile`, in total and on the busiest node."""
    rows = []
    for way in runs[0][1]:
        total = ratios(runs, way, "total")
        worst = ratios(runs, way, "worst")
        rows.append(
            [
                way,
                f"{geometric_mean(total):.3f}",
                f"{max(total):.2f}",
                str(sum(r > 1 for r in total)),
                str(sum(r < 1 for r in total)),
                f"{geometric_mean(worst):.3f}",
                str(sum(r < 1 for r in worst)),
                f"{1e3 * np.median([found[way].seconds for _, found in runs]):.1f} ms",
            ]
        )
    print_table(
        [
            "mapper",
            "bytes / ours",
            "at most",
            "more than ours",
            "fewer",
            "worst node / ours",
            "fewer",
            "time",
        ],
        rows,
        title=f"{len(runs)} grids: bytes that leave their node",
    )


def ratios(
    runs: Sequence[tuple[Case, dict[str, InterNodeBytes]]], way: str, what: str
) -> list[float]:
    """Return ratios to `tile` by case, without cases that have no inter-node bytes."""
    return [
        getattr(found[way], what) / getattr(found[OURS], what)
        for _, found in runs
        if getattr(found[OURS], what)
    ]


def geometric_mean(values: Sequence[float]) -> float:
    """Return the geometric mean."""
    return float(np.exp(np.mean(np.log(values))))


if __name__ == "__main__":
    main()
