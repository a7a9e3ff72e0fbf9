# SPDX-License-Identifier: BSD-3-Clause
"""The communication matrix as a pyramid: cells of 1, 2, 4, ... ranks, those with bytes.

Row and column i stand for the i-th occupied slot in the launcher's order. The page
gets the finest level that fits and adds its cells up to the coarser ones by itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from topoloom._core import Allocation, CommGraph, Placement
    from topoloom.figure.links import Array

MAX_CELLS = 2_000_000  # beyond, no page would hold a level


@dataclass(frozen=True)
class Level:
    """One level of the pyramid.

    Attributes
    ----------
    width
        Ranks in a row of cells, and in a column.
    row, column : int arrays of shape ``(cells,)``
        Cells that carry bytes, row by row.
    bytes : float array of shape ``(cells,)``
        From all ranks of the row to all of the column.
    """

    width: int
    row: Array
    column: Array
    bytes: Array

    def coarser(self) -> Level:
        """Add up four cells to one."""
        return _level(2 * self.width, self.row // 2, self.column // 2, self.bytes)


def finest_level(graph: CommGraph, position: Array) -> Level:
    """Lay the pattern out in slot order; coarser where even the file would be huge."""
    first = np.asarray(graph.first, dtype=np.int64)
    source = np.repeat(np.arange(graph.rank_count), np.diff(first))
    row, column = position[source], position[np.asarray(graph.peer)]
    width = 1
    while True:
        level = _level(width, row // width, column // width, np.asarray(graph.bytes))
        if len(level.row) <= MAX_CELLS:
            return level
        width *= 2


def positions(allocation: Allocation, placement: Placement) -> Array:
    """Find the position of each rank, in the launcher's order of their slots."""
    order = np.empty(allocation.machine.slot_count, dtype=np.int64)
    order[np.asarray(allocation.slots)] = np.arange(allocation.slot_count)
    slots = np.asarray(placement.slots)
    position = np.empty(len(slots), dtype=np.int64)
    position[np.argsort(order[slots], kind="stable")] = np.arange(len(slots))
    return position


def _level(width: int, row: Array, column: Array, amount: Array) -> Level:
    across = int(max(row.max(initial=0), column.max(initial=0))) + 1
    cells, cell = np.unique(row * across + column, return_inverse=True)
    total = np.bincount(cell.reshape(-1), amount.astype(np.float64), len(cells))
    kept = total > 0
    return Level(width, cells[kept] // across, cells[kept] % across, total[kept])
