# SPDX-License-Identifier: BSD-3-Clause
"""Runs the contention benchmark on tiny cases: patterns, bounds, tables, figures."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

import topoloom
from contention import cases, figure, tables
from contention.__main__ import MARKS, ROOT, line, load, options
from contention.cases import Case
from contention.measure import (
    BOUND,
    DEFAULT,
    EMAHD_ON_LINKS,
    NEAR,
    OURS,
    RIVAL,
    Run,
    list_impossible_runs,
    measure as measured,
)
from contention.patterns import (
    PATTERNS,
    PUBLISHED,
    UNIT,
    augmented_grid,
    cut,
    rounds,
    spectral_elements,
)

MESH = Case("published", cases.RAGGED, "Mesh", 8, 1)


@pytest.fixture(scope="module")
def mesh_runs() -> list[Run]:
    """Run all mappers and bounds on one case."""
    return measured(MESH)


def make_runs(case: Case, **congestion: float) -> list[Run]:
    return [Run(case, way, 5, value, 10, 2.0, 0.5) for way, value in congestion.items()]


def test_elements_of_a_cube_share_faces_edges_and_corners() -> None:
    graph, points = spectral_elements(3)
    assert len(points) == graph.size == 27
    middle = graph.weight[graph.first[13] : graph.first[14]]
    assert sorted(middle.tolist()) == [1] * 8 + [5] * 12 + [25] * 6


def test_each_flow_is_connected_to_the_balances_at_both_ends() -> None:
    graph, points = augmented_grid(3)
    assert len(points) == graph.size == 9 + 2 * 12
    partners = np.diff(graph.first)
    assert partners[:9].tolist() == [4] * 9
    assert sorted(partners[9:].tolist()) == [1] * 12 + [2] * 12
    apart = np.abs(points[graph.source()] - points[graph.peer]).sum(axis=1)
    assert set(apart.tolist()) == {0.5}


def test_patterns_have_the_requested_ranks_and_reproducible_bytes() -> None:
    for make in PATTERNS.values():
        graph = make(16, 1)
        assert graph.rank_count == 16
        assert graph.bytes.tolist() == make(16, 1).bytes.tolist()
    assert cut(*augmented_grid(9), 7, 1).size == 7


@pytest.mark.parametrize("pattern", ["Recursive doubling", "Bruck"])
def test_the_rounds_of_an_allgather_add_up_to_its_messages(pattern: str) -> None:
    parts = rounds(pattern, 8)
    whole = PATTERNS[pattern](8, 1)
    assert [part.total_bytes for part in parts] == [8 * UNIT * far for far in (1, 2, 4)]
    assert sum(part.total_bytes for part in parts) == whole.total_bytes
    assert rounds("Mesh", 8) == []


def test_all_published_sizes_are_included() -> None:
    every = list(cases.published(PUBLISHED, cases.TABLE_SIZES, 3))
    assert len(set(every)) == len(every) == 3 * (5 * 4 + 2 * 13)
    assert {case.machine for case in cases.choice(tuple(PATTERNS), [128])} == {
        *cases.MACHINES
    }
    assert list(cases.choice(tuple(PATTERNS), [64])) == []
    for text in cases.MACHINES.values():
        assert topoloom.Machine(text).node_count >= cases.CHOICE_RANKS


def test_every_mapper_and_bound_runs_on_a_case(mesh_runs: list[Run]) -> None:
    runs = {run.way: run for run in mesh_runs}
    assert MESH.allocation().slot_count == 8
    assert {DEFAULT, RIVAL, NEAR, OURS, BOUND} <= set(runs)
    assert runs[OURS].congestion <= runs[DEFAULT].congestion
    assert runs[NEAR].hop_bytes <= runs[DEFAULT].hop_bytes
    assert list_impossible_runs(list(runs.values())) == []


def test_a_value_better_than_its_bound_is_reported() -> None:
    runs = make_runs(MESH, default=5, bound=5.1)
    assert list_impossible_runs(runs) == [
        f"{MESH}: default has congestion 5, below the bound 5.1"
    ]


def test_tables_are_geometric_means_over_cases() -> None:
    other = replace(MESH, seed=2)
    near = dict.fromkeys((*tables.BY_HOP_BYTES, EMAHD_ON_LINKS), 6.0)
    runs = make_runs(MESH, **near, **{DEFAULT: 8, RIVAL: 4, OURS: 2, BOUND: 2})
    runs += make_runs(other, **near, **{DEFAULT: 8, RIVAL: 4, OURS: 8, BOUND: 2})
    results = tables.Results(runs)
    assert "| Mesh | 2 | 0.500 | 1.000 | 2.000 | 0.667 | 1 | 2.00 | 0.50 | 0.50 |" in (
        tables.format_summary(results)
    )
    # Ratios to the default order, with published ratios in parentheses.
    links = tables.links(results, cases.IN_ORDER).splitlines()
    assert "| 0.75 (0.78) | 0.50 (0.60) | 0.50 | 0.25 |" in links[2]
    assert links[2].split("|")[3:] == links[3].split("|")[3:]  # a mean of one value
    hops = tables.hops(results, cases.IN_ORDER).splitlines()
    assert hops[2].startswith("| 8 | 2.00 (2.22) | 2.00 (2.18) |")
    assert tables.hops(results, cases.SHUFFLED) == ""


def test_shuffling_ranks_only_renumbers_messages() -> None:
    case = Case("published", cases.RAGGED, "Mesh", 16, 1)
    graph, other = case.graph(), replace(case, order=cases.SHUFFLED).graph()
    assert graph.first.tolist() != other.first.tolist()
    assert sorted(graph.bytes.tolist()) == sorted(other.bytes.tolist())
    degrees = [sorted(np.diff(g.first.astype(int)).tolist()) for g in (graph, other)]
    assert degrees[0] == degrees[1]


def test_saved_results_give_a_page_and_pictures(
    mesh_runs: list[Run], tmp_path: Path
) -> None:
    runs = [*measured(Case("choice", "tree", "3-D halo", 16, 1)), *mesh_runs]
    kept = tmp_path / "results.jsonl"
    kept.write_text("".join(json.dumps(asdict(run)) + "\n" for run in runs))
    assert load(kept) == runs
    assert "by" in line(runs)
    results = tables.Results(runs)
    assert "| tree | 3-D halo |" in tables.choice(results)
    report = tables.report(results)
    assert "| Mesh | 1 |" in report
    assert "Figures" not in report  # figures start at 64 ranks
    assert tables.report(tables.Results([])) == ""
    file = tmp_path / "picture.svg"
    figure.choice(results, file)
    assert "<svg" in file.read_text()


def test_pages_contain_table_markers() -> None:
    for page in ("reference/benchmarks/busiest-link.md", "which-objective.md"):
        text = (ROOT / "docs" / page).read_text()
        assert all(mark in text for mark in MARKS)


def test_help_lists_the_patterns(capsys: pytest.CaptureFixture[str]) -> None:
    assert options([]).patterns == list(PATTERNS)
    assert options(["--sizes", "8,16"]).sizes == [8, 16]
    with pytest.raises(SystemExit):
        options(["--patterns", "Mash"])
    assert "no pattern 'Mash'" in capsys.readouterr().err
