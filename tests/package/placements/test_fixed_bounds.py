# SPDX-License-Identifier: BSD-3-Clause
"""Bounds with fixed ranks are below every placement that keeps these ranks."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from topoloom import Allocation, CommGraph, Machine, Placement, judge
from topoloom.placements import predicted_time
from topoloom.tasks.optimality_gap import prove_quick_bounds

MACHINES = [
    "torus:2x3,bandwidth=1GB/s,latency=1us",
    "mesh:3+node:2",
    "torus:3+node:2,bandwidth=1GB/s",
    "tree:2:3,bandwidth=10GB/s:2GB/s",
    "dragonfly:3x2,nodes=1,routing=ugal",
    "dragonfly:3x2,nodes=1,routing=ugal,bandwidth=1GB/s,latency=1us",
]


@st.composite
def draw_problem(draw: st.DrawFn) -> tuple[CommGraph, Allocation, dict[int, int]]:
    """Draw a graph of up to 5 ranks on 6 slots, with fixed ranks."""
    machine = Machine(draw(st.sampled_from(MACHINES)))
    ranks = draw(st.integers(2, 5))
    pairs = list(itertools.permutations(range(ranks), 2))
    amounts = st.lists(st.integers(0, 9), min_size=len(pairs), max_size=len(pairs))
    drawn = zip(pairs, draw(amounts), strict=True)
    edges = [(*pair, 1000 * amount) for pair, amount in drawn if amount]
    rows = np.array(edges or [(0, 1, 1)])
    graph = CommGraph.from_edges(ranks, *rows.T)
    slots = draw(st.permutations(range(machine.slot_count)))
    count = draw(st.integers(1, ranks))
    some = draw(st.permutations(range(ranks)))[:count]
    return graph, Allocation.whole(machine), dict(zip(some, slots, strict=False))


@settings(max_examples=2 * settings().max_examples)
@given(draw_problem())
def test_no_placement_with_the_fixed_ranks_is_below_a_bound(
    problem: tuple[CommGraph, Allocation, dict[int, int]],
) -> None:
    graph, allocation, fixed = problem
    bounds = prove_quick_bounds(graph, allocation, [graph], fixed=fixed)
    plain = prove_quick_bounds(graph, allocation, [graph])
    assert bounds is not None
    assert plain is not None
    assert bounds.hop_bytes >= plain.hop_bytes
    free = [rank for rank in range(graph.rank_count) if rank not in fixed]
    others = [slot for slot in allocation.slots.tolist() if slot not in fixed.values()]
    for chosen in itertools.permutations(others, len(free)):
        at = fixed | dict(zip(free, chosen, strict=True))
        slots = [at[rank] for rank in range(graph.rank_count)]
        placement = Placement(allocation, slots)
        found = judge(graph, allocation, placement, hottest=0)
        assert bounds.hop_bytes <= found.hop_bytes
        assert bounds.congestion <= found.congestion_max * (1 + 1e-9)
        if bounds.time is not None:
            seconds = predicted_time(graph, allocation, placement, phases=[graph])
            assert bounds.time <= seconds * (1 + 1e-9)
    if not free:
        assert bounds.hop_bytes == found.hop_bytes


def test_messages_leave_the_node_of_a_fixed_rank_unless_the_others_fit_there() -> None:
    machine = Machine("mesh:3,bandwidth=1GB/s+node:2")
    senders = CommGraph.from_edges(4, [1, 2, 3], [0, 0, 0], [3000, 2000, 1000])
    allocation = Allocation.whole(machine)
    bounds = prove_quick_bounds(senders, allocation, [senders], fixed={0: 0})
    assert bounds is not None
    assert bounds.congestion == pytest.approx(3e-6)  # rank 1 fits on the node of rank 0
    assert bounds.congestion_by == "injection"
    assert bounds.congestion_where == "fixed ranks"
    fixed = {0: 0, 3: 1}
    bounds = prove_quick_bounds(senders, allocation, [senders], fixed=fixed)
    assert bounds is not None
    assert bounds.congestion == pytest.approx(5e-6)
