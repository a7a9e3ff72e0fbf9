# SPDX-License-Identifier: BSD-3-Clause
"""Draws a comparison of mappers: one panel per measure, one bar per mapper."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from topoloom._core import Error
from topoloom.figure.page import open_page
from topoloom.figure.style import AFTER, BEFORE, NEUTRAL
from topoloom.support.units import counted

_LINE = 0.3  # inches


class MeasureBars(NamedTuple):
    """The bars of a measure: its title, and a value and a label for each mapper."""

    title: str
    values: Sequence[float]
    texts: Sequence[str]


def draw_comparison(
    path: str | Path,
    mappers: Sequence[str],
    best: str,
    bars: Sequence[MeasureBars],
    title: str,
) -> None:
    """Draw the measures of each mapper; color the default and the best mapper.

    Parameters
    ----------
    path
        Output file; its suffix selects svg, png or pdf.
    mappers
        Names of the mappers, starting with the default.
    best
        Name of the best mapper.
    bars
        The bars of each measure, starting with the objective; lower is always better.
    title
        Title of the problem.

    Raises
    ------
    topoloom.Error
        If the suffix is not supported, matplotlib is not installed, or the numbers of
        values and mappers differ.
    OSError
        If the file cannot be written.
    """
    for measure in bars:
        if not len(mappers) == len(measure.values) == len(measure.texts):
            raise Error(
                f"bars '{measure.title}' have {len(measure.values)} values and "
                f"{len(measure.texts)} texts for {counted(len(mappers), 'mapper')}"
            )
        if not all(map(math.isfinite, measure.values)):
            raise Error(f"bars '{measure.title}' contain a value that is not finite")
    if not (mappers and bars):
        raise Error("there is nothing to compare; give mappers and bars")
    height = 1.2 + _LINE * len(mappers)
    with open_page(path, (2.4 + 2.1 * len(bars), height)) as figure:
        figure.set_layout_engine("constrained", w_pad=0.08)
        figure.suptitle(title, fontsize=11, fontweight="bold")
        panels: Any = figure.subplots(1, len(bars), sharey=True, squeeze=False)[0]
        for panel, measure in zip(panels, bars, strict=True):
            _draw_bars(panel, measure, mappers, best)
        labels = [f"{name} (best)" if name == best else name for name in mappers]
        panels[0].set_yticks(range(len(mappers)), labels)
        panels[0].invert_yaxis()


def _draw_bars(
    panel: Any, measure: MeasureBars, mappers: Sequence[str], best: str
) -> None:
    colors = {mappers[0]: BEFORE, best: AFTER}
    panel.barh(
        range(len(mappers)),
        measure.values,
        height=0.62,
        color=[colors.get(name, NEUTRAL) for name in mappers],
    )
    top = max([*measure.values, 0.0]) or 1.0
    panel.set_xlim(0, 1.75 * top)
    for row, (value, text) in enumerate(
        zip(measure.values, measure.texts, strict=True)
    ):
        panel.text(value + 0.03 * top, row, text, va="center", fontsize=8)
    panel.set_title(measure.title, fontsize=9)
    panel.set_xticks([])
    panel.tick_params(axis="y", length=0)
    for side in ("top", "right", "bottom"):
        panel.spines[side].set_visible(False)
