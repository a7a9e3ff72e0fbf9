# SPDX-License-Identifier: BSD-3-Clause
"""Proves lower bounds on the objectives, and how far above them a placement is."""

from __future__ import annotations

from time import perf_counter
from typing import Any

from topoloom._core import Sharing, find_bounds, judge
from topoloom.placements.congestion_lp import relax_congestion
from topoloom.tasks.optimality_gap import gap
from topoloom.tasks.placement_problem import PlacementProblem
from topoloom.tasks.search import UNLIMITED, Progress, Search, go_on
from topoloom.tasks.sharing import NO_SHARING


def prove_bounds(
    given: PlacementProblem,
    *,
    search: Search = UNLIMITED,
    sharing: Sharing = NO_SHARING,
    lp: bool = False,
    progress: Progress = go_on,
) -> dict[str, dict[str, Any]]:
    """Prove a bound on hop-bytes and on congestion.

    Each has its ``bound`` and what it is proven ``by``; with a placement also the
    ``value`` and the ``gap``. Congestion says ``where``, and with `lp`, a linear
    relaxation, the ``rounded`` value, unless the time was too short.
    """
    start = perf_counter()
    relaxation, left = None, search.seconds
    if lp:
        relaxation = relax_congestion(given.graph, given.allocation, left, progress)
    if left is not None:
        left = max(0.0, left - (perf_counter() - start))
    bounds = find_bounds(
        given.graph,
        given.allocation,
        sharing=sharing,
        seconds=left,
        work=search.work,
        threads=search.threads,
        progress=progress,
    )
    found: dict[str, dict[str, Any]] = {
        "hop_bytes": {"bound": bounds.hop_bytes, "by": bounds.hop_bytes_by},
        "congestion_max": {
            "bound": bounds.congestion,
            "by": bounds.congestion_by,
            "where": bounds.congestion_where,
        },
    }
    if relaxation is not None:
        congestion = found["congestion_max"]
        if relaxation.bound > congestion["bound"]:
            congestion.update(bound=relaxation.bound, by="lp", where="")
        congestion["rounded"] = relaxation.congestion
    if given.file is not None:
        judgement = judge(given.graph, given.allocation, given.file.placement)
        for name, entry in found.items():
            value = getattr(judgement, name)
            entry["value"] = value
            entry["gap"] = gap(value, entry["bound"])
    return found
