# SPDX-License-Identifier: BSD-3-Clause
"""Prints each pattern's bandwidths on the Cell's bus by affinity; see ``--help``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from peers.tables import write_between_marks
from ring_bus.cases import PATTERNS, SIZES, Bandwidths, compute_rates_by_size, measure
from ring_bus.figure import draw
from ring_bus.particles import compute_threshold_time, simulate_particles
from topoloom.support.units import format_bytes
from topoloom.tasks.bus.affinity import BEST, BandwidthRange
from topoloom.tasks.bus.named_affinities import NAMED

MARKS = "<!-- bench-ring-bus: begin -->", "<!-- bench-ring-bus: end -->"
PAGE = Path("how-to") / "place" / "ring-bus.md"


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser("ring-bus", description=__doc__)
    parser.add_argument(
        "--docs",
        type=Path,
        metavar="FOLDER",
        help="write tables and picture to this folder",
    )
    args = parser.parse_args(argv)
    found = [measure(pattern) for pattern in PATTERNS]
    text = "\n".join([patterns_table(found), sizes_table(), particles_table()])
    print(text)
    if args.docs:
        write_between_marks(args.docs / PAGE, text, *MARKS)
        draw(found, args.docs / PAGE.with_suffix(".svg"))


def patterns_table(found: Sequence[Bandwidths]) -> str:
    """Print the bandwidth of the slowest message for every pattern and affinity."""
    names = (*NAMED, BEST)
    rows = [
        format_row("slowest, GB/s", *names, "8 random"),
        format_row("---", *["---:"] * (len(names) + 1)),
    ]
    for one in found:
        drawn = one.drawn
        rows.append(
            format_row(
                PATTERNS[one.pattern],
                *(format_rates(one.by_affinity[name]) for name in names),
                f"{drawn.mean / 1e9:.1f} ± {drawn.deviation / 1e9:.1f}",
            )
        )
    return "\n".join(rows) + "\n"


def sizes_table() -> str:
    """Print, by message size, the bandwidth of the slowest message of pattern RD 1."""
    rows = [
        format_row("RD 1, GB/s", *map(format_bytes, SIZES)),
        format_row("---", *["---:"] * len(SIZES)),
    ]
    for name, rates in compute_rates_by_size("rd1").items():
        rows.append(format_row(name, *map(format_rates, rates)))
    return "\n".join(rows) + "\n"


def particles_table() -> str:
    """Print the particle program's communication time, and up to when it matters."""
    found = simulate_particles()
    fast = found[BEST].mean
    rows = [
        format_row(
            "particles", "communication, us", "over best", "10 % in total up to"
        ),
        format_row("---", "---:", "---:", "---:"),
    ]
    for name, one in found.items():
        spread = dict.fromkeys(
            f"{s * 1e6:.0f}" for s in (one.best, one.mean, one.worst)
        )
        computing = compute_threshold_time(one.mean, fast)
        rows.append(
            format_row(
                name,
                " ".join(spread),
                f"{one.mean / fast:.2f}",
                f"{computing:.1f}" if computing > 0 else "",
            )
        )
    return "\n".join(rows) + "\n"


def format_row(*words: str) -> str:
    """Write a row of a Markdown table."""
    return f"| {' | '.join(words)} |"


def format_rates(rate: BandwidthRange) -> str:
    """Format worst, mean and best, or one number if they are equal."""
    return " ".join(dict.fromkeys(f"{one / 1e9:.1f}" for one in rate))


if __name__ == "__main__":
    main()
