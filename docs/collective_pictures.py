# SPDX-License-Identifier: BSD-3-Clause
"""Draws the pictures of the pages in `docs/collectives`.

Usage: ``python docs/collective_pictures.py docs/collectives`` writes `combining.svg`,
`binomial-orders.svg` and `grid-lines.svg` there.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from topoloom import schedules
from topoloom.figure.style import AFTER, BEFORE, NEUTRAL, SETTINGS
from topoloom.support.units import format_seconds

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Ranks of the small case, and the side of its square.
RANKS = 14
SIDE = 4
#: A grid whose lines are shown round by round.
GRID = (4, 6)
#: Two quad-cores; the socket of every process.
SOCKETS = (0, 1, 0, 0, 1, 0, 1, 1)
#: Ranks of the alltoall whose times are drawn, with the constants of QsNet.
MANY = 1024
ALPHA, BETA = 11e-6, 8e-9
COSTS = schedules.CombiningCosts(alpha=ALPHA, beta=BETA, gamma=2e-9)
LINES = {"direct": "-", "mesh": "--", "grid": "-.", "hypercube": ":"}

Point = tuple[float, float]


@contextmanager
def page(file: Path, columns: int, **options: Any) -> Iterator[Any]:
    """Open panels side by side; draw them into the file."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    with pyplot.rc_context(SETTINGS):
        picture, panels = pyplot.subplots(1, columns, layout="constrained", **options)
        yield panels
        picture.savefig(file, facecolor="w", metadata={"Date": None})
        pyplot.close(picture)


def dot(
    panel: Axes, at: Point, text: str, color: str = NEUTRAL, hole: bool = False
) -> None:
    """Draw a process, or a hole where one might be."""
    edge = "#999999" if hole else "white"
    face = "white" if hole else color
    style: Any = {"marker": "o", "markersize": 15, "markeredgecolor": edge}
    panel.plot(*at, markerfacecolor=face, linestyle="none", zorder=3, **style)
    light = "white" if color in (AFTER, BEFORE) else "#222222"
    panel.text(*at, text, ha="center", va="center", fontsize=8, color=light, zorder=4)


def arrow(panel: Axes, start: Point, end: Point, bend: float, **style: Any) -> None:
    """Draw a message."""
    how = {"arrowstyle": "-|>", "shrinkA": 8, "shrinkB": 8, "lw": 1.2, "color": AFTER}
    how |= {"connectionstyle": f"arc3,rad={bend}", **style}
    panel.annotate("", end, start, arrowprops=how, zorder=2)


def draw_combining(file: Path) -> None:
    """Draw both phases round the holes of 14 ranks, and what strategies take."""

    def at(rank: int) -> Point:
        row, column = divmod(rank, SIDE)
        return float(column), float(row)

    widths = {"width_ratios": [1, 1, 1.35]}
    with page(file, 3, figsize=(9.0, 2.9), gridspec_kw=widths) as panels:
        for phase, senders in enumerate(((12, 13), (2,))):
            panel = panels[phase]
            for rank in range(SIDE * SIDE):
                hole = rank >= RANKS
                text = "" if hole else str(rank)
                color = AFTER if rank in senders else NEUTRAL
                dot(panel, at(rank), text, color, hole)
            for sender in senders:
                to = schedules.virtual_mesh_receivers(RANKS, 2, sender)[phase]
                for receiver in to:
                    away = phase == 0 and receiver // SIDE != sender // SIDE
                    style: Any = {"color": BEFORE, "linestyle": "--"} if away else {}
                    arrow(panel, at(sender), at(receiver), -0.25, **style)
            panel.set(xlim=(-0.6, 3.6), ylim=(-0.6, 3.8), aspect="equal")
            panel.axis("off")
        panels[0].set_title("phase 1: for every column")
        panels[1].set_title("phase 2: along the column")
        draw_times(panels[2])


def draw_times(panel: Axes) -> None:
    """Draw the time of every strategy over the size of a message."""
    sizes = np.geomspace(8, 65536, 60)
    for name, line in LINES.items():
        times = [schedules.alltoall_time(name, MANY, size, COSTS) for size in sizes]
        color = AFTER if name == "direct" else BEFORE if name == "mesh" else "#555555"
        panel.loglog(sizes, times, line, color=color, linewidth=1.4, label=name)
    panel.axvline(ALPHA / BETA, color=NEUTRAL, linewidth=0.8, zorder=0)
    panel.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    panel.yaxis.set_major_formatter(lambda seconds, _: format_seconds(seconds))
    panel.set(xlabel="bytes per pair", ylabel="time", title=f"{MANY:,} ranks")
    panel.legend(frameon=False, fontsize=8)


def draw_orders(file: Path) -> None:
    """Draw the trees of three orders on two sockets."""
    same = np.equal.outer(SOCKETS, SOCKETS)
    costs = np.where(same, 1.0, 2.0)
    methods = ("standard", "fastest-edge-first", "channel-aware")
    with page(file, len(methods), figsize=(9.0, 2.3)) as panels:
        for panel, method in zip(panels, methods, strict=True):
            order = schedules.binomial_order(costs, method, channels=2)
            steps = schedules.binomial_scatter_steps(
                costs, order, channels=2, reading="printed"
            )
            places = [(float(i), -1.6 * i.bit_count()) for i in range(len(order))]
            for half in (4, 2, 1):
                for start in range(0, len(order), 2 * half):
                    ends = order[start], order[start + half]
                    slow = SOCKETS[ends[0]] != SOCKETS[ends[1]]
                    style: Any = {"color": BEFORE, "linestyle": "--"} if slow else {}
                    pair = places[start], places[start + half]
                    arrow(panel, *pair, 0.0, lw=0.6 + 0.6 * half, **style)
            for place, process in zip(places, order, strict=True):
                color = AFTER if SOCKETS[process] == 0 else BEFORE
                dot(panel, place, str(process), color)
            panel.set_title(f"{method}: {sum(steps):g}")
            panel.set(xlim=(-0.6, 7.6), ylim=(-5.6, 0.8))
            panel.axis("off")


def draw_lines(file: Path) -> None:
    """Draw a bcast along all lines of a grid, round by round."""
    rounds = schedules.grid_line_messages(list(GRID), "bcast", 1)
    columns = GRID[1]
    with page(file, len(rounds), figsize=(9.0, 1.6)) as panels:
        for number, (panel, messages) in enumerate(zip(panels, rounds, strict=True), 1):
            for rank in range(GRID[0] * columns):
                row, column = divmod(rank, columns)
                panel.plot(column, -row, "o", color=NEUTRAL, markersize=6, zorder=3)
            for sender, receiver, _ in messages:
                ends = (divmod(rank, columns) for rank in (sender, receiver))
                start, end = ((float(column), -float(row)) for row, column in ends)
                style = {"shrinkA": 3, "shrinkB": 3, "mutation_scale": 7}
                arrow(panel, start, end, -0.3, **style)
            panel.set_title(f"round {number}")
            panel.set(xlim=(-0.7, columns - 0.3), ylim=(-3.8, 0.9), aspect="equal")
            panel.axis("off")


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    draw_combining(folder / "combining.svg")
    draw_orders(folder / "binomial-orders.svg")
    draw_lines(folder / "grid-lines.svg")
