# SPDX-License-Identifier: BSD-3-Clause
"""Proves lower bounds on the objectives, and computes the gap of a placement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from topoloom._core import CommGraph, Sharing, find_bounds, judge
from topoloom.placements.congestion_lp import relax_congestion
from topoloom.placements.fixed_bounds import raise_bounds
from topoloom.placements.measures import collect_measures
from topoloom.tasks.objective import predict_time
from topoloom.tasks.optimality_gap import QUICK_WORK, compute_gap
from topoloom.tasks.placement_problem import PlacementProblem
from topoloom.tasks.search import UNLIMITED, Progress, Search, always_continue
from topoloom.tasks.sharing import NO_SHARING, has_shared_slots

if TYPE_CHECKING:
    from topoloom.documents.placements import BoundDocument, LowerBound, LowerBounds


@dataclass(frozen=True)
class Bound:
    """A lower bound, its proof method, and the value of a placement."""

    bound: float
    by: str
    where: str = ""  # the part or rank that determines a bound on congestion or time
    value: float | None = None

    @property
    def gap(self) -> float | None:
        """The optimality gap, value / bound; None for a bound of 0."""
        return None if self.value is None else compute_gap(self.value, self.bound)


@dataclass(frozen=True)
class ProvenBounds:
    """Lower bounds by measure; predicted time is first if bandwidths are known."""

    given: PlacementProblem
    bounds: dict[str, Bound]
    rounded: float | None = None  # congestion of the rounded LP solution

    def document(self) -> BoundDocument:
        """Return the fields of the ``--json`` output."""
        entries: dict[str, LowerBound] = {}
        for name, one in self.bounds.items():
            entry: LowerBound = {"at_least": one.bound, "proved_by": one.by}
            if name != "hop_bytes":
                entry["where"] = one.where
            if name == "congestion_max" and self.rounded is not None:
                entry["rounded"] = self.rounded
            if one.value is not None:
                entry["value"], entry["gap"] = one.value, one.gap
            entries[name] = entry
        return {
            "machine": self.given.allocation.machine.text,
            "nodes": len(self.given.allocation.nodes),
            "ranks": self.given.graph.rank_count,
            **cast("LowerBounds", entries),
        }


def prove_bounds(
    given: PlacementProblem,
    phases: Sequence[CommGraph] = (),
    *,
    search: Search = UNLIMITED,
    sharing: Sharing = NO_SHARING,
    lp: bool = False,
    progress: Progress = always_continue,
    background: NDArray[np.float64] | None = None,
) -> ProvenBounds:
    """Prove lower bounds on hop-bytes, congestion and time, and measure the placement.

    The predicted time is summed over `phases`; by default the graph is one phase. With
    `lp`, a linear relaxation of congestion is also solved if the time limit allows.
    With a background, bytes of other jobs by link id, the bounds on congestion and time
    include it; the relaxation does not.
    """
    graph, allocation = given.graph, given.allocation
    start = perf_counter()
    relaxation, left = None, search.seconds
    if lp:
        relaxation = relax_congestion(graph, allocation, left, progress)
    if left is not None:
        left = max(0.0, left - (perf_counter() - start))
    proven = find_bounds(
        graph,
        allocation,
        phases=phases,
        sharing=sharing,
        seconds=left,
        work=search.work,
        threads=search.threads,
        progress=progress,
        background=background,
    )
    found = raise_bounds(
        proven,
        graph,
        allocation,
        phases,
        given.fixed,
        has_shared_slots(sharing, graph, allocation),
        prove=lambda part: find_bounds(
            part, allocation, sharing=sharing, work=QUICK_WORK
        ),
    )
    time, congestion = "predicted_seconds", "congestion_max"
    if background is not None:
        time, congestion = f"{time}_with_background", "congestion_with_background"
    bounds = {}
    if found.time is not None:
        bounds[time] = Bound(found.time, found.time_by, found.time_where)
    bounds["hop_bytes"] = Bound(found.hop_bytes, found.hop_bytes_by)
    bounds[congestion] = Bound(
        found.congestion, found.congestion_by, found.congestion_where
    )
    if relaxation is not None and relaxation.bound > found.congestion:
        bounds[congestion] = Bound(relaxation.bound, "lp")
    if given.file is not None:
        on = (graph, allocation, given.file.placement)
        values = predict_time(*on, phases, background)
        values |= collect_measures(judge(*on, background=background), given.shared)
        bounds = {
            name: replace(one, value=values[name]) for name, one in bounds.items()
        }
    rounded = None if relaxation is None else relaxation.congestion
    return ProvenBounds(given, bounds, rounded)
