# SPDX-License-Identifier: BSD-3-Clause
"""Figure of each pattern's slowest message by affinity."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ring_bus.cases import PATTERNS, Bandwidths
from topoloom.figure.style import AFTER, NEUTRAL, SETTINGS


def draw(found: Sequence[Bandwidths], file: Path) -> None:
    """Draw a panel per pattern: a bar from worst to best, and a dot at the mean."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    with pyplot.rc_context(SETTINGS):
        picture, panels = pyplot.subplots(
            1, len(found), figsize=(8.4, 2.2), sharey=True, layout="constrained"
        )
        for panel, one in zip(panels, found, strict=True):
            names = [*one.by_affinity, "random"]
            for row, rate in enumerate(one.by_affinity.values()):
                ends = (rate.worst / 1e9, rate.best / 1e9)
                panel.plot(ends, (row, row), color=AFTER, linewidth=3, alpha=0.35)
                panel.plot(rate.mean / 1e9, row, "o", color=AFTER, markersize=4)
            drawn = one.drawn
            panel.errorbar(
                drawn.mean / 1e9,
                len(names) - 1,
                xerr=drawn.deviation / 1e9,
                fmt="o",
                color=NEUTRAL,
                markersize=4,
            )
            panel.set_yticks(range(len(names)), names)
            panel.set_ylim(len(names) - 0.5, -0.5)
            panel.set_xlim(0, 26)
            panel.set_title(PATTERNS[one.pattern], fontsize=8)
            panel.tick_params(length=0)
        picture.supxlabel("GB/s of the slowest of the messages of 64 KiB", fontsize=8)
        extra = {"metadata": {"Date": None}} if file.suffix == ".svg" else {"dpi": 150}
        picture.savefig(file, facecolor="w", **extra)
        pyplot.close(picture)
