# SPDX-License-Identifier: BSD-3-Clause
"""Mapping on ragged pieces of a torus: C. D. Sudheer, 2012, chapters 6 and 7."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from statistics import geometric_mean

from contention.cases import BANDWIDTH, RAGGED, TABLE_SIZES, Case
from contention.patterns import UNIT
from published.table import Ours
from topoloom import Allocation, CommGraph, place
from topoloom.placements import objective_value

SOURCE = "Sudheer 2012"
SEEDS = (1, 2, 3)
NEAR = {
    "Default": "block",
    "GGE": "gge",
    "MAHD": "mahd",
    "EMAHD": "emahd",
    "GRASP": "grasp",
}
ON_LINKS = {**NEAR, "LocalOpt": "emahd+local-opt"}
NEAR_SIZES = TABLE_SIZES[1:]  # at least 8 ranks
LINK_SIZES = TABLE_SIZES[:-2]  # up to 216
#: Mean spread of GRASP's hops per byte on our three ragged allocations.
SPREAD = 0.27
UNKNOWN = (
    "mesh, allocation and numbering of the source are not known; ours: random "
    "triangulations cut by coordinates, on three ragged pieces of a 25x16x24 torus"
)
UNITS = f"{UNKNOWN}; so is its unit; ours: an edge of the mesh"


@dataclass(frozen=True)
class PlacementMeasures:
    """Measures of a placement: hops per byte, and mesh edges on the busiest link."""

    hops: float
    load: float


def compute_values() -> Iterator[Ours]:
    """Yield the values of Tables 6.1 and 7.1, and of the text."""
    table = "Table 6.1 (hops per byte, Mesh pattern)"
    for ranks in NEAR_SIZES:
        for column, mapper in NEAR.items():
            value = round(
                geometric_mean(
                    f.hops for f in judge_meshes(ranks, mapper, "hop-bytes")
                ),
                2,
            )
            yield Ours(SOURCE, table, str(ranks), column, value, UNKNOWN, SPREAD)
    table = "Table 7.1 (load on the maximum congested link, Mesh pattern)"
    for ranks in LINK_SIZES:
        for column, mapper in ON_LINKS.items():
            value = round(
                geometric_mean(
                    f.load for f in judge_meshes(ranks, mapper, "congestion")
                )
            )
            yield Ours(SOURCE, table, str(ranks), column, value, UNITS)
    yield from _compute_text_values()


@cache
def make_problems(ranks: int) -> list[tuple[CommGraph, Allocation]]:
    """Make meshes, and ragged pieces of the torus of their size."""
    cases = [Case("published", RAGGED, "Mesh", ranks, s) for s in SEEDS]
    return [(case.graph(), case.allocation()) for case in cases]


def judge_meshes(ranks: int, mapper: str, objective: str) -> list[PlacementMeasures]:
    """Place the meshes by a mapper, and measure the placements."""
    every = []
    for graph, allocation in make_problems(ranks):
        placed = place(graph, allocation, mapper, objective=objective).placement
        hop_bytes, seconds = (
            objective_value(graph, allocation, placed, objective=name)
            for name in ("hop-bytes", "congestion")
        )
        load = seconds * BANDWIDTH / UNIT
        every.append(PlacementMeasures(hop_bytes / graph.total_bytes, load))
    return every


def _compute_text_values() -> Iterator[Ours]:
    table = "in text: Ch.6-7"
    grasp, exact = (
        judge_meshes(8, mapper, "hop-bytes") for mapper in ("grasp", "exact")
    )
    ratio = geometric_mean(a.hops / b.hops for a, b in zip(grasp, exact, strict=True))
    about = "GRASP/exact small problems, about"
    yield Ours(SOURCE, table, about, "value", round(ratio, 2), UNKNOWN, 0.05)
    gain = geometric_mean(
        before.load / after.load
        for ranks in LINK_SIZES
        for before, after in zip(
            judge_meshes(ranks, "block", "congestion"),
            judge_meshes(ranks, "emahd+local-opt", "congestion"),
            strict=True,
        )
    )
    about = "max-contention improvement EMAHD+LocalOpt vs default"
    percent = round(100 * (gain - 1))
    yield Ours(SOURCE, table, about, "value", percent, UNKNOWN, stated="120")
