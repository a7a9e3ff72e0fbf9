# SPDX-License-Identifier: BSD-3-Clause
"""Tests the machines that `make bench-stream` simulates."""

from __future__ import annotations

from math import prod

import pytest

from stream import node_positions


@pytest.mark.parametrize("ranks", node_positions.TORI)
def test_machines_have_a_core_for_each_simulated_rank(ranks: int) -> None:
    nodes = prod(node_positions.TORI[ranks])
    assert prod(node_positions.TREES[ranks]) == nodes
    for name in node_positions.MACHINES:
        described = node_positions.describe_platform(name, ranks)
        assert described.endswith(f'core="{ranks // nodes}"')
    assert ranks % nodes == 0
