# SPDX-License-Identifier: BSD-3-Clause
"""The published figures, and the cost of each objective."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from contention.cases import FIGURE_SIZES
from contention.measure import BOUND, DEFAULT, EMAHD_ON_LINKS, NEAR, OURS, RIVAL
from contention.patterns import PUBLISHED
from contention.tables import Results
from topoloom.figure.style import AFTER, BEFORE, NEUTRAL, SETTINGS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Line styles: mappers for congestion are heavier, greedy ones have no markers.
LOOKS: dict[str, dict[str, Any]] = {
    "gge": {"color": "#999999", "linestyle": ":"},
    "mahd": {"color": "#999999", "linestyle": "--"},
    "grasp": {"color": "#35978f", "marker": "D", "linestyle": "--"},
    EMAHD_ON_LINKS: {"color": "#666666", "linestyle": "-."},
    NEAR: {"color": "#80b1d3", "marker": "^", "linestyle": "-"},
    RIVAL: {"color": BEFORE, "marker": "o", "linestyle": "--", "linewidth": 1.8},
    OURS: {"color": AFTER, "marker": "o", "linestyle": "-", "linewidth": 2.4},
}


@contextmanager
def _open_page(file: Path, *shape: int, **options: Any) -> Iterator[tuple[Figure, Any]]:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    with pyplot.rc_context(SETTINGS):
        picture, panels = pyplot.subplots(*shape, layout="constrained", **options)
        yield picture, panels
        extra = {"metadata": {"Date": None}} if file.suffix == ".svg" else {"dpi": 150}
        picture.savefig(file, facecolor="w", **extra)
        pyplot.close(picture)


def published(results: Results, file: Path) -> None:
    """Draw Figures 7.1 to 7.6: congestion relative to the default, by ranks."""
    from matplotlib.ticker import MultipleLocator

    places = range(len(FIGURE_SIZES))
    with _open_page(file, 2, 3, figsize=(8.4, 5.6), sharex=True, sharey=True) as page:
        picture, panels = page
        for panel, pattern in zip(panels.flat, PUBLISHED, strict=True):
            parts = [results.of("published", pattern, n) for n in FIGURE_SIZES]
            for way, look in LOOKS.items():
                heights = [part.ratio(way, DEFAULT) for part in parts]
                panel.plot(places, heights, label=way, markersize=4, **look)
            floor = [part.ratio(BOUND, DEFAULT) for part in parts]
            panel.fill_between(places, floor, color=NEUTRAL, label="below the bound")
            panel.axhline(1, color="#888888", linewidth=0.6)
            panel.set_title(pattern)
            panel.set_xticks(places, [str(n) for n in FIGURE_SIZES])
            panel.yaxis.set_major_locator(MultipleLocator(0.5))
            panel.tick_params(length=0)
            panel.grid(axis="y", alpha=0.3)
        panels[0][0].set_ylim(bottom=0)
        for panel in panels[1]:
            panel.set_xlabel("ranks, one per node")
        picture.supylabel("load of the busiest link / that of the default", fontsize=9)
        handles, labels = panels[0][0].get_legend_handles_labels()
        picture.legend(
            handles, labels, loc="outside lower center", ncols=4, frameon=False
        )


def choice(results: Results, file: Path) -> None:
    """Draw a line per machine and pattern: the cost of the other objective."""
    marks = (
        ("congestion", NEAR, OURS, BEFORE, "o", "congestion, placed for hop-bytes"),
        ("time", NEAR, OURS, "#35978f", "D", "time, placed for hop-bytes"),
        ("hop_bytes", OURS, NEAR, AFTER, "s", "hop-bytes, placed for congestion"),
    )
    cases = results.of("choice").cases
    ticks: list[tuple[float, str]] = []
    for machine in dict.fromkeys(case.machine for case in cases):
        first = ticks[-1][0] + 1.5 if ticks else 0
        patterns = [case.pattern for case in cases if case.machine == machine]
        ticks.append((first, f"{machine}:"))
        ticks += [(first + 1 + i, name) for i, name in enumerate(patterns)]
    lines = [line for line, name in ticks if not name.endswith(":")]
    with _open_page(file, figsize=(7.2, 1.4 + 0.18 * len(ticks))) as (picture, panel):
        panel.axvline(1, color="#888888", linewidth=0.8, zorder=0)
        for line in lines:
            panel.axhline(line, color=NEUTRAL, linewidth=0.6, zorder=0)
        for what, way, base, color, marker, label in marks:
            panel.plot(
                [results.at(case).ratio(way, base, what) for case in cases],
                lines,
                color=color,
                marker=marker,
                linestyle="",
                markerfacecolor="none" if what == "time" else color,
                label=label,
            )
        panel.set_yticks(*zip(*ticks, strict=True))
        for label, (_, name) in zip(panel.get_yticklabels(), ticks, strict=True):
            label.set_fontweight("bold" if name.endswith(":") else "normal")
        panel.tick_params(length=0)
        panel.invert_yaxis()
        panel.grid(axis="x", alpha=0.3)
        panel.set_xlabel("ratio to the same measure, placed for the other objective")
        picture.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=8)
