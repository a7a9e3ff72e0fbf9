# SPDX-License-Identifier: BSD-3-Clause
"""Compares with other mappers, without running them: formats, scores, repair."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import topoloom
from peers import comparison, files, graphs, tables, tools
from peers.__main__ import TimeoutTracker, offer_value, parse_options
from peers.adapters.scotch import format_target
from peers.best_known import BestKnownValue, BestKnownValues
from peers.distance import distances
from peers.hierarchy import make_tree, prime_factors
from peers.instance import Instance, load_instance
from peers.instances import SETS, torus, tree
from peers.judging import InvalidAnswer, compute_hop_bytes, judge, repair
from peers.measure import Run, make_unscored_run, measure

MESH = graphs.stencil((3, 2), "star")  # 0-1 / 2-3 / 4-5, rows joined


def make_path_graph(size: int, weights: list[int] | None = None) -> graphs.Graph:
    pairs = np.stack([np.arange(size - 1), np.arange(1, size)], axis=1)
    return graphs.from_pairs(
        size, pairs, None if weights is None else np.array(weights)
    )


def test_a_stencil_has_the_edges_of_its_grid() -> None:
    assert len(MESH.peer) == 2 * 7
    assert MESH.peer[: MESH.first[1]].tolist() == [1, 2]
    box = graphs.stencil((3, 3, 3), "box")
    assert np.diff(box.first).tolist()[13] == 26  # the middle
    wrapped = graphs.stencil((4, 4), "star", periodic=True)
    assert set(np.diff(wrapped.first).tolist()) == {4}


def test_the_metis_file_is_read_back_by_topoloom_and_the_bench() -> None:
    weighted = make_path_graph(4, [5, 1, 7])
    for graph in (MESH, weighted, replace(MESH, load=np.arange(1, 7))):
        text = files.format_metis_graph(graph)
        again = graphs.read_metis(text)
        theirs = topoloom._core.read_metis(text.encode())
        for name in ("first", "peer", "weight", "load"):
            assert getattr(again, name).tolist() == getattr(graph, name).tolist()
        assert theirs.peer.tolist() == graph.peer.tolist()
        assert theirs.bytes.tolist() == graph.weight.tolist()
        assert theirs.load.tolist() == graph.load.tolist()


def test_an_isolated_rank_keeps_its_empty_line() -> None:
    graph = graphs.from_pairs(3, np.array([[0, 2]]))
    assert files.format_metis_graph(graph) == "3 1\n3\n\n1\n"
    assert graphs.read_metis("3 1\n3\n\n1\n").first.tolist() == [0, 1, 1, 2]


def test_a_scotch_graph_counts_arcs_and_puts_weights_first() -> None:
    lines = files.format_scotch_graph(MESH).splitlines()
    assert lines[:4] == ["0", "6 14", "0 000", "2 1 2"]
    weighted = files.format_scotch_graph(
        replace(make_path_graph(3, [5, 7]), load=np.array([1, 2, 3]))
    )
    assert weighted == "0\n3 4\n0 011\n1 1 5 1\n2 2 5 0 7 2\n3 1 7 1\n"


def test_scotch_trees_are_root_first_with_differences() -> None:
    assert files.format_scotch_tree((4, 8, 2), (1, 10, 100)) == "tleaf 3 2 90 8 9 4 1\n"
    assert files.format_scotch_tree((4, 8, 1), (1, 10, 100)) == "tleaf 2 8 9 4 1\n"


def test_scotch_tori_are_numbered_with_the_first_axis_fastest() -> None:
    assert files.format_scotch_torus((25, 32, 16)) == "torus3D 16 32 25\n"
    assert files.format_scotch_torus((2, 3, 4, 5)) == "torusXD 4 5 4 3 2\n"
    ragged = torus("t", "t", make_path_graph(3), "4x4")
    ragged = replace(ragged, nodes=(9, 1, 3), slots=3)
    assert format_target(ragged) == "sub 3 9 1 3\ntorus2D 4 4\n"


def test_mappings_are_read_in_any_order() -> None:
    assert files.read_scotch_mapping("3\n2\t5\n0\t4\n1\t9\n", 3).tolist() == [4, 9, 5]
    with pytest.raises(ValueError, match="expected 4"):
        files.read_scotch_mapping("3\n2\t5\n0\t4\n1\t9\n", 4)
    assert files.read_blocks("2\n0\n1\n", 3).tolist() == [2, 0, 1]
    with pytest.raises(ValueError, match="expected 2"):
        files.read_blocks("2\n0\n1\n", 2)


def test_hop_bytes_are_the_sum_over_ordered_pairs() -> None:
    instance = torus("t", "t", make_path_graph(4, [1, 10, 100]), "4x4")
    rng = np.random.default_rng(1)
    machine = topoloom.Machine("torus:4x4")
    for answer in (rng.permutation(16)[:4], np.array([3, 3, 0, 12])):
        graph = instance.graph
        pairs = zip(graph.source(), graph.peer, graph.weight, strict=True)
        slow = sum(
            int(weight) * machine.distance(int(answer[u]), int(answer[v]))
            for u, v, weight in pairs
        )
        assert compute_hop_bytes(instance, answer) == slow


def test_tree_distances_are_listed_bottom_up() -> None:
    instance = tree("t", "t", make_path_graph(2), "4:8:2")
    assert compute_hop_bytes(instance, np.array([0, 3])) == 2 * 1
    assert compute_hop_bytes(instance, np.array([0, 4])) == 2 * 10
    assert compute_hop_bytes(instance, np.array([0, 32])) == 2 * 100


def test_two_ranks_on_a_slot_are_infeasible_and_repaired_to_the_nearest() -> None:
    instance = torus("t", "t", make_path_graph(4), "4x1")
    verdict = judge(instance, np.array([0, 0, 2, 3]))
    assert (verdict.feasible, verdict.overfilled) == (False, 1)
    mended = repair(instance, np.array([0, 0, 2, 3]))
    assert mended is not None
    assert mended.tolist() == [0, 1, 2, 3]
    assert verdict.repaired == compute_hop_bytes(instance, mended) == 6


def test_capacity_is_one_rank_or_the_mean_plus_the_imbalance() -> None:
    assert torus("t", "t", make_path_graph(4), "4x4").capacity == 1
    shared = tree("t", "t", make_path_graph(100), "4:2", imbalance=0.03)
    assert shared.capacity == 13  # floor(1.03 * 13)
    fine = tree("t", "t", make_path_graph(4000), "4", imbalance=0.03)
    assert fine.capacity == 1030
    heavy = replace(fine, graph=replace(fine.graph, load=np.full(4000, 2)))
    assert heavy.capacity == 2060


def test_a_repair_without_free_slots_fails_with_a_message() -> None:
    loads = replace(make_path_graph(3), load=np.array([2, 2, 2]))
    instance = replace(tree("t", "t", loads, "2"), slots=2)
    assert instance.capacity == 3
    assert repair(instance, np.array([0, 0, 1])) is None


def test_an_invalid_mapping_is_refused() -> None:
    instance = torus("t", "t", make_path_graph(4), "4x4")
    with pytest.raises(InvalidAnswer, match="3 places, for 4 ranks"):
        judge(instance, np.array([0, 1, 2]))
    with pytest.raises(InvalidAnswer, match="outside"):
        judge(instance, np.array([0, 1, 2, 16]))


def test_the_registry_accepts_only_better_values(tmp_path: Path) -> None:
    file = tmp_path / "best_known.csv"
    best_known = BestKnownValues(file)
    first = BestKnownValue("s/a", "0f", "hop-bytes", 100, "x, y")
    assert best_known.offer(first)
    assert not best_known.offer(replace(first, value=100, how="late"))
    assert not best_known.offer(replace(first, value=101))
    assert best_known.offer(replace(first, value=90))
    best_known.save()
    # Another run, started before the save, has worse results.
    other = BestKnownValues(tmp_path / "nothing")
    other.file = file
    other.offer(replace(first, value=95))
    other.offer(replace(first, hash="aa", value=7))
    other.save()
    again = BestKnownValues(file)
    assert again.find_value("s/a", "0f") == 90
    assert again.find_value("s/a", "aa") == 7  # another hash is another instance
    assert again.find_value("s/b", "0f") is None
    file.write_text(file.read_text() + "s/a,0f,hop-bytes,80,again\n")
    with pytest.raises(ValueError, match="csv:4: s/a is there twice"):
        BestKnownValues(file)


def test_the_registry_receives_only_feasible_values(tmp_path: Path) -> None:
    best_known = BestKnownValues(tmp_path / "r.csv")
    run = Run("s", "a", "0f", "tool", "fast", 1, hop_bytes=50)
    for outcome, repaired, best in (
        ("infeasible", None, None),
        ("infeasible", 70, 70),
        ("ok", None, 50),
    ):
        offer_value(best_known, replace(run, outcome=outcome, repaired=repaired))
        assert best_known.find_value("s/a", "0f") == best


def test_an_instance_is_read_back_from_its_folder(tmp_path: Path) -> None:
    made = torus("t", "t", make_path_graph(5, [1, 2, 3, 4]), "4x4", fragments=1)
    instance = replace(made, folder=tmp_path)
    instance.write()
    again = load_instance(tmp_path)
    assert (again.hash, again.slots, again.nodes) == (made.hash, 5, made.nodes)
    assert topoloom.load_graph(tmp_path / "graph.graph").rank_count == 5
    machine = topoloom.Machine(again.machine)
    allocation = topoloom.load_allocation(machine, tmp_path / "allocation.txt")
    assert allocation.allocation.slots.tolist() == list(again.slot_ids())
    assert replace(made, machine="torus:4x4x1").hash != made.hash
    assert replace(made, graph=make_path_graph(5)).hash != made.hash


def test_names_of_instances_are_unique_and_valid_file_names() -> None:
    names = [recipe.name for make in SETS.values() for recipe in make()]
    assert len(set(names)) == len(names)
    assert not any(set(name) & set("/:, ") for name in names)


def test_a_partitioned_mesh_has_the_requested_parts_and_cut() -> None:
    graph = graphs.partitioned_mesh(12, 2, seed=1, each=16)
    assert graph.size == 12
    assert np.diff(graph.first).min() >= 1
    part = graphs.coordinate_bisection(np.random.default_rng(1).random((192, 2)), 12)
    assert np.bincount(part).tolist() == [16] * 12


def test_shuffling_only_renumbers_ranks() -> None:
    graph = graphs.shuffled(make_path_graph(6, [1, 2, 3, 4, 5]), 3)
    assert sorted(graph.weight.tolist()) == sorted([1, 2, 3, 4, 5] * 2)
    assert sorted(np.diff(graph.first).tolist()) == [1, 1, 2, 2, 2, 2]


def test_a_torus_as_a_tree_has_every_slot_once() -> None:
    whole = make_tree(torus("t", "t", make_path_graph(4), "4x6"))
    assert whole.arities == (2, 2, 2, 3)
    assert sorted(whole.place.tolist()) == list(range(24))
    assert list(whole.distances) == sorted(whole.distances)
    instance = tree("t", "t", make_path_graph(2), "4:8:2")
    assert make_tree(instance).arities == (4, 8, 2)
    assert prime_factors(1000) == [5, 5, 5, 2, 2, 2]


@pytest.mark.parametrize(
    "instance",
    [
        tree("t", "t", make_path_graph(4), "2:3:2"),
        torus("t", "t", make_path_graph(5), "4x5", fragments=1),
    ],
)
def test_independent_distances_equal_machine_distances(
    instance: Instance,
) -> None:
    machine, ids = topoloom.Machine(instance.machine), instance.slot_ids()
    one, two = np.triu_indices(instance.slots, 1)
    true = [
        machine.distance(int(ids[a]), int(ids[b]))
        for a, b in zip(one, two, strict=True)
    ]
    assert distances(instance, one, two).tolist() == true


def test_the_topoloom_adapter_runs_and_is_scored(tmp_path: Path) -> None:
    instance = replace(torus("t", "t", MESH, "4x4"), folder=tmp_path)
    instance.write()
    simple = next(tool for tool in tools.TOOLS if tool.name == "simple")
    run = measure(instance, simple, "mapper:block", 1)
    assert (run.outcome, run.hop_bytes) == (
        "ok",
        judge(instance, np.arange(6)).hop_bytes,
    )
    assert run.process_cpu is not None
    assert run.memory is not None
    assert run.search_cpu is not None
    bad = measure(instance, simple, "mapper:nonsense", 1)
    assert bad.outcome == "failed"
    assert "nonsense" in bad.why
    assert measure(instance, simple, "mapper:block", 1, limit=0.01).outcome == "timeout"


def test_a_tool_is_not_run_on_larger_instances_after_a_timeout() -> None:
    small, large = (
        torus("t", "a", make_path_graph(4), "4x4"),
        torus("t", "b", make_path_graph(9), "4x4"),
    )
    tool, late = tools.TOOLS[0], TimeoutTracker()
    late.record_timeout(small, make_unscored_run(small, tool, "fast", "timeout"))
    skipped = late.make_skipped_run(large, tool, "fast")
    assert skipped is not None
    assert "with 4 ranks" in skipped.why
    assert late.make_skipped_run(large, tool, "best") is None
    assert (
        late.make_skipped_run(torus("t", "c", make_path_graph(3), "4x4"), tool, "fast")
        is None
    )


def test_a_missing_tool_is_listed(tmp_path: Path) -> None:
    runs = [
        Run("s", "a", "0f", "kahip", "fast", 1, "unable", "not installed: kahip"),
        Run("s", "a", "0f", "scotch", "default", 1, "ok", hop_bytes=80),
        Run("s", "a", "0f", "scotch", "quality", 1, "infeasible", "", 40, 3, 100),
    ]
    best_known = BestKnownValues(tmp_path / "r.csv")
    for run in runs:
        offer_value(best_known, run)
    text = tables.format_report(runs, best_known, ["mesh: no file"])
    assert "- kahip: not installed: kahip" in text
    assert "- mesh: no file" in text
    assert "| scotch | default | 1 of 1 | 1.000 |" in text
    assert "| scotch | quality | 0 of 1 |  | 1.250 |" in text
    assert "| a | 80 | 80 | unable |" in text


def test_results_are_compared_with_the_best_feasible_result_of_peers() -> None:
    ok = Run("s", "a", "0f", "ours", "fast", 1, "ok", hop_bytes=90, search_cpu=0.1)
    runs = [
        ok,
        replace(ok, instance="b", hop_bytes=100),
        replace(ok, instance="c", outcome="infeasible", overfilled=1),
        replace(ok, tool="scotch", effort="default", hop_bytes=100, search_cpu=0.2),
        replace(ok, tool="scotch", effort="forced", hop_bytes=120, search_cpu=0.05),
        replace(ok, tool="kahip", effort="x", hop_bytes=80, outcome="infeasible"),
        replace(ok, instance="b", tool="kahip", effort="x", hop_bytes=90),
        replace(ok, instance="c", tool="kahip", effort="x", hop_bytes=50),
    ]
    table = comparison.format_comparison(runs)
    assert "| fast | scotch | 0.900 | 0.50 | 1 | 0 | 0 |" in table
    assert "| fast | kahip | 1.111 | 1.00 | 0 | 0 | 1 |" in table
    assert "| fast | best peer | 1.000 | 0.71 | 1 | 0 | 1 |" in table
    assert (
        "| s | fast | 1.000 | 0.71 | 1 | 0 | 1 |"
        in comparison.format_short_comparison(runs)
    )
    list_misses = comparison.list_misses(runs)
    assert "- b: ours 100 (fast), kahip x 90" in list_misses
    assert "- c: no feasible answer of ours" in list_misses
    assert "- a:" not in list_misses
    assert (
        comparison.format_comparison(runs[3:])
        == comparison.format_short_comparison(runs[3:])
        == ""
    )


def test_tables_are_written_between_the_markers(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{tables.BEGIN}\nold\n{tables.END}\nafter\n")
    tables.write_between_marks(page, "new")
    assert page.read_text() == (f"before\n{tables.BEGIN}\n\nnew\n{tables.END}\nafter\n")


def test_ratios_are_averaged_geometrically() -> None:
    assert tables.geometric_mean([1, 4]) == pytest.approx(2)
    assert tables.geometric_mean([]) is None


def test_help_lists_the_values_of_options(capsys: pytest.CaptureFixture[str]) -> None:
    chosen = parse_options(["--sets", "stencils", "--tools", "ours,scotch"])
    assert (chosen.sets, chosen.tools) == (["stencils"], ["ours", "scotch"])
    assert "scale" not in parse_options([]).sets
    assert "scale" in parse_options(["--scale"]).sets
    with pytest.raises(SystemExit):
        parse_options(["--tools", "scoch"])
    assert "no tool 'scoch'" in capsys.readouterr().err


def test_results_are_written_as_json(tmp_path: Path) -> None:
    from dataclasses import asdict

    from peers.__main__ import read_runs

    run = Run("s", "a", "0f", "t", "e", 1, "ok", hop_bytes=8)
    later = replace(run, hop_bytes=7)
    file = tmp_path / "results.jsonl"
    file.write_text("".join(json.dumps(asdict(one)) + "\n" for one in (run, later)))
    assert read_runs(file) == [later]
