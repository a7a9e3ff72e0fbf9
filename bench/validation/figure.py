# SPDX-License-Identifier: BSD-3-Clause
"""Figure of hop-bytes and predicted time over simulated time of all placements."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from topoloom.figure.style import NEUTRAL, SETTINGS
from validation.cases import PATTERNS
from validation.measure import Run

_COLORS = ("#1b4f8a", "#b35806", "#35978f", "#8c510a", "#762a83", "#5aae61", "#c51b7d")
_MARKERS = "o^sDvPX*<"


def draw(runs: Sequence[Run], file: Path) -> None:
    """Draw a column per machine; values are relative to block placement."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot
    from matplotlib.ticker import NullLocator

    machines = list(dict.fromkeys(run.machine for run in runs))
    block = {(r.machine, r.pattern): r for r in runs if r.placement == "block"}
    rows = (
        ("hop_bytes", "hop-bytes / those of block"),
        ("time", "predicted time / that of block"),
    )
    with pyplot.rc_context(SETTINGS):
        picture, panels = pyplot.subplots(
            *(2, len(machines)),
            figsize=(1 + 2.4 * len(machines), 6.2),
            layout="constrained",
            sharex="row",
            sharey=True,
            squeeze=False,
        )
        for row, (name, label) in zip(panels, rows, strict=True):
            for panel, machine in zip(row, machines, strict=True):
                for index, pattern in enumerate(PATTERNS):
                    part = [
                        (run, block[run.machine, run.pattern])
                        for run in runs
                        if (run.machine, run.pattern) == (machine, pattern)
                    ]
                    panel.plot(
                        [run.values[name] / base.values[name] for run, base in part],
                        [run.simulated / base.simulated for run, base in part],
                        linestyle="",
                        marker=_MARKERS[index % len(_MARKERS)],
                        color=_COLORS[index % len(_COLORS)],
                        markersize=3.5,
                        markerfacecolor="none",
                        markeredgewidth=0.8,
                        label=pattern,
                        # A bitmap: as vector markers, 2,400 points take half a
                        # megabyte.
                        rasterized=True,
                    )
                panel.axline((1, 1), (2, 2), color=NEUTRAL, linewidth=1, zorder=0)
                panel.set_xscale("log", base=2)
                panel.set_yscale("log", base=2)
                for axis in (panel.xaxis, panel.yaxis):
                    axis.set_major_formatter(lambda value, _: f"{value:g}")
                    axis.set_minor_locator(NullLocator())
                panel.set_xlabel(label)
                panel.grid(alpha=0.3)
            row[0].set_ylabel("simulated time / that of block")
        for panel, machine in zip(panels[0], machines, strict=True):
            panel.set_title(machine)
        handles, labels = panels[0][0].get_legend_handles_labels()
        picture.legend(
            handles, labels, loc="outside lower center", ncols=3, frameon=False
        )
        dated = {"Date": None} if file.suffix == ".svg" else {}
        picture.savefig(file, facecolor="w", dpi=200, metadata=dated)
        pyplot.close(picture)
