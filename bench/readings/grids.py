# SPDX-License-Identifier: BSD-3-Clause
"""Bcasts on process grids: measured by Karlsson 2012, and modeled."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

import topoloom
from topoloom import graphs, placements, schedules

MB = 1 << 20
READINGS = ("printed", "counted")


@dataclass(frozen=True)
class Cluster:
    """A cluster: speeds by Table 3.4, channels by section 3.7 (Jaguar: Table 3.10)."""

    name: str
    cores: int
    latency_us: float
    between_mbs: float
    inside_mbs: float
    channels: int

    @property
    def links(self) -> schedules.GridLinks:
        """The model of the cluster's links."""
        return schedules.GridLinks(
            latency_s=self.latency_us * 1e-6,
            outer_s_per_byte=1e-6 / self.between_mbs,
            inner_s_per_byte=1e-6 / self.inside_mbs,
            channels=self.channels,
        )


ALAMODE = Cluster("Alamode", 4, 8.57, 118.93, 1046.3, 1)
RA = Cluster("RA", 8, 13.52, 1021.3, 1271.0, 3)
JAGUAR = Cluster("Jaguar", 12, 1.33, 1627.5, 2218.8, 2)


@dataclass(frozen=True)
class GridCase:
    """A bcast measured in default order and in tiles.

    The source states numbers of processes, not grids. The grids here are the most
    nearly square or cubic ones whose tiles fill whole nodes; nodes do not divide 20,000
    and 40,000 processes.
    """

    table: str
    processes: str  # as printed in the table
    cluster: Cluster
    grid: tuple[int, ...]
    megabytes: int

    @property
    def name(self) -> str:
        """The name of the case."""
        return f"{self.cluster.name}, {'x'.join(map(str, self.grid))}"

    @property
    def bytes(self) -> int:
        """Bytes of the message."""
        return self.megabytes * MB


_2D = (
    ("Table 5.2 (Alamode 2-D)", ALAMODE, 8, ((4, 4), (6, 6), (6, 8))),
    ("Table 5.3 (RA 2-D)", RA, 16, ((6, 8), (8, 8), (8, 12))),
    ("Table 5.4 (Jaguar 2-D)", JAGUAR, 64, ((100, 200), (150, 200), (200, 200))),
)
_3D = (
    (RA, ((2, 4, 6), (4, 4, 4), (4, 4, 6))),
    (JAGUAR, ((12,) * 3, (18,) * 3, (24,) * 3, (30,) * 3, (36,) * 3)),
)


def cases() -> Iterator[GridCase]:
    """List the cases of Tables 5.2 to 5.4, then those of 5.1."""
    for table, cluster, megabytes, grids in _2D:
        for grid in grids:
            count = "94 (96?)" if grid == (8, 12) else str(math.prod(grid))
            yield GridCase(table, f"p={count}", cluster, grid, megabytes)
    for cluster, solids in _3D:
        for solid in solids:
            count = f"{cluster.name} p={math.prod(solid)}"
            yield GridCase("Table 5.1 (3-D Bcast, 16 MB)", count, cluster, solid, 16)


@cache
def node_maps(case: GridCase) -> tuple[schedules.NodeMap, schedules.NodeMap]:
    """Return the node maps of the default order and of tiles."""
    grid, cores = list(case.grid), case.cluster.cores
    order = np.arange(math.prod(grid), dtype=np.uint32) // cores
    return schedules.NodeMap(grid, order), schedules.NodeMap(
        grid, _make_tiled_map(grid, cores)
    )


def _make_tiled_map(grid: list[int], cores: int) -> NDArray[np.uint32]:
    ranks = math.prod(grid)
    if ranks % cores == 0:
        return nodes_in_tiles(grid, placements.node_tiles(grid, cores)[0])
    graph = graphs.stencil(grid, points=2 * len(grid) + 1, periodic=False, bytes=1)
    machine = topoloom.load_machine(f"fattree:{-(-ranks // cores)}+node:{cores}")
    allocation = topoloom.Allocation.whole(machine)
    text = f"tile(grid={'x'.join(map(str, grid))})"
    found = topoloom.place(graph, allocation, text)
    return (np.asarray(found.placement.slots) // cores).astype(np.uint32)


def nodes_in_tiles(grid: list[int], tile: list[int]) -> NDArray[np.uint32]:
    """Return the node of every cell if each node gets one tile."""
    node = np.zeros(grid, np.uint32)
    for at, extent, side in zip(np.indices(grid), grid, tile, strict=True):
        node = node * np.uint32(extent // side) + at.astype(np.uint32) // side
    return np.ravel(node).astype(np.uint32)


def predict_pipelined_bcast(
    case: GridCase, reading: str = "counted"
) -> tuple[float, float]:
    """Return the times in ms, in default order and in tiles, with the best segments."""
    links = case.cluster.links

    def time(node_map: schedules.NodeMap) -> float:
        segment = node_map.best_segment(links, case.bytes, reading=reading)
        return 1e3 * node_map.pipelined_time(
            links, case.bytes, segment, reading=reading
        )

    order, tiles = node_maps(case)
    return time(order), time(tiles)


def binomial(case: GridCase) -> tuple[float, float]:
    """Return milliseconds in default order and in tiles."""
    links = case.cluster.links
    order, tiles = (
        1e3 * one.binomial_time("bcast", links, case.bytes) for one in node_maps(case)
    )
    return order, tiles
