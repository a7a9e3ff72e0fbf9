# SPDX-License-Identifier: BSD-3-Clause
"""Draws the bandwidth of every step of a schedule under link contention."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from topoloom.figure.page import open_page
from topoloom.figure.style import AFTER, BEFORE

#: Color and line style of each set of routes.
_LOOKS = ((AFTER, "-"), (BEFORE, "--"))


def draw_step_bandwidths(
    path: str | Path, rates: Mapping[str, Sequence[float]], title: str
) -> None:
    """Draw bytes per second for steps 1, 2, 3, ..., with one line per set of routes.

    Parameters and errors are as in `open_page`.
    """
    with open_page(path, (6.4, 3.2)) as figure:
        figure.set_layout_engine("constrained")
        axes = figure.subplots()
        for (name, of_steps), (color, style) in zip(
            rates.items(), _LOOKS, strict=False
        ):
            axes.plot(
                range(1, len(of_steps) + 1),
                [rate / 1e6 for rate in of_steps],
                style,
                color=color,
                linewidth=1.1,
                label=name,
            )
        axes.set_ylim(bottom=0)
        axes.set_xlabel("step")
        axes.set_ylabel("MB/s in and out of a node")
        axes.legend(frameon=False, loc="lower right", fontsize=8)
        axes.set_title(title, loc="left")
