# SPDX-License-Identifier: BSD-3-Clause
"""The benchmark of default settings: cases, Scotch and tables."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from defaults.__main__ import MARKS
from defaults.cases import HOSTS, JOBS, MAX_MESSAGES, PROGRAMS, Case, cases
from defaults.measure import BLOCK, HOP_BYTES, OURS, SCOTCH, Run
from defaults.rows import Row
from defaults.scotch import deco, move_doubled_ranks, scotch, slot_distances
from defaults.tables import list_misses, list_targets, report
from topoloom import judge, place
from topoloom.graphs import stencil

ROOT = Path(__file__).parents[3]


@pytest.mark.full
def test_cases_combine_all_machines_with_all_distinct_jobs() -> None:
    every = list(cases())
    assert len(every) == len(set(every)) > 200
    assert {case.machine for case in every} == set(HOSTS)
    assert len(HOSTS) == 12
    assert len(PROGRAMS) == 6
    assert {(case.machine, case.job) for case in every} >= {
        (machine, job) for machine in HOSTS for job in (JOBS[0], JOBS[2])
    }
    for case in every[::29]:
        phases = case.phases()
        assert {phase.rank_count for phase in phases} == {case.ranks}
        assert max(phase.edge_count for phase in phases) <= MAX_MESSAGES


@pytest.mark.parametrize("job", JOBS)
def test_a_job_has_just_enough_nodes(job: str) -> None:
    allocation = Case("titan", "2-D halo", job, "small").allocation()
    assert len(allocation.nodes) == 16
    per_node = np.bincount(np.asarray(allocation.slots) // 16)
    assert set(per_node.tolist()) - {0} == {4}


def test_scotch_input_has_distances_and_a_tree_of_domains() -> None:
    far = np.array([[1, 1, 3], [1, 1, 3], [3, 3, 1]])
    # The first bisection separates slot 2.
    assert deco(far) == "deco 0\n3 7\n0 1 6\n1 1 7\n2 1 2\n1\n3 3\n"


def test_scotch_beats_random_placements() -> None:
    allocation = Case("titan", "2-D halo", "ragged", "small").allocation()
    far = slot_distances(allocation)
    assert far.min() == 1
    assert (far == far.T).all()
    graph = stencil([8, 8], 5)
    found = scotch(graph, allocation)
    assert found is not None
    random = place(graph, allocation, "random").placement
    ours, theirs = (
        judge(graph, allocation, each).inter_node_bytes for each in (found, random)
    )
    assert ours < theirs


def test_a_rank_without_a_slot_is_moved_to_the_nearest_free_slot() -> None:
    far = np.abs(np.subtract.outer(np.arange(5), np.arange(5))) + 1
    assert move_doubled_ranks(np.array([4, 4, 0]), far).tolist() == [4, 3, 0]


def make_run(ours: float, others: dict[str, float], job: str = "compact") -> Run:
    times = {OURS: ours, **others}
    return Run("titan", "2-D halo", job, "large", times, times, 0.5)


def test_gains_are_geometric_means_of_simulated_times() -> None:
    runs = [
        make_run(1.0, {BLOCK: 4.0, HOP_BYTES: 1.0, SCOTCH: 1.0}),
        make_run(1.0, {BLOCK: 1.0, HOP_BYTES: 1.0}, job="ragged"),
    ]
    found = {aim.what: aim for aim in list_targets(runs)}
    whole = found["gain on the launcher, geometric mean"]
    assert (whole.reached, whole.is_reached) == (pytest.approx(2), True)
    ragged = found["the same, ragged tori"]
    assert (ragged.reached, ragged.is_reached) == (pytest.approx(1), False)
    scotch_gain = found["gain on Scotch, geometric mean"]
    assert (scotch_gain.reached, scotch_gain.is_reached) == (pytest.approx(1), False)


def test_worse_placements_are_named_with_their_times() -> None:
    assert list_misses([make_run(1.0, {BLOCK: 1.0, HOP_BYTES: 2.0})]) == []
    (line,) = list_misses([make_run(1.5e-3, {BLOCK: 1e-3, HOP_BYTES: 2e-3})])
    assert line.startswith("titan, 2-D halo, compact, large: 1.500 x launcher; ours")
    assert "1.5 ms" in line


def test_tables_have_a_row_for_each_machine_and_job() -> None:
    row = Row("a job", 8, (100, 50), (10, 5), (2e-3, 1e-3), None, 0.1)
    text = report([make_run(1.0, {BLOCK: 1.0})], [row])
    assert "| titan | 1 |" in text
    assert "| a job | 100 → 50 | 10 → 5 | 2 ms → 1 ms |  | 100 ms |" in text


def test_the_page_contains_its_tables() -> None:
    page = (ROOT / "docs" / "defaults.md").read_text()
    begin, end = (page.index(mark) for mark in MARKS)
    for machine in HOSTS:
        assert f"| {machine} |" in page[begin:end]
