# SPDX-License-Identifier: BSD-3-Clause
"""Measures off-node traffic along the axes of a process grid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from topoloom._core import Error, GridLinks, NodeMap, nearest_extents
from topoloom.nodes.hosts import slots_per_host
from topoloom.placements.placement_file import PlacementFile
from topoloom.support.parameter_error import check_int64
from topoloom.tasks.collectives.line_speeds import LineSpeeds

if TYPE_CHECKING:
    from topoloom.documents.collectives import GridDocument, LineTrafficFields


@dataclass(frozen=True)
class LineTraffic:
    """Cost of simultaneous messages along all lines of a grid."""

    external_links_by_axis: list[int]  # maximum over nodes
    external_links: int
    segment_bytes: float  # segment size of a pipelined bcast
    pipelined_seconds: float
    binomial_bcast_seconds: float
    binomial_scatter_seconds: float
    binomial_gather_seconds: float


@dataclass(frozen=True)
class GridTraffic:
    """Traffic along the axes of a grid with a placement, and with block order."""

    file: PlacementFile
    extents: list[int]
    bytes: int
    speeds: str  # text that states the latency, the bandwidths and their origin
    reading: str  # "counted" or "printed"
    block: LineTraffic
    placed: LineTraffic

    def document(self) -> GridDocument:
        """Return the fields of the ``--json`` output."""
        return {
            "machine": self.file.machine.text,
            "grid": self.extents,
            "bytes": self.bytes,
            "speeds": self.speeds,
            "reading": self.reading,
            "mapper": self.file.mapper,
            "block": cast("LineTrafficFields", vars(self.block)),
            **cast("LineTrafficFields", vars(self.placed)),
        }


def measure_grid(
    file: PlacementFile,
    extents: Sequence[int],
    speeds: LineSpeeds | None = None,
    bytes: int = 1 << 20,
    name: str = "the placement",
    reading: str = "counted",
) -> GridTraffic:
    """Measure a placement whose ranks form a grid in row-major order.

    Error messages contain `name`, the name of the placement.

    Two models of pipelines exist. With ``counted``, the messages that leave a node
    along an axis share its channels; ``printed`` is the equation as printed in the
    source, Karlsson 2012.
    """
    check_int64("bytes", bytes, 1)
    slots, given = file.placement.slots, list(extents)
    check_cells(given, len(slots), name)

    def compute_traffic(slots: NDArray[np.uint32]) -> LineTraffic:
        # Renumbering drops nodes without ranks.
        _, nodes = np.unique(slots // slots_per_host(file.machine), return_inverse=True)
        node_map = NodeMap(given, nodes.astype(np.uint32))
        return compute_line_traffic(node_map, links, bytes, reading)

    links, text = (speeds or LineSpeeds()).resolve(file.allocation, len(slots))
    block = compute_traffic(file.allocation.slots[: len(slots)])
    return GridTraffic(file, given, bytes, text, reading, block, compute_traffic(slots))


def check_cells(extents: Sequence[int], ranks: int, name: str) -> None:
    """Raise an error if cells and ranks differ; the message suggests a fitting grid."""
    if prod(extents) != ranks:
        grid, near = (
            "x".join(map(str, each))
            for each in (extents, nearest_extents(list(extents), ranks))
        )
        raise Error(
            f"a grid of {grid} does not have {ranks} cells, one per rank of {name}; "
            f"the nearest grid is {near}"
        )


def compute_line_traffic(
    node_map: NodeMap, links: GridLinks, size: float, reading: str = "counted"
) -> LineTraffic:
    """Predict times of collectives on a grid; pipelines use the best segment size."""
    segment = node_map.best_segment(links, size, reading=reading)
    return LineTraffic(
        [max(axis) for axis in node_map.leaving],
        node_map.external_links,
        segment,
        node_map.pipelined_time(links, size, segment, reading=reading),
        node_map.binomial_time("bcast", links, size),
        node_map.binomial_time("scatter", links, size),
        node_map.binomial_time("gather", links, size),
    )
