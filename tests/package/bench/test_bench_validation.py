# SPDX-License-Identifier: BSD-3-Clause
"""The correlation of objectives with simulated times: cases and page."""

from __future__ import annotations

from pathlib import Path

import pytest

from topoloom import Allocation, Machine
from topoloom.graphs.phases import add_phases
from topoloom.placements import objective_value
from validation.__main__ import MARKS
from validation.cases import MACHINES, PATTERNS, SHORT, placements
from validation.measure import ETHERNET, Run, correlation
from validation.tables import AIM, list_missed_targets, report

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("machine", MACHINES)
def test_placements_are_numerous_and_of_different_quality(machine: str) -> None:
    phases = PATTERNS["2-D halo"]()
    allocation = Allocation.whole(Machine(MACHINES[machine]))
    graph = add_phases(phases)
    found = list(placements(phases, allocation))
    assert len({name for name, _ in found}) == len(found) >= 30
    congestion = [
        objective_value(graph, allocation, placement, objective="congestion")
        for _, placement in found
    ]
    assert max(congestion) >= 2 * min(congestion)
    assert len(set(congestion)) > 4


def test_simgrid_defaults_equal_its_ethernet_settings() -> None:
    keys = {setting.partition(":")[0] for setting in ETHERNET}
    assert not keys & {"network/model", "network/TCP-gamma", "network/crosstraffic"}
    assert {"network/optim", "smpi/simulate-computation"} <= keys


def make_runs(values: list[float], pattern: str = "halo") -> list[Run]:
    names = ("hop_bytes", "dilation_max", "traffic_average")
    names = (*names, "congestion", "congestion-soft", "time")
    return [
        Run(
            *("torus", pattern, str(place)),
            {name: 1 if name == "dilation_max" else value for name in names},
            simulated=place + 1.0,
            ethernet=place + 1.0,
        )
        for place, value in enumerate(values)
    ]


def test_the_correlation_is_a_rank_correlation() -> None:
    assert correlation(make_runs([1, 2, 100]), "time") == pytest.approx(1)
    assert correlation(make_runs([3, 2, 1]), "time") == pytest.approx(-1)
    # By hand: 1 - 6 * (0 + 1 + 1) / (3 * 8).
    assert correlation(make_runs([1, 3, 2]), "time") == pytest.approx(0.5)
    assert correlation(make_runs([1, 2, 3]), "dilation_max") is None


def test_values_within_one_percent_count_as_equal() -> None:
    assert correlation(make_runs([1, 1.009, 1.02]), "time") == pytest.approx(0.75**0.5)
    assert correlation(make_runs([1, 1.009, 1.005]), "time") is None


def test_low_correlations_are_named_except_for_short_messages() -> None:
    assert AIM == 0.9
    assert list_missed_targets(make_runs([1, 2, 3])) == []
    assert list_missed_targets(make_runs([1, 3, 2])) == [
        "torus, halo: congestion 0.500",
        "torus, halo: time 0.500",
    ]
    assert list_missed_targets(make_runs([1, 3, 2], SHORT)) == []


def test_the_last_row_contains_the_minimum_of_each_column() -> None:
    both = [
        *make_runs([1, 2, 3], "a"),
        *make_runs([1, 3, 2], "b"),
        *make_runs([3, 2, 1], SHORT),
    ]
    least, short = (line for line in report(both).splitlines() if "**" in line)
    assert "| 6 | 0.500 |" in least
    assert "| 3 | -1.000 |" in short


def test_the_page_contains_its_table_and_picture() -> None:
    page = (ROOT / "docs" / "validation.md").read_text()
    begin, end = (page.index(mark) for mark in MARKS)
    for machine in MACHINES:
        assert page[begin:end].count(f"| {machine} |") == len(PATTERNS)
    assert "](validation.svg)" in page
    assert (ROOT / "docs" / "validation.svg").exists()
