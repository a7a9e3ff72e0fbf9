# SPDX-License-Identifier: BSD-3-Clause
"""Draws packet latency as a function of network load, up to saturation."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from topoloom._core import LoadMeasure
from topoloom.figure.page import open_page
from topoloom.figure.style import AFTER, BEFORE


def draw_loads(path: str | Path, points: Sequence[LoadMeasure], title: str) -> None:
    """Draw the mean and the 99th percentile of latencies; mark the accepted load.

    Parameters and errors are as in `open_page`.
    """
    steady = [point for point in points if not point.saturated]
    with open_page(path, (6.4, 3.2)) as figure:
        figure.set_layout_engine("constrained")
        axes = figure.subplots()
        offered = [point.offered for point in steady]
        for color, style, label, values in (
            (AFTER, "o-", "mean", [point.latency_mean for point in steady]),
            (BEFORE, "s--", "99 in 100", [point.latency_p99 for point in steady]),
        ):
            axes.plot(offered, values, style, color=color, label=label, markersize=3.5)
        saturated = [point.accepted for point in points if point.saturated]
        if saturated:
            axes.axvline(max(saturated), color="0.5", linewidth=1, label="saturated")
        axes.set_xlim(left=0)
        axes.set_ylim(bottom=0)
        axes.set_xlabel("load, flits per node and cycle")
        axes.set_ylabel("latency, cycles")
        axes.legend(frameon=False, loc="upper left", fontsize=8)
        axes.set_title(title, loc="left")
