# SPDX-License-Identifier: BSD-3-Clause
"""Draws measured times of schedules and of MPI's collective, with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from topoloom.figure.page import open_page
from topoloom.figure.style import AFTER, BEFORE, TEXT
from topoloom.support.units import format_bytes, format_seconds

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PER_ROW = 0.19  # inches
_PER_PANEL = 0.75


class TimeBar(NamedTuple):
    """A measured time with confidence interval, and the predicted time, in seconds."""

    name: str
    seconds: float
    interval: tuple[float, float]
    predicted: float | None
    is_own: bool  # whether this is the MPI library's own collective


def draw_measured(
    path: str | Path, title: str, sizes: Sequence[tuple[int, Sequence[TimeBar]]]
) -> None:
    """Draw one panel per size, with each schedule's time, interval and prediction.

    Parameters
    ----------
    path
        Output file; its suffix selects svg, png or pdf.
    title
        Title above all panels.
    sizes
        For each panel, from top to bottom: message size in bytes, and bars.

    Raises
    ------
    topoloom.Error
        If the figure cannot be drawn.
    OSError
        If the file cannot be written.
    """
    rows = [len(bars) for _, bars in sizes]
    inches = 0.5 + sum(_PER_PANEL + _PER_ROW * count for count in rows)
    with open_page(path, (7.2, inches)) as figure:
        panels = figure.subplots(
            len(sizes),
            1,
            squeeze=False,
            sharex=True,
            height_ratios=[n + 2 for n in rows],
        )
        for (axes,), (size, bars) in zip(panels, sizes, strict=True):
            _draw_bars(axes, bars)
            axes.set_title(format_bytes(size) if size else "", loc="left")
        panels[0][0].legend(
            loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, fontsize=8
        )
        panels[-1][0].set_xlabel("time of a call")
        figure.suptitle(title, x=0.01, ha="left", fontsize=10)
        figure.set_layout_engine("tight")


def _draw_bars(axes: Axes, bars: Sequence[TimeBar]) -> None:
    from matplotlib.ticker import LogLocator, NullLocator

    for is_own, color, marker, label in (
        (False, AFTER, "o", "measured"),
        (True, BEFORE, "D", "MPI's own"),
    ):
        shown = [(at, bar) for at, bar in enumerate(bars) if bar.is_own == is_own]
        below = [max(bar.seconds - bar.interval[0], 0.0) for _, bar in shown]
        above = [max(bar.interval[1] - bar.seconds, 0.0) for _, bar in shown]
        look: Any = {"color": color, "ms": 4.5, "capsize": 2.5, "lw": 1.1}
        axes.errorbar(
            [bar.seconds for _, bar in shown],
            [at for at, _ in shown],
            xerr=[below, above],
            fmt=marker,
            label=label,
            **look,
        )
    predicted = [(at, bar.predicted) for at, bar in enumerate(bars) if bar.predicted]
    if predicted:
        places, seconds = zip(*predicted, strict=True)
        axes.plot(seconds, places, "|", color=TEXT, ms=12, label="predicted")
    axes.set_yticks(range(len(bars)), [bar.name for bar in bars])
    axes.set_ylim(len(bars) - 0.4, -0.6)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(lambda seconds, _: format_seconds(seconds))
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.grid(axis="x", lw=0.3)
