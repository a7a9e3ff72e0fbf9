# SPDX-License-Identifier: BSD-3-Clause
"""The benchmark of AI jobs reports deviations and writes tables."""

from __future__ import annotations

from pathlib import Path

from ai.groups import compare, groups_table
from ai.imported import _import, import_large, imported_table, large_program
from ai.nccl import compare as compare_times, nccl_table
from ai.profiler import profiler_table, time_plugin
from ai.spread import Setting, compare as compare_spread, spread_table
from ai.step_traffic import (
    CASES,
    RecordedLayer,
    count_saved,
    count_sent,
    draw_cases,
    drawn_table,
    layer_table,
)
from topoloom.graphs.traces.trace import Trace


def test_sampled_jobs_have_the_groups_of_the_megatron_wheel() -> None:
    found = compare("0.16.1", 2, seed=3)
    assert (found.jobs, found.different, found.rejected) == (2, 0, 0)
    assert found.wrongly_refused == 0
    assert found.names >= 2
    assert "| 0.16.1 | 2 |" in groups_table([found])


def test_bytes_of_a_recorded_layer_are_those_that_rank_0_sends() -> None:
    trace = Trace(8)
    for members in ((0, 1, 2, 3), (4, 5, 6, 7)):
        trace.add("allgather", members, 100, 6)
        trace.add("reduce_scatter", members, 400, 4)
    trace.add("allreduce", (0, 1, 2, 3), 400, 3)
    calls, sent = count_sent(trace.profile(), 4)
    assert calls == {"allgather": 6, "reduce_scatter": 4, "allreduce": 3}
    assert sent == 6 * 3 * 100 + 4 * 300 + 3 * 600
    # 32 tokens save 2 bytes of each of 3 x 512 elements, divided by 2 ranks.
    counted_saved = count_saved(CASES[0])
    assert counted_saved == 32 * 2 * 3 * 512 // 2
    recorded = RecordedLayer(CASES[0], 6, 4, 3, sent, 4800, 7, counted_saved)
    *_, row = layer_table([recorded]).splitlines()
    start = "| 0.12.3 | 2 | 16 heads, 2 of keys | 6 | 4 | 3 | 4,800 | 4,800 |"
    assert row == f"{start} 7 | 49,152 |"
    # What is sent is as counted, and what is saved is not.
    assert "| without experts | 2 | 1 | 1 | 0 |" in drawn_table([recorded])


def test_drawn_layers_can_be_split() -> None:
    cases = draw_cases(50, seed=1)
    assert {case.tp for case in cases} == {2, 4, 8}
    for release, tp, model in cases:
        assert model.heads % tp == 0
        assert model.heads % model.kv_heads == 0
        assert release == "0.16.1" or model.kv_heads % tp == 0


def test_differences_from_the_expected_traffic_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "p.hlo"
    path.write_text(large_program(2, 3))
    mesh = {"z": 2, "y": 2, "x": 2}
    moves = {"x allreduce": 4096, "y allreduce": 4100, "z allreduce": 1}
    found = _import("p", path, mesh, moves)
    assert found.mesh_equal
    assert found.bytes_differ == ["z allreduce: 4104, not 1"]
    other = _import("p", path, {"y": 4, "x": 2}, moves)
    assert not other.mesh_equal


def test_a_large_program_is_imported_without_differences() -> None:
    found = import_large(side=3, operations=4)
    assert found.mesh_equal
    assert found.bytes_differ == []
    header, rule, row = imported_table([found]).splitlines()
    assert header.count("|") == rule.count("|") == row.count("|")


def test_spreads_of_small_clusters_are_optimal_and_below_bin_packing() -> None:
    setting = Setting({"tp": 8, "dp": 6, "pp": 4}, 8, 8)
    found = compare_spread(setting, weighted=False, clusters=2, seed=1)
    assert min(found.packed) > 1
    assert len(found.packed) == len(found.best_fit) == 2
    header, rule, row = spread_table([found]).splitlines()
    assert header.count("|") == rule.count("|") == row.count("|")
    assert "| largest | tp=8, dp=6, pp=4 | 24 | 8 x 8 |" in row


def test_plugin_events_are_timed_and_counted() -> None:
    rows = time_plugin(versions=[1, 6], events=1000, repeated=1)
    assert [row.events for row in rows] == [1000, 16000, 16000] * 2
    assert all(row.counted == row.events for row in rows)
    assert [line.count("|") for line in profiler_table(rows).splitlines()] == [8] * 4


def test_every_published_time_is_predicted_and_large_errors_are_named() -> None:
    tables = compare_times()
    operations = {found.operation for found in tables}
    assert operations == {
        "allreduce",
        "allgather",
        "reduce_scatter",
        "alltoall",
        "bcast",
    }
    for found in tables:
        assert found.address
        assert all(row.choice.seconds > 0 for row in found.rows)
        assert found.near == sum(abs(row.off) <= 0.15 for row in found.rows)
    lines = nccl_table(tables).splitlines()
    assert len(lines) == 4 + len(tables)
    assert len({line.count("|") for line in lines}) == 1
    for name, unseen in (("seen", False), ("unseen", True)):
        these = [found for found in tables if found.unseen == unseen]
        rows, near = sum(len(t.rows) for t in these), sum(t.near for t in these)
        assert f"| all {name} | | {rows} | {near} | |" in lines
