# SPDX-License-Identifier: BSD-3-Clause
"""The benchmark of short all-to-alls: its machines, and what its table says."""

from __future__ import annotations

from pathlib import Path

import pytest

from collectives.__main__ import MARKS, table
from collectives.cases import MACHINES, RANKS, Result, network_model
from topoloom.machines.machine_file import load_machine

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("machine", MACHINES)
def test_machines_have_nodes_and_models(machine: str) -> None:
    assert load_machine(machine).node_count >= RANKS
    model = network_model(machine)
    assert 0 < model.time(64) < model.time(1 << 20)


def test_the_gain_is_against_the_better_of_what_mpi_does() -> None:
    slow = Result("a", "m", 64, 8e-6, 6e-6, "bruck", 4e-6, 3e-6, "mesh", 1.0)
    even = Result("b", "m", 64, 2e-6, 9e-6, "bruck", 2e-6, 2e-6, "at-once", 1.0)
    assert slow.gain == pytest.approx(2)
    assert even.gain == pytest.approx(1)
    assert table([slow, even]).endswith("**1.41** |")


def test_the_page_has_its_table() -> None:
    page = (ROOT / "docs" / "reference" / "benchmarks.md").read_text()
    begin, end = (page.index(mark) for mark in MARKS)
    for machine in MACHINES:
        assert f"| {machine} |" in page[begin:end]
