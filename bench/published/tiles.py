# SPDX-License-Identifier: BSD-3-Clause
"""Karlsson 2012, chapter 5: process grids on nodes."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import mean

from published.table import Ours
from readings.grids import (
    JAGUAR,
    RA,
    Cluster,
    GridCase,
    binomial,
    cases,
    nodes_in_tiles,
    predict_pipelined_bcast,
)
from topoloom import placements, schedules

SOURCE = "Karlsson 2012"
#: Tolerance of predictions from ping-pong times of another day.
GAIN = 0.25
GAIN_NOTE = (
    "the grids are ours, speeds those of Table 3.4, and a node has nothing but its "
    "channels that messages could share"
)
TIME_NOTES = {
    ("Alamode", "Pipeline Bcast"): "measured 2 to 4 times as long: all processes send "
    "and receive at once, which the ping-pong of Table 3.4 does not show",
    ("Alamode", "Binomial Bcast"): "ours counts the messages of a node in every round; "
    "where tiles do not divide lines by powers of two, fewer rounds stay inside",
    (
        "RA",
        "Pipeline Bcast",
    ): "measured 5 to 7 times as long, as scatters inside a node "
    "are in Table 4.9: its memory is shared, which the model lacks",
    (
        "RA",
        "Binomial Bcast",
    ): "measured 2 to 3 times as long, as scatters inside a node "
    "are in Table 4.9: its memory is shared, which the model lacks",
    ("Jaguar", "Pipeline Bcast"): "measured 2 to 3 times as long: processes wait for "
    "each other and for links of the torus, which the model lacks",
    ("Jaguar", "Binomial Bcast"): "measured as if the 12 messages of a node shared "
    "nothing: 16 rounds of 64 MB alone take 630 ms; perhaps 64 MB are of several lines",
}
SOLID_NOTE = (
    "the source does not say along what its broadcasts went, here binomial trees; "
    "on RA measured 4 to 10 times as long, on Jaguar 1.2 to 2.2 times"
)


def compute_values() -> Iterator[Ours]:
    """Compute the values of the chapter."""
    yield from compute_node_map()
    yield from count_external_links()
    yield from predict_bounds()
    yield from predict_bcasts()
    yield from compute_mean_gains()


def compute_node_map() -> Iterator[Ours]:
    """Compute the example, by rows and in tiles; the first axis is along rows."""
    table = "in text: 5.2.1 node-map example (4 nodes x 4 cores, 4x4 grid)"
    best = placements.node_tiles([4, 4], 4)[0]
    for name, tile in (("std", [1, 4]), ("tiled", best)):
        leaving = schedules.NodeMap([4, 4], nodes_in_tiles([4, 4], tile)).leaving
        for axis, counts in ((1, leaving[1]), (2, leaving[0])):
            text = ",".join(map(str, counts))
            yield Ours(SOURCE, table, f"{name} f_{{i,{axis}}}", "vector", text)


def count_external_links() -> Iterator[Ours]:
    """Count the links of every tile in a grid of 3x3 tiles."""
    table = "in text: 5.3.2 external links k1+k2"
    slips = {(12, 1): "printed 12 where 12 + 1 is meant"}
    for cores in (8, 12):
        for tile in sorted(placements.node_tiles([cores, cores], cores)):
            grid = [3 * side for side in tile]
            links = schedules.NodeMap(grid, nodes_in_tiles(grid, tile)).external_links
            row = f"{cores} cores, tile {tile[0]}x{tile[1]}"
            note = slips.get((tile[0], tile[1]), "")
            yield Ours(SOURCE, table, row, "external links", links, note)


def predict_bounds() -> Iterator[Ours]:
    """Predict pipelines on lines and tiles, considering only inter-node bytes."""
    table = "in text: Theta bounds (5.4)"
    links = schedules.GridLinks(outer_s_per_byte=1e-9)
    for machine, cores, axes in (
        ("Alamode", 4, 2),
        ("RA", 8, 2),
        ("Jaguar", 12, 2),
        ("RA", 8, 3),
        ("Jaguar", 12, 3),
    ):
        grid = [2 * cores] * axes
        line, tile = (
            schedules.NodeMap(grid, nodes_in_tiles(grid, one)).pipelined_time(
                links, 1e9, 1.0
            )
            for one in (
                [1] * (axes - 1) + [cores],
                placements.node_tiles(grid, cores)[0],
            )
        )
        yield Ours(SOURCE, table, f"{machine} {axes}-D", "Theta", line / tile)


def predict_bcasts() -> Iterator[Ours]:
    """Predict bcasts, and the ratios of the sums of our times, table by table."""
    totals: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for case in cases():
        if len(case.grid) == 3:
            for column, value in zip(
                ("standard", "tiled"), binomial(case), strict=True
            ):
                key = SOURCE, case.table, case.processes, f"{column} time"
                yield Ours(*key, value, SOLID_NOTE, within=GAIN)
            continue
        for name, times in (
            ("Pipeline Bcast", predict_pipelined_bcast(case)),
            ("Binomial Bcast", binomial(case)),
        ):
            totals.setdefault((case.table, name), []).append(times)
            for column, value in zip(("std rank", "tiled"), times, strict=True):
                key = SOURCE, case.table, f"{name} {case.processes}", f"{column} time"
                note = TIME_NOTES[case.cluster.name, name]
                yield Ours(*key, value, note, within=GAIN)
    for (table, name), all_times in totals.items():
        order, tiles = map(sum, zip(*all_times, strict=True))
        yield Ours(SOURCE, table, name, "Theta", order / tiles, GAIN_NOTE, within=GAIN)


def compute_mean_gains() -> Iterator[Ours]:
    """Average the gains of tiles for our binomial trees on three-dimensional grids."""
    for cluster in (RA, JAGUAR):
        ratios = [
            order / tiles
            for order, tiles in map(binomial, _list_three_dimensional_cases(cluster))
        ]
        row = f"3-D average improvement {cluster.name}"
        percent = 100 * (mean(ratios) - 1)
        yield Ours(
            SOURCE, "in text: 5-6", row, "value", percent, GAIN_NOTE, within=GAIN
        )


def _list_three_dimensional_cases(cluster: Cluster) -> list[GridCase]:
    return [case for case in cases() if len(case.grid) == 3 and case.cluster == cluster]
