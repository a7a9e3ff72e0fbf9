# SPDX-License-Identifier: BSD-3-Clause
"""Writes the HTML page of a study."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from topoloom.report.study.effect_chart import PlottedEffect
from topoloom.report.study.page import CellOnPage, StudyOnPage, save_study_page
from topoloom.support.units import format_seconds
from topoloom.tasks.study.study_texts import (
    format_change,
    format_interval,
    format_prediction,
)

if TYPE_CHECKING:
    from topoloom.tasks.runs.gain_estimate import Change
    from topoloom.tasks.study.study import CellTimes, StudyResult


def write_study_page(path: Path, result: StudyResult, command: str) -> None:
    """Write the page of a study; `command` starts the program.

    Raises `topoloom.Error` if the name does not end with .html, and `OSError` if the
    file cannot be written.
    """
    base = result.cells[0].predicted
    page = StudyOnPage(
        command,
        [factor.name for factor in result.factors],
        result.list_findings(),
        [_describe_cell(each, base) for each in result.cells],
        [
            _plot_effect(f"{each.factor}: {each.level}", each.change)
            for each in result.effects
        ],
        [
            _plot_effect(" x ".join(each.levels), each.change)
            for each in result.interactions
        ],
        result.design,
    )
    save_study_page(path, page)


def _describe_cell(times: CellTimes, base: float | None) -> CellOnPage:
    return CellOnPage(
        tuple(level.name for level in times.cell.levels),
        "-" if times.median is None else format_seconds(times.median),
        times.change.change,
        format_change(times.change),
        format_interval(times.change),
        format_prediction(times.predicted, base),
        len(times.seconds),
        times.why,
    )


def _plot_effect(name: str, change: Change) -> PlottedEffect:
    texts: Sequence[str] = (format_change(change), format_interval(change))
    text = texts[0] if texts[1] == "-" else f"{texts[0]} ({texts[1]})"
    return PlottedEffect(name, change.change, change.low, change.high, text)
