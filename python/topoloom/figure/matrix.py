# SPDX-License-Identifier: BSD-3-Clause
"""Draws the communication matrix, with ranks in slot order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from topoloom.figure.style import make_color_scale

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage

    from topoloom._core import Allocation, CommGraph, Placement

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
    width = -(-len(slots) // MAX_CELLS)
    cells = -(-len(slots) // width)
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
    extent = (-0.5, ranks - 0.5, ranks - 0.5, -0.5)
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
