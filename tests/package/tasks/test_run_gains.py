# SPDX-License-Identifier: BSD-3-Clause
"""Gains of placement from stored runs: estimates, verdicts, and a failing store."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from topoloom import Error
from topoloom.store import run_store
from topoloom.tasks.runs.gain_estimate import (
    MIN_PAIRS,
    MIN_RUNS,
    compare_times,
    estimate_gain,
    estimate_paired_change,
)
from topoloom.tasks.runs.run_log import RunLog
from topoloom.tasks.runs.summary import summarize_runs


def test_the_interval_contains_the_true_change() -> None:
    covered = 0
    for seed in range(5):
        rng = np.random.default_rng(seed)
        before = 10 * rng.lognormal(0, 0.05, 20)
        after = 8 * rng.lognormal(0, 0.05, 20)
        found = compare_times(after.tolist(), before.tolist())
        assert found.low is not None
        assert found.high is not None
        assert found.is_significant
        covered += found.low <= -20 <= found.high
    assert covered >= 4


def test_noise_is_not_a_gain_and_few_runs_are_not_enough() -> None:
    rng = np.random.default_rng(3)
    times = [10 * rng.lognormal(0, 0.05, 12) for _ in range(2)]
    found = compare_times(times[0].tolist(), times[1].tolist())
    assert not found.is_significant
    assert "which may be chance" in found.sentence()
    few = compare_times([1.0] * (MIN_RUNS - 1), [2.0] * 100)
    assert few.change is None
    assert few.sentence().endswith("not enough runs")


def test_runs_that_a_signal_ended_do_not_count() -> None:
    run = {"exit_status": 0, "wall_seconds": 1.0}
    runs = [run, {**run, "kind": "placed"}, {**run, "interrupted": True}]
    found = estimate_gain(runs)
    assert (found.placed, found.unplaced) == (1, 1)


def test_pairs_show_a_gain_that_drifts_with_the_machine() -> None:
    rng = np.random.default_rng(5)
    drift = np.linspace(10, 20, 10)
    noise = rng.lognormal(0, 0.01, (2, 10))
    pairs = list(zip(drift * noise[0], 0.8 * drift * noise[1], strict=True))
    found = estimate_paired_change(pairs)
    assert found.change == pytest.approx(-20, abs=3)
    assert found.low is not None
    assert found.high is not None
    assert found.low <= found.change <= found.high < 0
    same = estimate_paired_change(list(zip(noise[0], noise[1], strict=True)))
    assert same.sentence().startswith("no difference beyond chance: ")
    assert estimate_paired_change(pairs[: MIN_PAIRS - 1]).change is None


def make_run(
    program: str, mpi: float, predicted: float, **facts: Any
) -> dict[str, Any]:
    time = {"run": 100.0, "min": mpi, "mean": mpi, "max": mpi, "share_at_most": 0.1}
    run = {"program": program, "key": program, "kind": "recorded", "nodes": 36}
    ended = {"exit_status": 0, "wall_seconds": 100.0, "mpi_time": time}
    return {**run, **ended, "predicted": {"predicted_seconds": [1, predicted]}, **facts}


def test_programs_are_ordered_by_what_placement_would_save() -> None:
    runs = [
        make_run("little", 2.0, 0.5),
        make_run("small", 50.0, 0.9),
        make_run("large", 50.0, 0.5),
        make_run("large", 50.0, 0.5, exit_status=None),  # its end is not known
    ]
    found = summarize_runs(runs, "program")
    assert [group.name for group in found] == ["large", "small", "little"]
    assert found[0].runs == 1
    assert found[0].node_hours == 1
    assert found[0].saving_percent == pytest.approx(-25)
    assert found[2].verdict.startswith("not worth it: 2.0 %")
    placed = [make_run("large", 50.0, 0.5, kind="placed", wall_seconds=90.0)] * 5
    measured = summarize_runs([*runs[2:3] * 5, *placed], "program")[0]
    assert measured.gain.change == pytest.approx(-10)
    assert measured.verdict == "faster when placed"
    with pytest.raises(Error, match="choose user, program, partition"):
        summarize_runs(runs, "day")


def test_a_full_disk_is_reported_once_and_raises_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(tmp_path))

    reports: list[str] = []
    log = RunLog(tmp_path / "store", {"id": "1", "state": "started"}, reports.append)
    monkeypatch.setattr(run_store, "write_run", fail)
    log.write(kind="recorded")
    log.end(0, 1.0)
    assert log.run_id is None
    assert reports == [f"cannot use the run store {tmp_path}: No space left on device"]
