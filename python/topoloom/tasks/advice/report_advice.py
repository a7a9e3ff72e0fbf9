# SPDX-License-Identifier: BSD-3-Clause
"""Advice on the best placement of a report."""

from __future__ import annotations

from collections.abc import Sequence

from topoloom._core import CommGraph
from topoloom.graphs.mpi_time import load_mpi_time
from topoloom.report.page_data import Report
from topoloom.tasks.advice.evidence import (
    Judged,
    advise_on,
    suggest_export,
    suggest_search,
)
from topoloom.tasks.advice.rules import Advice
from topoloom.tasks.objective import Objective


def advise_on_report(report: Report, phases: Sequence[CommGraph]) -> Advice:
    """Advise what to do with the best placement of a job with these phases."""
    block, best = report.views[0], report.views[report.best]
    file = best.made
    assert file is not None  # only the launcher's order has none
    time = load_mpi_time(report.graph_file)
    return advise_on(
        Judged(
            report.graph,
            report.allocation,
            Objective(file.objective, phases),
            block.values,
            best.values,
            best.placement.shared,
            file.capacities,
            gaps=dict(block.gaps),
            mpi_share=time and time.share_at_most,
            use=suggest_export(best.file),
            fixed=bool(file.fixed),
            remedy=suggest_search(
                [view.made.mapper for view in report.views if view.made],
                False,
                "search with 'topoloom map'",
            ),
        )
    )
