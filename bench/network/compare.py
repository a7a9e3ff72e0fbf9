# SPDX-License-Identifier: BSD-3-Clause
"""Runs all simulators on each network, and formats tables of the results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from math import isnan
from pathlib import Path

from network import booksim, caminos, ours
from network.cases import Case, Point

SATURATED = 1.0


@dataclass
class SimulatorComparison:
    """Results of each simulator by load; the last load is saturated."""

    case: Case
    ours: list[Point] = field(default_factory=list)
    booksim: list[Point] = field(default_factory=list)
    caminos: list[Point] = field(default_factory=list)


def compare(
    cases: Sequence[Case], book: Path, walk: Path, jobs: int
) -> Iterator[SimulatorComparison]:
    """Simulate networks with all simulators; several loads run concurrently."""
    with ProcessPoolExecutor(jobs) as pool:
        submitted = [
            [
                (
                    pool.submit(booksim.run, book, case, load, load == SATURATED),
                    pool.submit(caminos.run, walk, case, load),
                    pool.submit(ours.run, case, load),
                )
                for load in (*case.loads, SATURATED)
            ]
            for case in cases
        ]
        for case, points in zip(cases, submitted, strict=True):
            found = SimulatorComparison(case)
            for others, walks, own in points:
                found.booksim.append(others.result())
                found.caminos.append(walks.result())
                routers = found.booksim[-1].routers
                found.ours.append(replace(own.result(), routers=routers))
            yield found


def format_latencies(compared: Sequence[SimulatorComparison]) -> str:
    """Format the table of latencies and throughputs as Markdown."""
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
                what, values = (
                    f"{own.offered:g}",
                    [p.latency for p in (own, book, walk)],
                )
                digits = 1
            difference = 100 * (values[0] / values[1] - 1)
            cells = [
                "stands still" if isnan(value) or value == 0 else f"{value:.{digits}f}"
                for value in values
            ]
            rows.append(
                f"| {one.case.name} | {what} | {cells[0]} | {cells[1]} "
                f"| {difference:+.1f} % | {cells[2]} |"
            )
    return "\n".join(rows) + "\n"


def format_speeds(compared: Sequence[SimulatorComparison], load: float) -> str:
    """Format flit-hops per CPU second at a load as Markdown."""
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
