# SPDX-License-Identifier: BSD-3-Clause
"""The simulators beside each other on a network, and what tables say of that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isnan
from pathlib import Path

from network import booksim, caminos, ours
from network.cases import Case, Point

SATURATED = 1.0


@dataclass
class Compared:
    """Points of each simulator, by load; the last one is saturated."""

    case: Case
    ours: list[Point] = field(default_factory=list)
    booksim: list[Point] = field(default_factory=list)
    caminos: list[Point] = field(default_factory=list)


def compare(case: Case, book: Path, walk: Path) -> Compared:
    """Simulate a network with all simulators."""
    found = Compared(case)
    for load in (*case.loads, SATURATED):
        book_point = booksim.run(book, case, load, saturated=load == SATURATED)
        found.booksim.append(book_point)
        found.caminos.append(caminos.run(walk, case, load))
        found.ours.append(ours.run(case, load, book_point.routers))
    return found


def latencies(compared: Sequence[Compared]) -> str:
    """Write the table of latencies and throughputs as Markdown."""
    rows = [
        "| network | load | ours | BookSim 2 | difference | CAMINOS |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for one in compared:
        for own, book, walk in zip(one.ours, one.booksim, one.caminos, strict=True):
            if own.offered == SATURATED:
                what, values = "throughput", [p.accepted for p in (own, book, walk)]
                digits = 3
            else:
                what, values = f"{own.offered:g}", [p.latency for p in (own, book, walk)]
                digits = 1
            difference = 100 * (values[0] / values[1] - 1)
            cells = [
                "stands still" if isnan(value) else f"{value:.{digits}f}"
                for value in values
            ]
            rows.append(
                f"| {one.case.name} | {what} | {cells[0]} | {cells[1]} "
                f"| {difference:+.1f} % | {cells[2]} |"
            )
    return "\n".join(rows) + "\n"


def speeds(compared: Sequence[Compared], load: float) -> str:
    """Write flit-hops per second of the processor at a load as Markdown."""
    rows = [
        "| network | ours, M/s | BookSim 2 | CAMINOS |",
        "| --- | ---: | ---: | ---: |",
    ]
    for one in compared:
        at = one.case.loads.index(load)
        speed = [
            f"{points[at].flit_hops(one.case.nodes) / 1e6:.2f}"
            for points in (one.ours, one.booksim, one.caminos)
        ]
        rows.append(f"| {one.case.name} | {' | '.join(speed)} |")
    return "\n".join(rows) + "\n"
