# SPDX-License-Identifier: BSD-3-Clause
"""Draws the wall times of all runs of a program, in launcher order and placed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from statistics import median
from typing import NamedTuple

from topoloom.figure.page import open_page
from topoloom.figure.style import AFTER, BEFORE
from topoloom.support.units import counted


class RunTime(NamedTuple):
    """A run: its start in seconds since 1970, its wall time in seconds, its order."""

    started: float
    seconds: float
    is_placed: bool


def draw_run_times(path: str | Path, runs: Sequence[RunTime], title: str) -> None:
    """Draw a point for each run by its start, and a line at the median of each order.

    Raises the errors of `open_page`.
    """
    with open_page(path, (6.4, 3.2)) as figure:
        figure.set_layout_engine("constrained")
        axes = figure.add_subplot()
        for is_placed, name, color, marker, dashes in (
            (False, "launcher order", BEFORE, "o", "--"),
            (True, "placed", AFTER, "^", "-"),
        ):
            chosen = [run for run in runs if run.is_placed == is_placed]
            if not chosen:
                continue
            dates = [datetime.fromtimestamp(run.started) for run in chosen]
            times = [run.seconds for run in chosen]
            middle = median(times)
            count = counted(len(chosen), "run")
            label = f"{name}: {count}, median {middle:.3g} s"
            axes.plot(
                dates,  # type: ignore[arg-type]
                times,
                color=color,
                marker=marker,
                linestyle="none",
                markersize=5,
                alpha=0.7,
                label=label,
            )
            axes.axhline(middle, color=color, linestyle=dashes, linewidth=1)
        axes.set_title(title, loc="left", wrap=True)
        axes.set_ylabel("wall time in s")
        axes.set_ylim(0, 1.1 * max((run.seconds for run in runs), default=1.0))
        axes.tick_params(axis="x", rotation=20)
        if runs:
            axes.legend(frameon=False, fontsize=8)
