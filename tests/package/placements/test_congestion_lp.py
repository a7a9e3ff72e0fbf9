# SPDX-License-Identifier: BSD-3-Clause
"""The linear relaxation never exceeds a placement's congestion, and is often close."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest

import topoloom.placements.congestion_lp as lp
from topoloom import Allocation, CommGraph, Error, Placement, judge, load_machine
from topoloom.allocations import fragmented_allocation
from topoloom.graphs import alltoall, binomial_tree, recursive_doubling, ring, stencil

MACHINES = [
    "torus:2x2x2",
    "torus:3x3",
    "torus:4x2,bandwidth=9GB/s,bandwidth.y=half",
    "mesh:2x3",
    "tree:2:3",
    "fattree:2:2:2",
    "ring:6",
    "dragonfly:2x2,nodes=2",
    "torus:3+node:2",
    "torus:2x2x2+down:7",
]
PATTERNS = {
    "square": stencil([2, 2], 5, False, 100),
    "path": CommGraph.from_edges(4, [0, 1, 2], [1, 2, 3], [10, 200, 3000]),
    "ring": ring(4, 10),
    "tree": binomial_tree(4, 10),
    "doubling": recursive_doubling(4, 10),
    "all": alltoall(4, 7),
    "uneven": CommGraph.from_edges(5, [0, 0, 4, 2], [1, 4, 2, 0], [70, 5, 0, 11]),
}


def find_least_congestion(graph: CommGraph, allocation: Allocation) -> float:
    return min(
        judge(graph, allocation, Placement(allocation, slots), threads=1).congestion_max
        for slots in permutations(allocation.slots.tolist(), graph.rank_count)
    )


@pytest.fixture
def solver_in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Solve in this process, because starting another process takes longer."""
    from scipy.optimize import linprog

    def solve(progress: lp.Progress, **program: Any) -> Any:
        return linprog(**program)

    monkeypatch.setattr(lp, "solve", solve)


@pytest.mark.usefixtures("solver_in_process")
@pytest.mark.parametrize("machine", MACHINES)
def test_no_placement_is_better_than_the_relaxation(machine: str) -> None:
    whole = load_machine(machine)
    nodes = 7 if "down" in machine else whole.node_count
    allocation = Allocation(whole, list(range(nodes)))
    for name in ("square", "path", "tree", "all"):
        graph = PATTERNS[name]
        found = lp.relax_congestion(graph, allocation)
        assert found is not None
        least = find_least_congestion(graph, allocation)
        assert 0 < found.bound <= least <= found.congestion, name


@pytest.mark.usefixtures("solver_in_process")
@pytest.mark.parametrize("name", PATTERNS)
def test_the_relaxation_is_close_on_a_few_nodes_of_a_torus(name: str) -> None:
    graph = PATTERNS[name]
    allocation = fragmented_allocation(load_machine("torus:4x4x4"), 6, 2, 1)
    found = lp.relax_congestion(graph, allocation)
    assert found is not None
    least = find_least_congestion(graph, allocation)
    assert least / 2 <= found.bound <= least <= found.congestion
    judged = judge(graph, allocation, found.placement)
    assert judged.congestion_max == found.congestion


def test_six_ranks_on_six_nodes_are_bounded_tightly() -> None:
    graph = stencil([2, 3], 5, False, 100)
    allocation = Allocation.whole(load_machine("mesh:2x3"))
    found = lp.relax_congestion(graph, allocation)
    assert found is not None
    assert found.bound == pytest.approx(find_least_congestion(graph, allocation))


@pytest.mark.usefixtures("solver_in_process")
def test_inexact_prices_give_a_weaker_but_valid_bound() -> None:
    graph = recursive_doubling(4, 10)
    allocation = Allocation.whole(load_machine("torus:3x2"))
    least = find_least_congestion(graph, allocation)
    problem = lp._make_problem(graph, allocation)
    solved = lp._solve_relaxation(problem, None, lambda _: True)
    assert solved is not None
    rng = np.random.default_rng(1)
    for size in (0, 1e-9, 1e-6, 1e-3, 0.1, 10, 1e6):
        off = lp._DualPrices(
            **{
                name: value + size * rng.standard_normal(value.shape)
                for name, value in vars(solved[1]).items()
            }
        )
        assert 0 <= lp._compute_safe_bound(problem, off) <= least


def test_the_bound_is_zero_without_inter_node_messages() -> None:
    torus = Allocation.whole(load_machine("torus:3x2"))
    silent = lp.relax_congestion(CommGraph.from_edges(3, [], [], []), torus)
    assert silent is not None
    assert silent.bound == silent.congestion == 0
    node = Allocation.whole(load_machine("torus:2+node:4"))
    together = lp.relax_congestion(ring(4, 10), node)
    assert together is not None
    assert together.bound == 0


def test_unsolvable_problems_are_refused() -> None:
    torus = Allocation.whole(load_machine("torus:8x8x8"))
    with pytest.raises(Error, match="at most 60,000"):
        lp.relax_congestion(ring(512), torus)
    adaptive = load_machine("dragonfly:9x4,nodes=1,routing=ugal")
    with pytest.raises(Error, match="depend on the load"):
        lp.relax_congestion(ring(4), Allocation.whole(adaptive))


def test_the_relaxation_stops_on_request() -> None:
    graph = stencil([3, 3], 5, True, 100)
    torus = Allocation.whole(load_machine("torus:3x3"))
    assert lp.relax_congestion(graph, torus, progress=lambda _: False) is None


def test_without_scipy_the_error_names_the_package(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lp, "find_spec", lambda _: None)
    with pytest.raises(Error, match=r"pip install 'topoloom\[bound\]'"):
        lp.relax_congestion(ring(4), Allocation.whole(load_machine("ring:4")))
