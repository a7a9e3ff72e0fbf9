# SPDX-License-Identifier: BSD-3-Clause
"""Karlsson 2012, chapter 5: process grids on nodes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import mean

import numpy as np
from numpy.typing import NDArray

from published.table import Ours
from topoloom import placements, schedules

SOURCE = "Karlsson 2012"
Times = tuple[float, ...]

#: Means of the thesis in milliseconds, of which the table gives the ratio of the sums:
#: with the ranks as the library orders them, and tiled.
MEASURED: dict[str, dict[str, tuple[Times, Times]]] = {
    "Table 5.2 (Alamode 2-D)": {
        "MPI_Bcast": ((505.9, 1040, 1052), (443.3, 714.4, 853.9)),
        "Pipeline Bcast": ((634.4, 1371, 1504), (513.6, 1103, 1215)),
        "Binomial Bcast": ((621.7, 1048, 1105), (334.5, 861.4, 933.7)),
        "MPI_Gather": ((298, 409, 470.7), (164, 362.7, 421.8)),
        "MPI_Scatter": ((240.5, 314.2, 324.1), (148, 221.1, 269.1)),
    },
    "Table 5.3 (RA 2-D)": {
        "MPI_Bcast": ((288.5, 279.2, 281.7), (250, 256.7, 265.2)),
        "Pipeline Bcast": ((315.4, 324.8, 343.6), (238.2, 268.2, 291.3)),
        "Binomial Bcast": ((342.1, 368.4, 392.6), (297.6, 342.4, 338.7)),
        "MPI_Gather": ((599.2, 651.5, 667), (353.7, 380.2, 396.1)),
        "MPI_Scatter": ((856.9, 879.5, 909.7), (564.2, 582.9, 590.3)),
    },
    "Table 5.4 (Jaguar 2-D)": {
        "MPI_Bcast": ((512.5, 551.5, 598.5), (332.8, 335.6, 344.8)),
        "Pipeline Bcast": ((535.3, 586.4, 718.9), (385.1, 471.6, 458.9)),
        "Binomial Bcast": ((703.9, 759.4, 979.8), (408.7, 495.8, 548.6)),
        "MPI_Gather": ((1808, 1989, 2375), (960.5, 1260, 1325)),
        "MPI_Scatter": ((1703, 1862, 2093), (1028, 1032, 1161)),
    },
}
#: The same of Table 5.1, whose improvements the text gives as means.
MEASURED_3D: dict[str, tuple[Times, Times]] = {
    "RA": ((705.29, 1160.92, 1923.85), (653.04, 1116.57, 1708.53)),
    "Jaguar": (
        (633.23, 831.88, 1034.24, 1149.27, 1382.14),
        (556.78, 612.77, 728.01, 876.16, 981.49),
    ),
}


def rows() -> Iterator[Ours]:
    """Compute what we know of the chapter."""
    yield from node_maps()
    yield from external_links()
    yield from improvements()
    yield from measured_improvements()
    yield from communicators()


def nodes_in_tiles(grid: list[int], tile: list[int]) -> NDArray[np.uint32]:
    """Return the node of every cell where each takes one tile."""
    row, column = np.indices(grid)
    across = grid[1] // tile[1]
    node = row // tile[0] * across + column // tile[1]
    return np.ravel(node).astype(np.uint32)


def node_maps() -> Iterator[Ours]:
    """Make the example, by rows and in tiles; the first axis is along rows."""
    table = "in text: 5.2.1 node-map example (4 nodes x 4 cores, 4x4 grid)"
    best = placements.node_tiles([4, 4], 4)[0]
    for name, tile in (("std", [1, 4]), ("tiled", best)):
        leaving = schedules.NodeMap([4, 4], nodes_in_tiles([4, 4], tile)).leaving
        for axis, counts in ((1, leaving[1]), (2, leaving[0])):
            text = ",".join(map(str, counts))
            yield Ours(SOURCE, table, f"{name} f_{{i,{axis}}}", "vector", text)


def external_links() -> Iterator[Ours]:
    """Count the links of every tile inside a grid of 3x3 tiles."""
    table = "in text: 5.3.2 external links k1+k2"
    slips = {(12, 1): "printed 12 where 12 + 1 is meant"}
    for cores in (8, 12):
        for tile in sorted(placements.node_tiles([cores, cores], cores)):
            grid = [3 * side for side in tile]
            links = schedules.NodeMap(grid, nodes_in_tiles(grid, tile)).external_links
            row = f"{cores} cores, tile {tile[0]}x{tile[1]}"
            note = slips.get((tile[0], tile[1]), "")
            yield Ours(SOURCE, table, row, "external links", links, note)


def improvements() -> Iterator[Ours]:
    """Divide the links of lines by those of the best tile, and take the example."""
    for machine, cores, axes in (
        ("Alamode", 4, 2),
        ("RA", 8, 2),
        ("Jaguar", 12, 2),
        ("RA", 8, 3),
        ("Jaguar", 12, 3),
    ):
        tile = placements.node_tiles([cores] * axes, cores)[0]
        line = [1] * (axes - 1) + [cores]
        theta = placements.tile_surface(line) / placements.tile_surface(tile)
        row = f"{machine} {axes}-D"
        yield Ours(SOURCE, "in text: Theta bounds (5.4)", row, "Theta", theta)
    rows_of, columns = 1000, 1000
    processes = 100
    side = placements.node_tiles([rows_of, columns], rows_of * columns // processes)[0][
        0
    ]
    yield Ours(
        SOURCE,
        "in text: 5.3 formulas",
        "all-node tiled stencil message example",
        "value",
        f"2*{columns} vs 4*{side} messages per process",
    )


def measured_improvements() -> Iterator[Ours]:
    """Divide what was measured."""
    other = "not the ratio of the sums of these times, as the other cells are"
    digit = "the last digit is cut off or up"
    slips = {
        ("Table 5.2 (Alamode 2-D)", "MPI_Bcast"): other,
        ("Table 5.2 (Alamode 2-D)", "MPI_Scatter"): digit,
        ("Table 5.3 (RA 2-D)", "Pipeline Bcast"): other,
        ("Table 5.3 (RA 2-D)", "MPI_Gather"): digit,
        ("Table 5.3 (RA 2-D)", "MPI_Scatter"): digit,
        ("Table 5.4 (Jaguar 2-D)", "MPI_Gather"): other,
    }
    for table, collectives in MEASURED.items():
        for name, (standard, tiled) in collectives.items():
            theta = sum(standard) / sum(tiled)
            note = slips.get((table, name), "")
            yield Ours(SOURCE, table, name, "Theta", theta, note)
    for machine, (standard, tiled) in MEASURED_3D.items():
        ratios = (a / b for a, b in zip(standard, tiled, strict=True))
        percent = 100 * (mean(ratios) - 1)
        row = f"3-D average improvement {machine}"
        note = "the text says 8 to 10 %" if machine == "RA" else ""
        yield Ours(SOURCE, "in text: 5-6", row, "value", percent, note)


def communicators() -> Iterator[Ours]:
    """Split 12 processes into rows and columns of a 3x4 grid."""
    table = "Table A.3 (communicator split example)"
    grid = placements.nearest_extents([3, 4], 12)
    for rank, process in enumerate("abcdefghijkm"):
        row, column = divmod(rank, math.prod(grid[1:]))
        for name, value in (("rank", rank), ("row", row), ("column", column)):
            yield Ours(SOURCE, table, process, name, value)
