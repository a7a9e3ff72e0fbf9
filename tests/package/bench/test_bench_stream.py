# SPDX-License-Identifier: BSD-3-Clause
"""Machines that `make bench-stream` simulates."""

from __future__ import annotations

from math import prod

import pytest

from stream import places


@pytest.mark.parametrize("ranks", places.TORI)
def test_machines_have_a_core_for_each_simulated_rank(ranks: int) -> None:
    nodes = prod(places.TORI[ranks])
    assert prod(places.TREES[ranks]) == nodes
    for name in places.MACHINES:
        assert places.described(name, ranks).endswith(f'core="{ranks // nodes}"')
    assert ranks % nodes == 0
