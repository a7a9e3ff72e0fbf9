# SPDX-License-Identifier: BSD-3-Clause
"""Computes the communication matrix at several levels: cells of 1, 2, 4, ... ranks.

Row and column i stand for the i-th occupied slot in launcher order. The page contains
the finest level that fits; its script computes coarser levels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from topoloom._core import Allocation, CommGraph, Placement
    from topoloom.figure.links import Array

MAX_CELLS = 2_000_000  # maximum number of nonempty cells of a level


@dataclass(frozen=True)
class MatrixLevel:
    """The communication matrix at one cell size."""

    width: int  # number of ranks per cell in each direction
    #: `row`, `column`: int arrays of shape (cells,): nonempty cells in row-major order.
    row: Array
    column: Array
    #: float array of shape (cells,): bytes from the ranks of the row to the ranks of
    #: the column.
    bytes: Array

    def coarsen(self) -> MatrixLevel:
        """Make the next coarser level, which merges four cells into one."""
        return _make_level(2 * self.width, self.row // 2, self.column // 2, self.bytes)


def make_finest_level(graph: CommGraph, position: Array) -> MatrixLevel:
    """Make the finest level with at most `MAX_CELLS` cells, in slot order."""
    first = np.asarray(graph.first, dtype=np.int64)
    source = np.repeat(np.arange(graph.rank_count), np.diff(first))
    row, column = position[source], position[np.asarray(graph.peer)]
    width = 1
    while True:
        level = _make_level(
            width, row // width, column // width, np.asarray(graph.bytes)
        )
        if len(level.row) <= MAX_CELLS:
            return level
        width *= 2


def find_positions(allocation: Allocation, placement: Placement) -> Array:
    """Compute the position of each rank among occupied slots in launcher order."""
    order = np.empty(allocation.machine.slot_count, dtype=np.int64)
    order[np.asarray(allocation.slots)] = np.arange(allocation.slot_count)
    slots = np.asarray(placement.slots)
    position = np.empty(len(slots), dtype=np.int64)
    position[np.argsort(order[slots], kind="stable")] = np.arange(len(slots))
    return position


def _make_level(width: int, row: Array, column: Array, amount: Array) -> MatrixLevel:
    across = int(max(row.max(initial=0), column.max(initial=0))) + 1
    cells, cell = np.unique(row * across + column, return_inverse=True)
    total = np.bincount(cell.reshape(-1), amount.astype(np.float64), len(cells))
    kept = total > 0
    return MatrixLevel(width, cells[kept] // across, cells[kept] % across, total[kept])
