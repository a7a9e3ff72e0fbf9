# SPDX-License-Identifier: BSD-3-Clause
"""Baselines: block order within capacities, and a single job."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from topoloom import (
    Allocation,
    CommGraph,
    Machine,
    Sharing,
    load_placement,
    place,
    save_placement,
)
from topoloom._core import objective_value
from topoloom.graphs import alltoall, ring, stencil
from topoloom.graphs.graph_file import save_graph
from topoloom.tasks.compare import compare_mappers
from topoloom.tasks.jobs.joint import Budget, place_in_pool
from topoloom.tasks.judge import judge_placement
from topoloom.tasks.map import map_ranks, measure_block_order
from topoloom.tasks.objective import Objective
from topoloom.tasks.placement_problem import load_placement_problem
from topoloom.tasks.problem import AllocationSpec, load_problem, place_like_launcher


@given(st.lists(st.integers(0, 9), min_size=2, max_size=8), st.data())
def test_block_order_respects_capacities_if_ranks_fit(
    capacities: list[int], data: st.DataObject
) -> None:
    total = sum(capacities)
    if total == 0:
        return
    ranks = data.draw(st.integers(1, total))
    allocation = Allocation.whole(Machine(f"torus:{len(capacities)}"))
    block = place_like_launcher(ring(ranks), allocation, True, capacities)
    assert (np.bincount(block.slots, minlength=len(capacities)) <= capacities).all()


def test_block_order_of_ranks_that_do_not_fit_overfills_evenly() -> None:
    loads = np.array([3, 3, 2, 2, 2])
    graph = ring(5)
    arrays = [getattr(graph, name) for name in ("first", "peer", "bytes", "messages")]
    graph = CommGraph.from_csr(*arrays, loads)
    allocation = Allocation.whole(Machine("torus:2"))
    block = place_like_launcher(graph, allocation, True, [6, 6])
    used = np.bincount(block.slots, weights=loads)
    assert used.sum() == 12
    assert used.max() <= 12


def test_all_commands_use_the_same_block_order(tmp_path: Path) -> None:
    graph_file, placement = str(tmp_path / "p.npz"), str(tmp_path / "x.json")
    save_graph(graph_file, stencil([3, 4], 5, bytes=1000))
    sharing = Sharing(capacities=[6, 1, 1, 4])
    problem = load_problem(graph_file, "torus:4", AllocationSpec(), sharing)
    mapped = map_ranks(problem, Objective("hop-bytes"), sharing=sharing)
    save_placement(placement, mapped.file)
    assert load_placement(placement).capacities == (6, 1, 1, 4)
    block, _ = measure_block_order(problem, mapped)
    compared = compare_mappers(
        problem, Objective("hop-bytes"), ["multisection"], sharing=sharing
    )
    given = load_placement_problem(
        "judge", graph_file, placement, None, AllocationSpec()
    )
    judged = judge_placement(given)
    assert block["load_max"] == 6
    for name in ("hop_bytes", "load_max"):
        assert block[name] == judged.block_values[name] == compared.results[0][name]


@settings(max_examples=10)
@given(st.permutations(range(16)), st.sampled_from(["hop-bytes", "congestion"]))
def test_a_single_job_is_placed_like_map_on_all_slots(
    order: list[int], objective: str
) -> None:
    pool = Allocation(Machine("torus:4x4"), order)
    jobs = [("a", ring(5, 900)), ("b", alltoall(4, 100)), ("c", ring(6, 50))]
    found = place_in_pool(jobs, pool, Budget("gge+swap", objective=objective))
    for (_, graph), alone in zip(jobs, found.alone, strict=True):
        placed = place(graph, pool, "gge+swap", seed=1, objective=objective).placement
        assert alone == objective_value(graph, pool, placed, objective=objective)


def test_a_single_job_does_not_depend_on_earlier_jobs() -> None:
    pool = Allocation.whole(Machine("mesh:16"))
    jobs = [("a", ring(6, 10)), ("b", ring(6, 20)), ("c", ring(4, 30))]
    values = {}
    for turn in (jobs, jobs[::-1]):
        found = place_in_pool(turn, pool, Budget())
        for (name, _), value in zip(turn, found.alone, strict=True):
            assert values.setdefault(name, value) == pytest.approx(value)
