# SPDX-License-Identifier: BSD-3-Clause
"""Collects what is known about a placement: values, bounds, times of a recorded run."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from topoloom._core import Allocation, CommGraph, latency_share
from topoloom.tasks.advice.rules import MODEL_ERROR, Advice, Evidence, advise
from topoloom.tasks.objective import Objective
from topoloom.tasks.optimality_gap import Gaps, compute_gaps, prove_quick_bounds
from topoloom.tasks.problem import place_like_launcher

_TIME = "predicted_seconds"
#: Measure -> texts about smaller and larger values.
_TEXTS = {
    _TIME: ("less predicted communication time", "more predicted communication time"),
    "hop_bytes": ("fewer hop-bytes", "more hop-bytes"),
    "congestion_max": ("less congestion", "more congestion"),
}


class Judged(NamedTuple):
    """Values of the launcher's order, and of a placement of the same ranks.

    `gaps` has the gaps of the launcher's order if its bounds are known, and `least` a
    bound on the objective that the mapper proved. `capacities` are those of the slots
    if ranks share them. The last four are as in `Evidence`.
    """

    graph: CommGraph
    allocation: Allocation
    objective: Objective
    before: Mapping[str, float]
    after: Mapping[str, float]
    shared: bool = False
    capacities: Sequence[float] = ()
    gaps: Gaps | None = None
    least: float | None = None
    mpi_share: float | None = None
    use: str = ""
    fixed: bool = False
    remedy: str = ""


def advise_on(judged: Judged) -> Advice:
    """Advise what to do with a placement.

    If bounds are not given, they are proved only if the placement gains little.
    """
    measure = choose_measure(judged.objective, judged.before)
    less, more = _TEXTS.get(
        measure,
        (f"less {judged.objective.title}", f"more {judged.objective.title}"),
    )
    found = Evidence(
        measure,
        less,
        more,
        judged.before[measure],
        judged.after[measure],
        _find_proven_bound(judged, measure),
        mpi_share=judged.mpi_share,
        use=judged.use,
        fixed=judged.fixed,
        remedy=judged.remedy,
    )
    if abs(found.gain) >= MODEL_ERROR:
        return advise(found)
    if found.bound is None and judged.gaps is None and not judged.shared:
        # Bounds are valid only for one rank per slot.
        bounds = prove_quick_bounds(
            judged.graph, judged.allocation, judged.objective.phases
        )
        gap = compute_gaps(judged.before, bounds).get(measure)
        found = found._replace(bound=_divide(found.before, gap))
    if measure == _TIME:
        on = judged.graph, judged.allocation
        block = place_like_launcher(*on, judged.shared, judged.capacities)
        share = latency_share(*on, block, phases=judged.objective.phases)
        found = found._replace(latency_share=share)
    return advise(found)


def suggest_export(file: str | Path | None) -> str:
    """Suggest the command that writes a placement file for a launcher."""
    if file is None:
        return "write it with -o FILE, then: topoloom export FILE --to FORMAT"
    return f"use it with: topoloom export {shlex.quote(str(file))} --to FORMAT"


def suggest_search(mappers: Iterable[str], was_limited: bool, use_auto: str) -> str:
    """Suggest a better search; "" if auto has searched without limits."""
    first_stages = [re.split("[(+]", mapper)[0] for mapper in mappers]
    if "auto" not in first_stages:
        return use_auto
    return "a longer search may find more" if was_limited else ""


def choose_measure(objective: Objective, values: Mapping[str, float]) -> str:
    """Choose predicted time if it is known; with traffic of other jobs, the objective.

    The predicted time among the values of a placement is without other jobs. Reports
    lack the values of objectives that are not a measure.
    """
    if objective.background is None and _TIME in values:
        return _TIME
    return objective.measure if objective.measure in values else "hop_bytes"


def _find_proven_bound(judged: Judged, measure: str) -> float | None:
    if judged.least is not None and measure == judged.objective.measure:
        return judged.least
    gap = None if judged.gaps is None else judged.gaps.get(measure)
    return _divide(judged.before[measure], gap)


def _divide(value: float, gap: float | None) -> float | None:
    return None if gap is None else value / gap
