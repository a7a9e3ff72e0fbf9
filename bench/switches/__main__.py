# SPDX-License-Identifier: BSD-3-Clause
"""Simulates chapter 8 of Kumar 2005, and compares tables; see ``--help``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from peers.tables import write_between_marks
from switches.studies import (
    NETWORKS,
    TRAFFICS,
    Curve,
    measure,
    simulate_multicasts,
    simulate_reductions,
)
from topoloom.support.units import format_bytes, format_seconds

MARKS = "<!-- bench-switches: begin -->", "<!-- bench-switches: end -->"


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser("switches", description=__doc__)
    parser.add_argument("--only", choices=STUDIES, help="only this study")
    parser.add_argument(
        "--docs", type=Path, metavar="FOLDER", help="write the tables to this folder"
    )
    args = parser.parse_args(argv)
    if args.only and args.docs:
        parser.error("--docs needs all studies; leave out --only")
    text = ""
    for name, study in STUDIES.items():
        if args.only in (None, name):
            for line in study():
                print(line, file=sys.stderr, flush=True)
                text += line + "\n"
            text += "\n"
    print(text)
    if args.docs:
        write_between_marks(
            args.docs / "reference" / "benchmarks" / "multicasts.md", text, *MARKS
        )


def _format_row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _format_head(*cells: str) -> Iterator[str]:
    yield _format_row(*cells)
    yield _format_row("---", *("---:" for _ in cells[1:]))


def _format_time(seconds: float | None) -> str:
    return "" if seconds is None else format_seconds(seconds)


def _tabulate_loads() -> Iterator[str]:
    """Yield F8.8-8.15: single packets on 256 nodes."""
    yield from _format_head(
        "256 nodes", "highest stable load", "throughput", "at 0.5", "0.8", "0.9"
    )
    for ports, network in NETWORKS.items():
        for packets in (2, 4):
            for traffic in TRAFFICS:
                loads = (0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 1.0)
                curve = measure(network, traffic, packets, loads)
                yield _format_row(
                    f"{ports} ports, {packets} packets, {traffic}",
                    f"{curve.highest:g}",
                    f"{curve.throughput:.2f}",
                    *(_format_time(curve.latency(load)) for load in (0.5, 0.8, 0.9)),
                )


def _tabulate_multicast_loads() -> Iterator[str]:
    """Yield F8.16-8.18: random multicasts."""
    yield from _format_head(
        "multicasts", "published", "highest stable load", "throughput", "at half of it"
    )
    eighth = [0.1, 0.15, 0.2, 0.22, 0.24, 0.26]
    half = [0.4, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9]

    def format_curve(name: str, published: str, curve: Curve) -> str:
        lower = min(curve.points, key=lambda load: abs(load - curve.highest / 2))
        return _format_row(
            name,
            published,
            f"{curve.highest:g}",
            f"{curve.throughput:.3f}",
            _format_time(curve.latency(lower)),
        )

    to_four = "multicast(fanout=4,sets=512)"
    two = "multicast(fanout=4,sets=512,senders=2)"
    for packets in (2, 4):
        yield format_curve(
            f"8x8, fanout 4, {packets} packets",
            "0.25",
            measure("fattree:8", to_four, packets, eighth),
        )
        yield format_curve(
            f"2x8, fanout 4, {packets} packets",
            "0.8",
            measure("fattree:10", two, packets, half),
        )
        for ports, network in NETWORKS.items():
            fine = [0.05, 0.06, 0.07, 0.08, 0.09, 0.1, 0.11, 0.12]
            yield format_curve(
                f"256 nodes, {ports} ports, fanout 8, {packets} packets",
                "below 0.125",
                measure(network, "multicast(fanout=8,sets=64)", packets, fine),
            )
    # Use cells of one flit, as in the literature on input-queued switches.
    for name, machine, traffic, published, loads in (
        ("8x8", "fattree:8", to_four, "0.22", eighth),
        ("2x8", "fattree:10", two, "0.65", half),
    ):
        for router in ("voq", "split-fanout", "whole-fanout"):
            by_cards = router == "voq"
            if by_cards and name == "2x8":
                # Two NICs that send every copy fill only a quarter of the outputs.
                continue
            curve = measure(
                machine,
                traffic.replace("multicast", "copies") if by_cards else traffic,
                16,
                loads,
                router=router,
                routing="own",
                packet=1,
                iterations=4 if by_cards else 1,
            )
            of = "voq" if name == "8x8" else "split-fanout"
            yield format_curve(
                f"{name}, fanout 4, {router}", published if router == of else "", curve
            )


def _tabulate_reductions() -> Iterator[str]:
    """F8.19."""
    sizes = (8, 32, 64, 128, 192, 256, 512, 1024)
    yield from _format_head("reduction", *map(format_bytes, sizes))
    for name, times in simulate_reductions(sizes):
        yield _format_row(
            name, *(_format_time(one.in_switches["least-loaded"]) for one in times)
        )


def _tabulate_multicasts() -> Iterator[str]:
    """F8.20-8.21."""
    yield from _format_head(
        "16 nodes to 16 each", "bytes", "in switches", "by cards", "ratio"
    )
    for ports, times in simulate_multicasts((256, 1024, 4096, 16384)):
        for one in times:
            fastest = one.in_switches["least-loaded"]
            messages = one.messages or 0.0
            yield _format_row(
                f"{ports} ports",
                format_bytes(one.bytes),
                _format_time(fastest),
                _format_time(messages),
                f"{messages / fastest:.2f}",
            )


STUDIES: dict[str, Callable[[], Iterator[str]]] = {
    "loads": _tabulate_loads,
    "fanouts": _tabulate_multicast_loads,
    "reductions": _tabulate_reductions,
    "multicasts": _tabulate_multicasts,
}


if __name__ == "__main__":
    main()
