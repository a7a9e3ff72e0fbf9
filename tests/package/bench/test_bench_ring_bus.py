# SPDX-License-Identifier: BSD-3-Clause
"""The affinity benchmark writes tables and a figure, and models a particle code."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ring_bus.__main__ import format_rates, patterns_table
from ring_bus.cases import measure
from ring_bus.figure import draw
from ring_bus.particles import compute_threshold_time, seconds, step
from topoloom.tasks.bus.affinity import BandwidthRange
from topoloom.tasks.bus.named_affinities import NAMED


def test_each_pattern_has_a_table_row_and_a_figure_panel(tmp_path: Path) -> None:
    found = [measure("ring"), measure("rd2")]
    _, _, ring, doubling = patterns_table(found).splitlines()
    assert ring.startswith("| Ring | 16.6 20.6 24.6 | 16.6 |")
    assert "12.6 14.5 24.6" in doubling
    draw(found, tmp_path / "bus.svg")
    assert (tmp_path / "bus.svg").stat().st_size > 1000


def test_equal_rates_are_printed_only_once() -> None:
    assert format_rates(BandwidthRange(1e9, 1e9, 1e9)) == "1.0"
    assert format_rates(BandwidthRange(1e9, 1e9, 2e9)) == "1.0 2.0"


def test_a_step_of_particles_takes_at_least_two_messages_per_element() -> None:
    size = 32 * 1024
    graph = step(np.full(8, size))
    assert graph.edge_count == 16
    _, elements = NAMED["leap2"]
    alone = 1e-7 + 2 * size / 25.6e9
    assert seconds(graph, elements).tolist() == pytest.approx([alone] * 3)


def test_computation_hides_slower_messages() -> None:
    slow, fast = 2.0, 1.0
    computing = compute_threshold_time(slow, fast)
    assert (slow + computing) / (fast + computing) == pytest.approx(1.1)
