# SPDX-License-Identifier: BSD-3-Clause
"""Tasks called from Python: map, judge and compare."""

from __future__ import annotations

from pathlib import Path

import pytest

from topoloom._core import Error, Sharing, stencil
from topoloom.graphs.graph_file import save_graph
from topoloom.placements.placement_file import save_placement
from topoloom.tasks.compare import compare_mappers
from topoloom.tasks.judge import judge_placement
from topoloom.tasks.map import map_ranks, measure_block_order
from topoloom.tasks.objective import Objective
from topoloom.tasks.placement_problem import load_placement_problem
from topoloom.tasks.problem import AllocationSpec, Problem, load_problem
from topoloom.tasks.search import Search
from topoloom.tasks.simulate import simulate_placements

HOP_BYTES = Objective("hop-bytes")


@pytest.fixture
def problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Problem:
    monkeypatch.chdir(tmp_path)
    save_graph("p.npz", stencil([4, 4], 5, bytes=1000))
    return load_problem("p.npz", "torus:4x4x2", AllocationSpec(nodes=16, fragments=2))


def test_map_ranks_stores_the_measures(problem: Problem) -> None:
    mapped = map_ranks(problem, HOP_BYTES, "gge+swap", search=Search(seed=3))
    assert mapped.file.mapper == "gge+swap"
    assert mapped.file.seed == 3
    assert mapped.least is None
    assert mapped.gap is None
    before, nodes = measure_block_order(problem, mapped)
    assert mapped.file.values["hop_bytes"] <= before["hop_bytes"]
    assert nodes == 16


def test_an_imbalance_has_no_effect_with_a_slot_for_every_rank(
    problem: Problem,
) -> None:
    where = AllocationSpec(nodes=16, fragments=2)
    sharing = Sharing(imbalance=0.2)
    same = load_problem("p.npz", "torus:4x4x2", where, sharing)
    assert same.allocation.slots.tolist() == problem.allocation.slots.tolist()
    assert same.unused == problem.unused
    with pytest.raises(Error, match="slots"):
        load_problem("p.npz", "torus:4x2", AllocationSpec())
    shared = load_problem("p.npz", "torus:4x2", AllocationSpec(), sharing)
    assert shared.allocation.slot_count == 8


def test_a_proven_bound_gives_the_gap(problem: Problem) -> None:
    small = load_problem("p.npz", "torus:4x4", AllocationSpec())
    mapped = map_ranks(small, HOP_BYTES, "exact")
    assert mapped.gap == 1
    proven = {"at_least": mapped.least, "gap": 1, "optimal": True}
    assert mapped.document()["proven"] == proven


def test_a_placement_is_compared_with_block_order(problem: Problem) -> None:
    mapped = map_ranks(problem, HOP_BYTES)
    save_placement("x.json", mapped.file)
    given = load_placement_problem("judge", "p.npz", "x.json", None, AllocationSpec())
    judged = judge_placement(given, hottest=2)
    assert judged.values["hop_bytes"] == mapped.file.values["hop_bytes"]
    assert judged.block_values == measure_block_order(problem, mapped)[0]
    assert len(judged.judgement.hottest) == 2
    assert judged.phases == []


def test_mappers_are_compared_after_block_until_interrupted(
    problem: Problem,
) -> None:
    found = compare_mappers(problem, HOP_BYTES, ["hilbert", "mahd+swap"])
    assert [result["mapper"] for result in found.results] == [
        "block",
        "hilbert",
        "mahd+swap",
    ]
    assert found.results[0]["gain_percent"] == 0
    assert not found.interrupted
    with pytest.raises(Error, match="did you mean 'hilbert'"):
        compare_mappers(problem, HOP_BYTES, ["hilbret"])


def test_without_a_problem_nothing_is_simulated() -> None:
    with pytest.raises(Error, match="give a problem, and a name for each placement"):
        simulate_placements([], [], [], pytest.fail)
