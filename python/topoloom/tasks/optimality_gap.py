# SPDX-License-Identifier: BSD-3-Clause
"""Computes optimality gaps: values of a placement divided by lower bounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from topoloom._core import Allocation, CommGraph, Error, find_bounds
from topoloom.tasks.fixed_ranks import NO_FIXED_RANKS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from topoloom.placements.fixed_bounds import AnyBounds

#: Work limit of quick proofs: up to 0.1 s for the steps that it covers.
QUICK_WORK = 2**23

#: Optimality gaps by measure; None without a bound above 0.
Gaps = dict[str, float | None]


def prove_quick_bounds(
    graph: CommGraph,
    allocation: Allocation,
    phases: Sequence[CommGraph] = (),
    *,
    fixed: Mapping[int, int] = NO_FIXED_RANKS,
    background: NDArray[np.float64] | None = None,
) -> AnyBounds | None:
    """Prove bounds quickly; results do not depend on the CPU speed."""
    try:
        found = find_bounds(
            graph, allocation, phases=phases, work=QUICK_WORK, background=background
        )
        if not fixed:
            return found
        from topoloom.placements.fixed_bounds import raise_bounds

        return raise_bounds(
            found,
            graph,
            allocation,
            phases,
            fixed,
            shared=False,
            prove=lambda part: find_bounds(part, allocation, work=QUICK_WORK),
        )
    except Error:
        return None  # bounds may overflow although measures do not


def compute_gap(value: float, bound: float) -> float | None:
    """Divide a value by its bound; if the bound is 0, 1 for a value of 0, else None."""
    if bound == 0:
        return 1.0 if value == 0 else None
    return value / bound


def compute_gaps(values: Mapping[str, float], bounds: AnyBounds | None) -> Gaps:
    """Divide hop-bytes, congestion and predicted time by their bounds."""
    if bounds is None:
        return {"hop_bytes": None, "congestion_max": None}
    found = {
        "hop_bytes": compute_gap(values["hop_bytes"], bounds.hop_bytes),
        "congestion_max": compute_gap(values["congestion_max"], bounds.congestion),
    }
    if bounds.time is not None and "predicted_seconds" in values:
        found["predicted_seconds"] = compute_gap(
            values["predicted_seconds"], bounds.time
        )
    return found


def compute_background_gaps(
    values: Mapping[str, float], bounds: AnyBounds | None
) -> Gaps:
    """Divide the measures with other jobs by bounds that include their traffic."""
    if bounds is None:
        return {}
    least = {
        "congestion_with_background": bounds.congestion,
        "predicted_seconds_with_background": bounds.time,
    }
    return {
        name: compute_gap(values[name], bound)
        for name, bound in least.items()
        if name in values and bound is not None
    }


def format_gap(ratio: float | None) -> str:
    """Format a gap: ``1.234``."""
    return "" if ratio is None else f"{ratio:.3f}"
