# SPDX-License-Identifier: BSD-3-Clause
"""Places a case by every mapper, and measures the placements."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import NamedTuple

from contention.cases import Case
from topoloom import find_bounds, place
from topoloom.placements import objective_value


class MapperRun(NamedTuple):
    """A mapper and its objective: a column of the tables."""

    name: str
    mapper: str
    objective: str = "hop-bytes"


DEFAULT, RIVAL, BOUND = "default", "emahd+local-opt", "bound"
EMAHD_ON_LINKS = "emahd, congestion"
OURS, NEAR, TIMED = "auto, congestion", "auto, hop-bytes", "auto, time"

#: Mappers on the ragged torus: published, ours, and others for hop-bytes.
PUBLISHED = (
    MapperRun(DEFAULT, "block"),
    *(MapperRun(name, name) for name in ("gge", "mahd", "grasp", "emahd")),
    MapperRun(EMAHD_ON_LINKS, "emahd", "congestion"),
    MapperRun(RIVAL, RIVAL, "congestion"),
)
AIMED = (MapperRun(NEAR, "auto"), MapperRun(OURS, "auto", "congestion"))
MORE = tuple(
    MapperRun(name, name)
    for name in ("multisection+swap", "multisection+anneal", "multisection+tabu")
)
WAYS = {
    "published": (*PUBLISHED, *MORE, *AIMED),
    "choice": (PUBLISHED[0], *AIMED, MapperRun(TIMED, "auto", "time")),
}
BY_HOP_BYTES = tuple(
    way.name
    for way in WAYS["published"]
    if way.objective == "hop-bytes" and way.name != DEFAULT
)


@dataclass(frozen=True)
class Run:
    """One placement of a case; for `BOUND`, the lower bounds of all placements.

    Attributes
    ----------
    byte_count
        Total bytes of all messages.
    congestion, time
        Seconds, summed over rounds if there are any. Time has no bound.
    search_cpu
        CPU seconds on one thread.
    """

    case: Case
    way: str
    byte_count: int
    congestion: float
    hop_bytes: float
    time: float | None
    search_cpu: float


def measure(case: Case) -> list[Run]:
    """Place a case by every mapper, then compute bounds.

    The bound holds for all rounds at once; the sum over rounds is never smaller. More
    work would only improve the bound of hop-bytes.
    """
    graph, allocation, phases = case.graph(), case.allocation(), case.phases()
    runs = []
    for way in WAYS[case.study]:
        start = time.process_time()
        placement = place(
            graph,
            allocation,
            way.mapper,
            objective=way.objective,
            phases=phases,
            threads=1,
        ).placement
        seconds = time.process_time() - start
        congestion, hop_bytes, whole = (
            objective_value(graph, allocation, placement, objective=name, phases=phases)
            for name in ("congestion", "hop-bytes", "time")
        )
        values = (graph.total_bytes, congestion, hop_bytes, whole)
        runs.append(Run(case, way.name, *values, seconds))
    start = time.process_time()
    bounds = find_bounds(graph, allocation, work=10**8, threads=1)
    seconds = time.process_time() - start
    proven = (graph.total_bytes, bounds.congestion, bounds.hop_bytes, None)
    return [*runs, Run(case, BOUND, *proven, seconds)]


def list_impossible_runs(runs: list[Run]) -> list[str]:
    """List placements with values below the proven bound; any such value is a bug."""
    proven = {run.case: run for run in runs if run.way == BOUND}
    return [
        f"{run.case}: {run.way} has {name} {getattr(run, name):g}, below the bound "
        f"{getattr(proven[run.case], name):g}"
        for run in runs
        for name in ("congestion", "hop_bytes")
        if getattr(run, name) < getattr(proven[run.case], name) * (1 - 1e-9)
    ]
