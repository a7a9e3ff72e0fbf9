# SPDX-License-Identifier: BSD-3-Clause
"""Draws a network model: predicted and measured times by message size."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from topoloom.figure.page import open_page
from topoloom.figure.style import AFTER, BEFORE, NEUTRAL
from topoloom.model.fit import Fit
from topoloom.model.model_toml import ModelFile
from topoloom.support.units import format_bytes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Range of message sizes in bytes if there are no measurements.
SIZES = (1, 4 * 1024**2)


def draw_model(path: str | Path, file: ModelFile, fit: Fit | None = None) -> None:
    """Draw time by message size; if a fit is given, also its samples and errors.

    Parameters and errors are as in `open_page`.
    """
    with open_page(path, (6.4, 4.6 if fit else 3.4)) as figure:
        figure.set_layout_engine("constrained")
        if fit is None:
            _draw_time(figure.subplots(), file, None)
            return
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1))
        _draw_time(above, file, fit)
        above.set_xlabel("")
        below.axhline(0, color=NEUTRAL, linewidth=1)
        below.plot(
            np.maximum(fit.sizes, 1), 100 * fit.errors, "o", color=BEFORE, markersize=4
        )
        below.set_ylabel("error, %")
        below.set_xlabel("message")


def _draw_time(axes: Axes, file: ModelFile, fit: Fit | None) -> None:
    model = file.model
    ends = (fit.sizes[0], fit.sizes[-1]) if fit else SIZES
    limits = [most for _, _, most in model.lines if most is not None and most < ends[1]]
    sizes = np.unique(np.geomspace(max(1, ends[0]), ends[1], 400).astype(int))
    sizes = np.union1d(sizes, [*limits, *(most + 1 for most in limits)])
    axes.plot(
        sizes, [1e6 * model.time(int(m)) for m in sizes], color=AFTER, label="model"
    )
    if fit:
        at, measured = np.maximum(fit.sizes, 1), 1e6 * fit.measured
        axes.plot(at, measured, "o", color=BEFORE, markersize=4, label="measured")
    for most in limits:
        axes.axvline(most, color=NEUTRAL, linewidth=1, zorder=0)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.xaxis.set_major_formatter(lambda value, _: format_bytes(value))
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.set_xlabel("message")
    axes.set_ylabel("time, us")
    axes.set_title(file.name, loc="left")
    if fit:
        axes.legend(frameon=False, loc="upper left")
