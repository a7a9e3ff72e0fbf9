# SPDX-License-Identifier: BSD-3-Clause
"""Places structured patterns on machines with more slots than ranks."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from topoloom import Allocation, CommGraph, Machine, place
from topoloom.graphs import alltoall, binomial_tree, bruck, recursive_doubling, ring

PATTERNS = (binomial_tree, recursive_doubling, bruck, ring, alltoall)
MACHINES = (
    "torus:4x4",
    "mesh:4x4",
    "tree:4:4",
    "torus:2x2+node:4",
    "torus:8x2,nodes=2",
)


@pytest.mark.parametrize("text", MACHINES)
@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern.__name__)
@pytest.mark.parametrize("ranks", [1, 2, 7, 8])
def test_every_rank_gets_a_separate_slot(
    pattern: Callable[..., CommGraph], text: str, ranks: int
) -> None:
    graph = pattern(ranks, 1000)
    allocation = Allocation.whole(Machine(text))
    for mapper in ("auto(effort=fast)", "structure"):
        slots = place(graph, allocation, mapper).placement.slots.tolist()
        assert len(set(slots)) == ranks
        assert max(slots) < allocation.slot_count
