# SPDX-License-Identifier: BSD-3-Clause
"""Draws the picture of the first page: a torus twice, as launched and as placed.

Usage: ``python docs/front_picture.py halo.npz x.json docs/picture.png``, with the
graph and the placement of `docs/tutorial.md`. Links are colored and widened by the time
that their bytes take; the numbers are the predicted times.
"""

from __future__ import annotations

import sys

import numpy as np
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from topoloom._core import Placement, judge, predicted_time
from topoloom.figure.links import choose_load_unit, find_torus_links
from topoloom.figure.page import open_page
from topoloom.figure.style import AFTER, BEFORE, make_color_scale
from topoloom.figure.torus import draw_torus
from topoloom.graphs.graph_file import load_graph
from topoloom.placements.placement_file import load_placement


def main(graph_file: str, placement_file: str, picture: str) -> None:
    """Draw block order on the left and the placement on the right."""
    graph = load_graph(graph_file)
    placed = load_placement(placement_file)
    allocation = placed.allocation
    block = Placement(allocation, allocation.slots[: graph.rank_count])
    unit = choose_load_unit(allocation.machine)
    links = find_torus_links(allocation.machine)
    sides = (
        ("in the launcher's order", BEFORE, block),
        ("as Topoloom places the ranks", AFTER, placed.placement),
    )
    busy = [unit.compute_loads(judge(graph, allocation, side[2])) for side in sides]
    norm = Normalize(0, max(float(values.max()) for values in busy))
    with open_page(picture, (10.2, 5.0)) as figure:
        panels = figure.subplots(1, 2)
        figure.subplots_adjust(0.005, 0.17, 0.995, 0.92, wspace=0.01)
        for panel, values, side in zip(panels, busy, sides, strict=True):
            title, color, placement = side
            draw_torus(panel, links, values[: len(links.axis)], norm, allocation)
            for mark in list(panel.texts):  # names of the axes
                mark.remove()
            panel.set_title(title, fontsize=15)
            seconds = predicted_time(graph, allocation, placement)
            panel.text(
                0.5,
                -0.01,
                f"{seconds * 1e6:.0f} us",
                transform=panel.transAxes,
                ha="center",
                va="top",
                fontsize=32,
                fontweight="bold",
                color=color,
            )
        draw_scale(figure)


def draw_scale(figure: Figure) -> None:
    """Show which color is a busy link."""
    bar = figure.add_axes((0.45, 0.07, 0.1, 0.025))
    bar.imshow(np.linspace(0, 1, 64)[None], aspect="auto", cmap=make_color_scale())
    bar.set_axis_off()
    for place, word, side in ((-0.07, "quiet", "right"), (1.07, "busy link", "left")):
        bar.text(place, 0.5, word, transform=bar.transAxes, ha=side, va="center")


if __name__ == "__main__":
    main(*sys.argv[1:])
