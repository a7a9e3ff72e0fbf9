# SPDX-License-Identifier: BSD-3-Clause
"""Predicts times of collectives on a process grid for every tile shape of a node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING, cast

import numpy as np

from topoloom._core import Error, GridLinks, NodeMap, Placement, node_tiles
from topoloom.nodes.hosts import slots_per_host
from topoloom.placements.placement_file import PlacementFile
from topoloom.support.parameter_error import check_int64
from topoloom.tasks.collectives.grid import (
    LineTraffic,
    check_cells,
    compute_line_traffic,
)
from topoloom.tasks.collectives.line_speeds import LineSpeeds

if TYPE_CHECKING:
    from topoloom.documents.collectives import LineTrafficFields, TilesDocument

#: Collectives by which tiles can be ranked, and their time field in `LineTraffic`.
COLLECTIVES = {
    "pipelined": "pipelined_seconds",
    "bcast": "binomial_bcast_seconds",
    "scatter": "binomial_scatter_seconds",
    "gather": "binomial_gather_seconds",
}
#: Maximum number of cells in a grid, since tiles are evaluated cell by cell.
MAX_CELLS = 1 << 24


@dataclass(frozen=True)
class TiledTraffic:
    """Traffic along the axes of a grid if each node has one tile of this shape."""

    tile: list[int]
    traffic: LineTraffic


@dataclass(frozen=True)
class TileTimes:
    """All tile shapes that divide a grid, from fastest to slowest."""

    file: PlacementFile
    extents: list[int]
    bytes: int
    speeds: str
    reading: str
    collective: str
    tiles: list[TiledTraffic]

    def document(self) -> TilesDocument:
        """Return the fields of the ``--json`` output."""
        return {
            "machine": self.file.machine.text,
            "grid": self.extents,
            "bytes": self.bytes,
            "speeds": self.speeds,
            "reading": self.reading,
            "collective": self.collective,
            "tiles": [
                {"tile": one.tile, **cast("LineTrafficFields", vars(one.traffic))}
                for one in self.tiles
            ],
        }

    def place_ranks(self) -> PlacementFile:
        """Return the placement with one tile of the fastest shape per node."""
        grid, tile = self.extents, self.tiles[0].tile
        slots = np.empty(prod(grid), np.uint32)
        cells = np.arange(prod(grid)).reshape(
            [
                size
                for pair in zip(_count_tiles(grid, tile), tile, strict=True)
                for size in pair
            ]
        )
        axes = [*range(0, 2 * len(grid), 2), *range(1, 2 * len(grid), 2)]
        slots[cells.transpose(axes).ravel()] = self.file.allocation.slots[: len(slots)]
        return replace(
            self.file,
            placement=Placement(self.file.allocation, slots),
            mapper="tile",
            values={},
            seed=0,
            work=0,
            command=(),
        )


def time_tiles(
    extents: Sequence[int],
    cores: int,
    links: GridLinks,
    bytes: float,
    collective: str = "pipelined",
    reading: str = "counted",
) -> list[TiledTraffic]:
    """Predict times for every tile of `cores` cells that divides a grid; sort by time.

    Tiles of equal time are sorted by external links. Source: Karlsson 2012, sec. 5.3.4,
    minimized over the extents of the tile.

    Raises
    ------
    topoloom.Error
        If the grid has more than `MAX_CELLS` cells.
    """
    key = _find_time_field(collective)
    grid = list(extents)
    if prod(grid) > MAX_CELLS:
        raise Error(
            f"a grid of {'x'.join(map(str, grid))} has {prod(grid):,} cells; up to "
            f"{MAX_CELLS:,} can be timed"
        )
    found = []
    for tile in node_tiles(grid, cores):
        node = np.zeros(grid, np.uint32)
        for at, count, side in zip(
            np.ogrid[tuple(map(slice, grid))],
            _count_tiles(grid, tile),
            tile,
            strict=True,
        ):
            node *= np.uint32(count)
            node += (at // side).astype(np.uint32)
        traffic = compute_line_traffic(
            NodeMap(grid, node.ravel()), links, bytes, reading
        )
        found.append(TiledTraffic(tile, traffic))
    # Equal times may differ in their last digits because of rounding.
    return sorted(
        found,
        key=lambda one: (
            float(f"{getattr(one.traffic, key):.9e}"),
            one.traffic.external_links,
        ),
    )


def rank_tiles(
    file: PlacementFile,
    extents: Sequence[int],
    speeds: LineSpeeds | None = None,
    bytes: int = 1 << 20,
    collective: str = "pipelined",
    reading: str = "counted",
    name: str = "the placement",
) -> TileTimes:
    """Predict times of tiles for a placement's nodes; error messages contain `name`.

    Raises
    ------
    topoloom.Error
        If the nodes have unequal numbers of ranks. With equal numbers, some tile always
        divides the grid.
    """
    check_int64("bytes", bytes, 1)
    _find_time_field(collective)
    grid = list(extents)
    ranks = len(file.placement.slots)
    check_cells(grid, ranks, name)
    nodes = file.allocation.slots[:ranks] // slots_per_host(file.machine)
    counts = np.unique(nodes, return_counts=True)[1]
    cores = int(counts[0])
    if (counts != cores).any():
        raise Error(
            f"{name} gives nodes {counts.min()} to {counts.max()} ranks, but tiles "
            "have equal sizes; use the mapper `tile`"
        )
    links, text = (speeds or LineSpeeds()).resolve(file.allocation, ranks)
    tiles = time_tiles(grid, cores, links, bytes, collective, reading)
    return TileTimes(file, grid, bytes, text, reading, collective, tiles)


def _count_tiles(grid: Sequence[int], tile: Sequence[int]) -> list[int]:
    return [extent // side for extent, side in zip(grid, tile, strict=True)]


def _find_time_field(collective: str) -> str:
    if collective not in COLLECTIVES:
        raise Error(
            f"no collective '{collective}' for tiles; expected one of "
            f"{', '.join(COLLECTIVES)}"
        )
    return COLLECTIVES[collective]
