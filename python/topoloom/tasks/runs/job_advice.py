# SPDX-License-Identifier: BSD-3-Clause
"""Advises what to do with the placement of a job, and whether to start it so."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from topoloom.support.gain import format_percent, gain
from topoloom.tasks.advice.evidence import (
    Judged,
    advise_on,
    choose_measure,
    suggest_export,
    suggest_search,
)

if TYPE_CHECKING:
    from topoloom.tasks.advice.rules import Advice
    from topoloom.tasks.placed_run import PlacedJob, RecordedJob


def advise_on_job(
    recorded: RecordedJob, placed: PlacedJob, output: Path | None
) -> Advice:
    """Advise what to do with the placement of a job, which `output` holds."""
    assert recorded.graph is not None
    file, time = placed.file, recorded.mpi_time
    return advise_on(
        Judged(
            recorded.graph,
            file.allocation,
            placed.objective,
            placed.block_values,
            file.values,
            file.placement.shared,
            file.capacities,
            least=placed.least,
            mpi_share=time and time.share_at_most,
            use=suggest_export(output),
            fixed=bool(file.fixed),
            remedy=suggest_search([file.mapper], False, "leave out --mapper"),
        )
    )


def is_worth_placing(placed: PlacedJob, advice: Advice) -> bool:
    """Return whether to start a job with its placement rather than in launcher order.

    A placement that the user chose by a mapper or by fixed ranks is always used.
    """
    first_stage = re.split("[(+]", placed.file.mapper)[0]
    is_automatic = first_stage == "auto" and not placed.file.fixed
    return advice.situation == "gain" or not is_automatic


def describe_prediction(placed: PlacedJob) -> str:
    """Describe the predicted change, such as ``-23.0 % of communication time``."""
    measure = choose_measure(placed.objective, placed.block_values)
    before, after = placed.block_values[measure], placed.file.values[measure]
    gained = gain(before, after)
    change = format_percent(None if gained is None else -gained or 0.0)
    names = {"predicted_seconds": "communication time", "hop_bytes": "hop-bytes"}
    return f"{change} of {names.get(measure, placed.objective.title)}"
