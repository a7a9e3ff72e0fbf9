# SPDX-License-Identifier: BSD-3-Clause
"""Draws the communication matrix, with ranks in slot order or in rank order."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from topoloom._core import CommGraph, Error
from topoloom.figure.links import LoadUnit
from topoloom.figure.page import open_page
from topoloom.figure.style import make_color_scale

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import LogNorm
    from matplotlib.image import AxesImage

    from topoloom._core import Allocation, Placement

# Maximum number of cells per side: with more, cells would be smaller than a pixel.
MAX_CELLS = 256


def make_ordered_matrix(
    graph: CommGraph, allocation: Allocation, placement: Placement
) -> tuple[npt.NDArray[np.float64], int]:
    """Sum bytes into a square of at most `MAX_CELLS` cells; also return ranks per cell.

    Row and column i stand for the i-th occupied slot in launcher order.
    """
    slots = np.asarray(placement.slots)
    order = np.empty(allocation.machine.slot_count, dtype=np.int64)
    order[np.asarray(allocation.slots)] = np.arange(allocation.slot_count)
    position = np.empty(len(slots), dtype=np.int64)
    position[np.argsort(order[slots])] = np.arange(len(slots))
    return make_matrix(graph, position)


def make_matrix(
    graph: CommGraph, position: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.float64], int]:
    """Sum bytes into a square of at most `MAX_CELLS` cells; also return ranks per cell.

    Rank i is in row and column ``position[i]``.
    """
    width = max(1, -(-len(position) // MAX_CELLS))
    cells = -(-len(position) // width)
    first = np.asarray(graph.first, dtype=np.int64)
    source = np.repeat(np.arange(graph.rank_count), np.diff(first))
    row = position[source] // width
    column = position[np.asarray(graph.peer)] // width
    matrix: npt.NDArray[np.float64] = np.bincount(
        row * cells + column,
        weights=np.asarray(graph.bytes, dtype=np.float64),
        minlength=cells * cells,
    ).astype(np.float64)
    return matrix.reshape(cells, cells), width


def draw_matrix(
    axes: Axes, matrix: npt.NDArray[np.float64], width: int, ranks: int, norm: Any
) -> AxesImage:
    """Draw a matrix; cells without messages stay white."""
    shown = np.ma.masked_equal(matrix, 0)
    cells = matrix.shape[0] * width
    extent = (-0.5, cells - 0.5, cells - 0.5, -0.5)
    image = axes.imshow(
        shown,
        cmap=make_color_scale(0.35),
        norm=norm,
        extent=extent,
        interpolation="nearest",
    )
    axes.set_xlim(-0.5, ranks - 0.5)
    axes.set_ylim(ranks - 0.5, -0.5)
    for spine in axes.spines.values():
        spine.set_visible(True)
    axes.locator_params(nbins=5, integer=True)
    axes.set_xlabel("to: position in the launcher's order")
    axes.set_ylabel("from: position")
    return image


def make_log_norm(values: npt.NDArray[np.float64]) -> LogNorm:
    """Make the logarithmic color range of the positive values of matrices."""
    from matplotlib.colors import LogNorm

    low, high = (values.min(), values.max()) if values.size else (1.0, 1.0)
    return LogNorm(low if low < high else low / 10, high)


def draw_scale(
    part: Any,
    image: Any,
    panels: list[Any],
    values: npt.NDArray[np.float64],
    width: int,
) -> None:
    """Draw the color scale of a matrix; one color if all messages have equal size."""
    low, high = values.min(), values.max()
    one = (
        {"boundaries": [high / 2, 1.5 * high], "values": [high]} if low == high else {}
    )
    bar = part.colorbar(image, ax=panels, shrink=0.85, pad=0.01, aspect=24, **one)
    plain = LoadUnit(np.ones(1), in_seconds=False)
    ticks = [high] if one else np.unique(np.geomspace(low, high, 4))
    bar.set_ticks(ticks, labels=[plain.format(tick) for tick in ticks])
    bar.minorticks_off()
    cell = f"from {width} ranks to {width}" if width > 1 else "rank to rank"
    bar.set_label(f"bytes, {cell}" if one else f"bytes, {cell} (logarithmic)")
    bar.outline.set_visible(False)


def draw_graph(path: str | Path, graph: CommGraph) -> None:
    """Draw the bytes from rank to rank as a matrix; ranks are in order.

    Parameters
    ----------
    path
        Output file; its suffix selects svg, png or pdf.
    graph
        The communication graph.
    """
    if graph.rank_count == 0:
        raise Error("a graph without ranks cannot be drawn")
    matrix, width = make_matrix(graph, np.arange(graph.rank_count))
    values = matrix[matrix > 0]
    with open_page(path, (6.5, 5.5)) as figure:
        figure.set_layout_engine("constrained")
        axes = figure.subplots()
        norm = make_log_norm(values)
        image = draw_matrix(axes, matrix, width, graph.rank_count, norm)
        axes.set_xlabel("to rank")
        axes.set_ylabel("from rank")
        if values.size:
            draw_scale(figure, image, [axes], values, width)
