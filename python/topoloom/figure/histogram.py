# SPDX-License-Identifier: BSD-3-Clause
"""Draws histograms of link loads by direction, for the first and the best placement."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from topoloom.figure.links import Array, LinkLoads
from topoloom.figure.style import AFTER, BEFORE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BINS = 16


def draw_histogram(
    axes: Axes, loads: LinkLoads, up: Array, down: Array | None
) -> float:
    """Draw load histograms of the links in `up` and in `down` that have traffic.

    `up` and `down` are masks of links. Links in `down`, which lead in the - direction,
    are drawn below the axis. Returns the highest count.
    """
    edges = np.linspace(0, loads.top, BINS + 1)
    looks = _choose_styles(list(loads.busy))
    highest = 1.0
    for name, values in loads.busy.items():
        color, dashes, filled = looks[name]
        for mask, sign in ((up, 1), (down, -1)):
            if mask is None:
                continue
            loaded = values[mask & (values > 0)]
            counts, _ = np.histogram(loaded, edges)
            highest = max(highest, counts.max(initial=1))
            axes.stairs(
                sign * counts,
                edges,
                color=color,
                linestyle=dashes,
                linewidth=1.3,
                fill=False,
                label=name if sign == 1 else None,
            )
            if filled:
                axes.stairs(sign * counts, edges, color=color, alpha=0.25, fill=True)
            if loaded.size:
                axes.plot(
                    loaded.max(),
                    0,
                    marker="^" if sign == 1 else "v",
                    color=color,
                    markersize=6,
                    markeredgecolor="white",
                    markeredgewidth=0.5,
                    clip_on=False,
                    zorder=5,
                )
    axes.axhline(0, color="#888888", linewidth=0.6)
    axes.set_yscale("symlog", linthresh=1)
    axes.set_xlim(0, loads.top * 1.03)
    axes.xaxis.set_major_formatter(lambda value, _: loads.unit.format(value))
    axes.yaxis.set_major_formatter(lambda value, _: f"{abs(value):.0f}")
    if any(values.any() for values in loads.busy.values()):
        axes.locator_params(axis="x", nbins=4)
    else:
        axes.set_xticks([0.0])
    return highest


def _choose_styles(names: list[str]) -> dict[str, tuple[str, str, bool]]:
    looks = {names[-1]: (AFTER, "-", True)}
    if len(names) > 1:
        looks[names[0]] = (BEFORE, (0, (4, 2)), False)  # type: ignore[assignment]
    return looks
