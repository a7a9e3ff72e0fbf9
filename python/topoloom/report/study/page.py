# SPDX-License-Identifier: BSD-3-Clause
"""Renders the page of a study as a single HTML file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from topoloom.report.packed_arrays import PackedArrays
from topoloom.report.page import render_page
from topoloom.report.study.effect_chart import PlottedEffect, lay_out_effects
from topoloom.support.files import check_page_name, write_text
from topoloom.support.version import __version__

#: JavaScript modules of the page, in dependency order.
SCRIPTS = ("paper.js", "study.js")
#: Changes in percent at which the color of a cell becomes one shade stronger.
_SHADES = (2.0, 10.0, 25.0, 50.0)


class CellOnPage(NamedTuple):
    """A cell: its levels and formatted values; `change` is in percent, or None."""

    levels: tuple[str, ...]
    time: str
    change: float | None
    change_text: str
    interval: str
    predicted: str
    runs: int
    why: str


class StudyOnPage(NamedTuple):
    """The contents of the page; the first cell is the baseline."""

    command: str
    factors: Sequence[str]
    findings: Sequence[str]
    cells: Sequence[CellOnPage]
    effects: Sequence[PlottedEffect]
    interactions: Sequence[PlottedEffect]
    design: str


class _MatrixRow(NamedTuple):
    name: str
    cells: list[tuple[CellOnPage | None, str]]


def save_study_page(path: str | Path, study: StudyOnPage) -> None:
    """Write the page of a study atomically.

    Raises `topoloom.Error` if the name does not end with .html, and `OSError` if the
    file cannot be written.
    """
    check_page_name(path)
    write_text(path, render_study(study))


def render_study(study: StudyOnPage) -> str:
    """Render the page of a study; equal studies produce equal text."""
    pack = PackedArrays()
    columns, rows = _make_matrix(study.cells)
    texts = {
        "title": study.command,
        "study": study,
        "effects": lay_out_effects(study.effects),
        "interactions": lay_out_effects(study.interactions),
        "columns": columns,
        "rows": rows,
        "version": __version__,
    }
    return render_page("study.html.j2", SCRIPTS, texts, {}, pack)


def _make_matrix(
    cells: Sequence[CellOnPage],
) -> tuple[list[str], list[_MatrixRow]]:
    """Arrange the cells: the last factor in columns, all others in rows."""
    columns = list(dict.fromkeys(cell.levels[-1] for cell in cells))
    names = dict.fromkeys(cell.levels[:-1] for cell in cells)
    found = {cell.levels: cell for cell in cells}
    rows = []
    for name in names:
        shown = [found.get((*name, column)) for column in columns]
        made = [(cell, _choose_shade(cell)) for cell in shown]
        rows.append(_MatrixRow(", ".join(name) or "time", made))
    return columns, rows


def _choose_shade(cell: CellOnPage | None) -> str:
    """Return the CSS class for the change of a cell: faster is good, slower is bad."""
    if cell is None or cell.change is None:
        return ""
    strength = sum(abs(cell.change) >= shade for shade in _SHADES)
    if not strength:
        return ""
    return f"{'faster' if cell.change < 0 else 'slower'}{strength}"
