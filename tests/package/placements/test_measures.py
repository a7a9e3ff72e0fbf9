# SPDX-License-Identifier: BSD-3-Clause
"""Names and units of measures in tables."""

from __future__ import annotations

import pytest

from topoloom._core import Allocation, Machine, judge, place, ring
from topoloom.placements.measures import (
    MEASURES,
    collect_measures,
    format_congestion,
    format_gain,
    format_hops,
    format_measure,
    format_objective,
    measure_title,
)

BYTES = Machine("torus:4x4")
SECONDS = Machine("torus:4x4,bandwidth=1GB/s")
WEIGHED = Machine("torus:4x4+node:2,distance=3")


@pytest.mark.parametrize(
    ("measure", "value", "text"),
    [
        ("predicted_seconds", 0.00125, "1.25 ms"),
        ("predicted_seconds", 3.2e-6, "3.2 us"),
        ("congestion_max", 0.0125, "12.5 ms"),
        ("inter_node_bytes", 3 * 2**20, "3.0 MiB"),
        ("inter_node_max", 512, "512 B"),
        ("traffic_average", 1536, "1.5 KiB"),
        ("traffic_average", 0.25, "0.25 B"),
        ("dilation_max", 1, "1 hop"),
        ("dilation_max", 12, "12 hops"),
        ("dilation_average", 1.5, "1.500 hops"),
        ("hop_bytes", 1234567, "1,234,567"),
        ("hops_per_byte", 2.5, "2.500"),
        ("minimal_share", 0.5, "0.500"),
        ("load_max", 16, "16"),
    ],
)
def test_every_measure_has_its_unit(measure: str, value: float, text: str) -> None:
    assert format_measure(measure, value, SECONDS) == text


def test_congestion_is_a_time_only_if_bandwidths_are_known() -> None:
    assert format_congestion(2500, BYTES) == "2.4 KiB"
    assert format_congestion(2500, Machine("torus:4x4,bandwidth=2")) == "2.4 KiB"
    assert format_congestion(2500, SECONDS) == "2500 s"
    assert format_measure("congestion_max", 2500, BYTES) == "2.4 KiB"


@pytest.mark.parametrize(
    ("objective", "value", "machine", "text"),
    [
        ("time", 0.5e-6, SECONDS, "500 ns"),
        ("congestion", 0.5e-6, SECONDS, "500 ns"),
        ("congestion", 1024, BYTES, "1.0 KiB"),
        ("congestion-soft", 1024, BYTES, "1.0 KiB"),
        ("congestion-soft", 2e-3, SECONDS, "2 ms"),
        ("hop-bytes", 1024, SECONDS, "1,024"),
        ("weighted(hop-bytes=1,congestion=2)", 2.5, SECONDS, "2.500"),
    ],
)
def test_every_objective_has_its_unit(
    objective: str, value: float, machine: Machine, text: str
) -> None:
    assert format_objective(value, objective, machine) == text


def test_measures_have_readable_titles() -> None:
    assert measure_title("predicted_seconds", SECONDS) == "predicted time"
    assert measure_title("inter_node_bytes", SECONDS) == "inter-node bytes"
    assert measure_title("inter_node_max", SECONDS) == "busiest node"
    assert measure_title("dilation_average", SECONDS) == "dilation, average"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("torus:4x4", "hops per byte"),
        ("torus:4x4+node:2", "hops per byte"),
        ("dragonfly:5x4,nodes=2", "hops per byte"),
        ("torus:4x4+node:2,distance=3", "distance per byte"),
        ("torus:4x4+node:2,distance=0:5", "distance per byte"),
        ("torus:4x4+node:2,port=0:3", "distance per byte"),
        ("tree:4:4,distance=1:10", "distance per byte"),
        ("rails:4:4:1,bandwidth=50GB/s,bandwidth.nvlink=450GB/s", "distance per byte"),
    ],
)
def test_hops_with_weights_are_called_distances(text: str, name: str) -> None:
    assert measure_title("hops_per_byte", Machine(text)) == name


@pytest.mark.parametrize(
    ("measure", "before", "after", "text"),
    [
        ("hop_bytes", 100, 75, "+25.0 %"),
        ("hop_bytes", 100, 120, "-20.0 % (more)"),
        ("hop_bytes", 0, 5, "-inf % (more)"),
        ("hop_bytes", 0, 0, "+0.0 %"),
        ("minimal_share", 0.5, 0.7, ""),
    ],
)
def test_increased_measures_are_marked(
    measure: str, before: float, after: float, text: str
) -> None:
    assert format_gain(measure, before, after) == text


def test_units_agree_with_singular_and_plural() -> None:
    assert [format_hops(n) for n in (0, 1, 2, 1234)] == [
        "0 hops",
        "1 hop",
        "2 hops",
        "1,234 hops",
    ]


def test_titles_are_unique_and_keys_match_judgements() -> None:
    titles = [measure.title for measure in MEASURES.values()]
    assert len(set(titles)) == len(titles)
    machine = Machine("torus:4x4")
    where = Allocation.whole(machine)
    judgement = judge(ring(16), where, place(ring(16), where, "block").placement)
    assert set(collect_measures(judgement)) < MEASURES.keys()
    assert set(collect_measures(judgement, shared=True)) == MEASURES.keys() - {
        "predicted_seconds",
        "predicted_seconds_with_background",
        "congestion_with_background",
        "minimal_share",
    }
