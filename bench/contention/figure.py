# SPDX-License-Identifier: BSD-3-Clause
"""The pictures: the published figures anew, and which objective costs what."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from contention.cases import FIGURE_SIZES
from contention.measure import BOUND, DEFAULT, NEAR, OURS, RIVAL
from contention.patterns import PUBLISHED
from contention.tables import Results
from topoloom.figure.style import AFTER, BEFORE, QUIET, SETTINGS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Color, marker, line; what aims at congestion is drawn heavier.
LOOKS: dict[str, dict[str, Any]] = {
    "gge": {"color": "#999999", "marker": "v", "linestyle": ":"},
    "mahd": {"color": "#999999", "marker": "s", "linestyle": "--"},
    "grasp": {"color": "#35978f", "marker": "D", "linestyle": "--"},
    "emahd": {"color": "#666666", "marker": "x", "linestyle": "-."},
    NEAR: {"color": "#80b1d3", "marker": "^", "linestyle": "-"},
    RIVAL: {"color": BEFORE, "marker": "o", "linestyle": "--", "linewidth": 1.8},
    OURS: {"color": AFTER, "marker": "o", "linestyle": "-", "linewidth": 2.4},
}


@contextmanager
def _page(file: Path, *shape: int, **options: Any) -> Iterator[tuple[Figure, Any]]:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    with pyplot.rc_context(SETTINGS):
        picture, panels = pyplot.subplots(*shape, layout="constrained", **options)
        yield picture, panels
        kept = {"metadata": {"Date": None}} if file.suffix == ".svg" else {"dpi": 150}
        picture.savefig(file, facecolor="w", **kept)
        pyplot.close(picture)


def published(results: Results, file: Path) -> None:
    """Draw Figures 7.1 to 7.6: congestion over that of the default, by ranks."""
    places = range(len(FIGURE_SIZES))
    with _page(file, 2, 3, figsize=(8.4, 5.6), sharex=True, sharey=True) as page:
        picture, panels = page
        for panel, pattern in zip(panels.flat, PUBLISHED, strict=True):
            parts = [results.of("published", pattern, n) for n in FIGURE_SIZES]
            for way, look in LOOKS.items():
                heights = [part.ratio(way, DEFAULT) for part in parts]
                panel.plot(places, heights, label=way, markersize=4, **look)
            floor = [part.ratio(BOUND, DEFAULT) for part in parts]
            panel.fill_between(places, floor, color=QUIET, label="below the bound")
            panel.axhline(1, color="#888888", linewidth=0.6)
            panel.set_title(pattern)
            panel.set_xticks(places, [str(n) for n in FIGURE_SIZES])
            panel.grid(axis="y", alpha=0.3)
        panels[0][0].set_ylim(bottom=0)
        picture.supxlabel("ranks, one a node", fontsize=9)
        picture.supylabel("load of the busiest link / that of the default", fontsize=9)
        handles, labels = panels[0][0].get_legend_handles_labels()
        picture.legend(handles, labels, loc="outside lower center", ncols=4)


def choice(results: Results, file: Path) -> None:
    """Draw a line for each machine and pattern: what the other objective costs."""
    marks = (
        ("congestion", NEAR, OURS, BEFORE, "o", "congestion, aiming at hop-bytes"),
        ("time", NEAR, OURS, "#35978f", "D", "time, aiming at hop-bytes"),
        ("hop_bytes", OURS, NEAR, AFTER, "s", "hop-bytes, aiming at congestion"),
    )
    cases = results.of("choice").cases
    lines = len(cases) + 2 * len({case.machine for case in cases})
    with _page(file, figsize=(7.2, 1.2 + 0.18 * lines)) as (picture, panel):
        line = 0.0
        ticks: list[tuple[float, str]] = []
        machine = ""
        for case in cases:
            if case.machine != machine:
                machine = case.machine
                line += 0.6
                panel.text(0.0, line, machine, transform=panel.get_yaxis_transform())
                line += 0.8
            one = Results(run for run in results.runs.values() if run.case == case)
            panel.axhline(line, color=QUIET, linewidth=0.6, zorder=0)
            for what, way, base, color, marker, label in marks:
                panel.plot(
                    one.ratio(way, base, what),
                    line,
                    color=color,
                    marker=marker,
                    markersize=6,
                    linestyle="",
                    markerfacecolor="none" if what == "time" else color,
                    label=None if ticks else label,
                )
            ticks.append((line, case.pattern))
            line += 1
        panel.set_yticks(*zip(*ticks, strict=True))
        panel.invert_yaxis()
        panel.set_xscale("log")
        panel.axvline(1, color="#888888", linewidth=0.8, zorder=0)
        panel.set_xlabel("times that of the placement which aims at it")
        picture.legend(loc="outside lower center", ncols=3)
