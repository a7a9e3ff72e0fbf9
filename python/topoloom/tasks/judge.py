# SPDX-License-Identifier: BSD-3-Clause
"""Measures a placement and the launcher's default placement."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from topoloom._core import CommGraph, Judgement, Placement, judge
from topoloom.placements.hottest_links import list_hottest_links
from topoloom.placements.measures import collect_measures
from topoloom.tasks.objective import predict_time
from topoloom.tasks.optimality_gap import (
    Gaps,
    compute_background_gaps,
    compute_gaps,
    prove_quick_bounds,
)
from topoloom.tasks.placement_problem import PlacementProblem

if TYPE_CHECKING:
    from topoloom.documents.placements import (
        GapMeasures,
        JudgeDocument,
        Measures,
    )


class JudgedPlacement(NamedTuple):
    """Measures of a placement and of block order.

    Attributes
    ----------
    given
        The problem.
    name
        The mapper of the placement; "block" without a placement.
    placement, block
        The judged placement, and the placement in block order.
    judgement
        The judgement of the placement, with its hottest links.
    values, block_values
        The measures of the placement and of block order.
    gaps
        Values of the placement divided by quick lower bounds.
    phases
        The measures of each phase.
    """

    given: PlacementProblem
    name: str
    placement: Placement
    block: Placement
    judgement: Judgement
    values: dict[str, float]
    block_values: dict[str, float]
    gaps: Gaps
    phases: list[dict[str, float]]

    def document(self, phase_names: Sequence[str] = ()) -> JudgeDocument:
        """Return the fields of the ``--json`` output."""
        judgement, allocation = self.judgement, self.given.allocation
        names = self.given.vertex_names
        return {
            **cast("Measures", self.values),
            "machine": allocation.machine.text,
            "nodes": len(allocation.nodes),
            "mapper": self.name,
            "gap": cast("GapMeasures", self.gaps),
            "block": cast("Measures", self.block_values),
            "node_bytes_in_max": _find_maximum(judgement.node_bytes_in),
            "node_bytes_out_max": _find_maximum(judgement.node_bytes_out),
            "node_messages_in_max": _find_maximum(judgement.node_messages_in),
            "node_messages_out_max": _find_maximum(judgement.node_messages_out),
            "hottest_links": list_hottest_links(judgement, names),
            "phases": cast("list[Measures]", self.phases),
            "phase_names": list(phase_names),
            "fixed": sorted(self.given.fixed),
        }


def judge_placement(
    given: PlacementProblem,
    phases: Sequence[CommGraph] = (),
    hottest: int = 10,
    background: NDArray[np.float64] | None = None,
) -> JudgedPlacement:
    """Measure the placement of a problem; without one, block order.

    `background` is the traffic of other jobs, in bytes by link id.
    """
    graph, where, shared = given.graph, given.allocation, given.shared
    block = given.place_like_launcher()
    placement = given.file.placement if given.file is not None else block
    judgement = judge(graph, where, placement, hottest=hottest, background=background)
    by_block, on = (graph, where, block), (graph, where, placement)
    before = predict_time(*by_block, phases, background)
    before |= collect_measures(judge(*by_block, background=background), shared)
    values = predict_time(*on, phases, background)
    values |= collect_measures(judgement, shared)
    gaps = compute_gaps(values, None)
    if not shared:  # bounds are valid only for one rank per slot
        job = (graph, where, phases)
        gaps = compute_gaps(values, prove_quick_bounds(*job, fixed=given.fixed))
        if background is not None:
            loaded = prove_quick_bounds(*job, fixed=given.fixed, background=background)
            gaps |= compute_background_gaps(values, loaded)
    return JudgedPlacement(
        given,
        given.file.mapper if given.file is not None else "block",
        placement,
        block,
        judgement,
        values,
        before,
        gaps,
        [collect_measures(judge(phase, where, placement), shared) for phase in phases],
    )


def _find_maximum(values: Any) -> int:
    return int(max(values, default=0))
