# SPDX-License-Identifier: BSD-3-Clause
"""Draws a fold and the curves of `docs/how-to/place/structured-programs.md`.

Usage: ``python docs/structured_pictures.py docs/how-to/place`` writes `fold.svg` and
`curves.svg` there.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import topoloom
from topoloom.figure.style import AFTER, SETTINGS, make_color_scale

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

#: A plane of boxes on a torus; the long axis is split over the last two axes.
PLANE = (4, 16)
TORUS = (4, 4, 4)
#: Curves with the side of a square that suits each.
CURVES = {"hilbert": 8, "morton": 8, "peano": 9, "snake": 8}
#: How far the planes of the torus are apart on paper, to the right and up.
SHEAR = (5.0, 1.1)


@contextmanager
def page(file: Path, columns: int, **options: Any) -> Iterator[Any]:
    """Open panels side by side; draw them into the file."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    with pyplot.rc_context(SETTINGS):
        picture, panels = pyplot.subplots(1, columns, layout="constrained", **options)
        for panel in panels:
            panel.set_aspect("equal")
            panel.axis("off")
        yield panels
        picture.savefig(file, facecolor="w", metadata={"Date": None})
        pyplot.close(picture)


def positions(machine_text: str, mapper: str, ranks: list[int]) -> NDArray[np.int64]:
    """Return the coordinates of the node of every rank of a grid."""
    machine = topoloom.load_machine(machine_text)
    slots = topoloom.Allocation.whole(machine)
    graph = topoloom.graphs.stencil(ranks, points=2 * len(ranks) + 1)
    placement = topoloom.place(graph, slots, mapper).placement
    return np.array([machine.coordinates(int(slot)) for slot in placement.slots])


def draw_fold(file: Path) -> None:
    """Draw a plane, colored by where its long axis goes, and where it lies."""
    shape = "x".join(str(extent) for extent in TORUS)
    grid = "x".join(str(extent) for extent in PLANE)
    at = positions(f"torus:{shape}", f"fold(grid={grid})", list(PLANE))
    cells = np.array([divmod(rank, PLANE[1]) for rank in range(len(at))])
    along = make_color_scale()(cells[:, 1] / (PLANE[1] - 1))
    rows = {"width_ratios": [1, 1.25]}
    with page(file, 2, figsize=(8.4, 2.5), gridspec_kw=rows) as (left, right):
        left.set_title(f"a {PLANE[0]} x {PLANE[1]} grid of boxes")
        left.scatter(cells[:, 1], cells[:, 0], s=62, c=along, marker="s", zorder=2)
        connect(left, cells[:, ::-1].astype(float))
        right.set_title(f"folded onto a {' x '.join(map(str, TORUS))} torus")
        on_paper = np.stack(
            [
                at[:, 1] + SHEAR[0] * at[:, 2],
                at[:, 0] + SHEAR[1] * at[:, 2],
            ],
            axis=1,
        )
        right.scatter(*on_paper.T, s=48, c=along, zorder=2)
        connect(right, on_paper)
        for plane in range(TORUS[2]):
            foot = (1.5 + SHEAR[0] * plane, SHEAR[1] * plane - 0.9)
            right.text(*foot, f"plane {plane}", ha="center", fontsize=8)
        for axis in (left, right):
            axis.margins(0.04, 0.18)


def connect(panel: Axes, points: NDArray[np.float64]) -> None:
    """Join boxes that are neighbors along the long axis."""
    for row in points.reshape(*PLANE, 2):
        panel.plot(*row.T, color="#777777", linewidth=1.0, zorder=1)


def draw_curves(file: Path) -> None:
    """Draw every curve through a square, paler where it begins."""
    from matplotlib.collections import LineCollection

    with page(file, len(CURVES), figsize=(8.4, 2.3)) as panels:
        for panel, (name, side) in zip(panels, CURVES.items(), strict=True):
            path = positions(f"mesh:{side}x{side}", name, [side * side])[:, ::-1]
            steps = np.stack([path[:-1], path[1:]], axis=1)
            colors = make_color_scale()(np.linspace(0, 1, len(steps)))
            panel.add_collection(LineCollection(list(steps), colors=colors, lw=2.2))
            panel.plot(*path[0], "o", color=AFTER, markersize=4)
            panel.set(title=name, xlim=(-0.7, side - 0.3), ylim=(side - 0.3, -0.7))


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    draw_fold(folder / "fold.svg")
    draw_curves(folder / "curves.svg")
