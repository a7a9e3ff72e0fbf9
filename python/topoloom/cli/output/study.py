# SPDX-License-Identifier: BSD-3-Clause
"""Prints the tables of `topoloom study`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topoloom.cli.console import print_table
from topoloom.support.units import format_seconds
from topoloom.tasks.study.study_texts import (
    format_change,
    format_interval,
    format_prediction,
)

if TYPE_CHECKING:
    from topoloom.tasks.study.study import StudyResult

_UNKNOWN = "-"


def print_study(result: StudyResult) -> None:
    """Print the cells, the effects, and the interactions."""
    names = [factor.name for factor in result.factors]
    base = result.cells[0]
    rows = [
        [
            *(level.name for level in times.cell.levels),
            _format_time(times.median),
            format_change(times.change),
            format_interval(times.change),
            format_prediction(times.predicted, base.predicted),
        ]
        for times in result.cells
    ]
    print_table(
        [*names, "time", "change", "95 % interval", "predicted"],
        rows,
        title=f"{len(result.cells)} cells",
        left=len(names),
        keep=[*names, "time"],
    )
    if result.effects:
        print_table(
            ["factor", "level", "change", "95 % interval"],
            [
                [
                    each.factor,
                    each.level,
                    format_change(each.change),
                    format_interval(each.change),
                ]
                for each in result.effects
            ],
            title="main effects: mean change in time due to a level",
            left=2,
        )
    if result.interactions:
        print_table(
            ["levels", "change", "95 % interval"],
            [
                [
                    " x ".join(each.levels),
                    format_change(each.change),
                    format_interval(each.change),
                ]
                for each in result.interactions
            ],
            title="interactions: change beyond the product of both effects",
            left=1,
        )


def _format_time(seconds: float | None) -> str:
    return _UNKNOWN if seconds is None else format_seconds(seconds)
