# SPDX-License-Identifier: BSD-3-Clause
"""The command `topoloom runs`."""

from __future__ import annotations

import csv
import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from topoloom.store.run_store import RunStore

if TYPE_CHECKING:
    from tests.conftest import Command

DAY = 24 * 3600


@pytest.fixture
def store() -> RunStore:
    """Fill the store with runs of two programs."""
    store = RunStore(Path(os.environ["TOPOLOOM_STORE"]))
    store.create()
    mpi = {"run": 10.0, "min": 1.0, "mean": 2.0, "max": 3.0, "share_at_most": 0.1}
    for number in range(24):
        is_placed = number % 2 == 1
        store.write_run(
            {
                "id": f"20261130-{number:06}",
                "state": "ended",
                "kind": "placed" if is_placed else "recorded",
                "started": time.time() - (23.5 - number) * DAY,
                "user": "ada",
                "host": "login",
                "program": "lmp" if number < 20 else "cfd",
                "key": "k" if number < 20 else "c",
                "command": ["srun", "-n", "4", "./lmp", "in put"],
                "machine": "torus:4",
                "ranks": 4,
                "nodes": 2,
                "wall_seconds": 9.0 if is_placed else 10.0,
                "exit_status": 0,
                "mpi_time": None if is_placed else mpi,
                "predicted": {"predicted_seconds": [2.0, 1.0]},
            }
        )
    return store


def test_runs_are_listed_and_selected(topoloom: Command, store: RunStore) -> None:
    listed = topoloom("runs", "--last", 3)
    assert "3 of 24 runs" in listed.out
    assert "20261130-000023" in listed.out
    assert "20261130-000020" not in listed.out
    document = topoloom("runs", "--match", "lmp", "--json").json
    assert document["total"] == 20
    assert [run["program"] for run in document["runs"]] == ["lmp"] * 20
    assert topoloom("runs", "--match", "nobody", "--json").json["runs"] == []
    nobody = f"no run in {store.root} matches 'nobody'\n"
    assert topoloom("runs", "--match", "nobody").out == nobody
    assert topoloom("runs", "--summary", "user", "--match", "nobody").out == nobody
    new = Path.cwd() / "new"
    RunStore(new).create()
    empty = topoloom("runs", "--store", new).out
    assert empty == f"no runs in {new}; 'topoloom run' stores them\n"


def test_one_run_is_shown_with_the_measured_gain(
    topoloom: Command, store: RunStore
) -> None:
    shown = topoloom("runs", "000003")
    assert "srun -n 4 ./lmp 'in put'" in shown.out
    measured = "placed 10 times against 10 runs in launcher order: -10.0 % (95 %"
    assert measured in shown.out
    document = topoloom("runs", "000022", "--json").json
    assert document["gain"]["change_percent"] is None
    assert document["run"]["partition"] is None
    compared = topoloom("runs", "000003", "000004").out
    assert compared.count("20261130") == 2


def test_the_runs_of_a_program_are_drawn(topoloom: Command, store: RunStore) -> None:
    assert (
        "written  times.svg" in topoloom("runs", "000003", "--figure", "times.svg").out
    )
    assert Path("times.svg").read_text().count("<use ") > 20


def test_a_summary_names_what_placement_has_gained(
    topoloom: Command, store: RunStore
) -> None:
    groups = topoloom("runs", "--summary", "program", "--json").json["groups"]
    assert [group["name"] for group in groups] == ["lmp", "cfd"]
    assert groups[0]["verdict"] == "faster when placed"
    assert groups[0]["change_percent"] == pytest.approx(-10)
    assert groups[0]["saving_percent"] == pytest.approx(-10)
    assert "faster when placed" in topoloom("runs", "--summary", "program").out
    assert "ada" in topoloom("runs", "--summary", "user").out


def test_runs_are_exported_as_tables(topoloom: Command, store: RunStore) -> None:
    topoloom("runs", "--match", "cfd", "-o", "runs.csv")
    with Path("runs.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["id"][-6:] for row in rows] == ["000020", "000021", "000022", "000023"]
    assert rows[0]["predicted_seconds_placed"] == "1.0"
    topoloom("runs", "-o", "runs.json")
    assert len(json.loads(Path("runs.json").read_text())) == 24


def test_old_runs_are_removed(topoloom: Command, store: RunStore) -> None:
    removed = topoloom("runs", "--prune", 4, "--json").json
    assert removed["removed_runs"] == 20
    assert topoloom("runs", "--json").json["total"] == 4


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["2026"], "'2026' matches 24 runs"),
        (["x"], "the store has no run 'x'"),
        (["--summary", "day"], "cannot be summarized by 'day'"),
        (["--summary", "user", "--prune", "3"], "--summary and --prune cannot be"),
        (["-o", "runs.xls"], "written as .csv, .json, .parquet"),
        (["--figure", "t.svg"], "--figure shows the program of one RUN"),
        (["--store", "none"], "there is no run store 'none'"),
    ],
)
def test_wrong_requests_are_refused_in_one_line(
    topoloom: Command, store: RunStore, words: list[str], message: str
) -> None:
    refused = topoloom("runs", *words)
    assert refused.status == 2
    assert message in refused.err
    assert refused.err.count("\n") == 1


def test_an_empty_store_has_no_runs(topoloom: Command) -> None:
    assert topoloom("runs").status == 0
    assert topoloom("runs", "--json").json["total"] == 0
    assert topoloom("runs", "--prune", 1).status == 0
    assert topoloom("runs", "--summary", "user").status == 0


@pytest.mark.parametrize(
    ("machine", "why"),
    [
        ("torus:4xx4", "cannot read machine 'torus:4xx4': expected a number"),
        ("gone.toml", "gone.toml: No such file or directory"),
    ],
)
def test_a_wrong_machine_in_a_policy_stops_no_job(
    topoloom: Command, monkeypatch: pytest.MonkeyPatch, machine: str, why: str
) -> None:
    Path("policy.toml").write_text(f'[partition.all]\nmachine = "{machine}"\n')
    monkeypatch.setenv("SLURM_JOB_PARTITION", "all")
    job = ["--apply", "world", "--", "sh", "-c", "exit 3"]
    started = topoloom("run", "--policy", "policy.toml", *job)
    assert started.status == 3
    assert started.err.startswith(f"topoloom: {why}")
    assert started.err.endswith("; started as typed\n")
    typed = topoloom("run", "--machine", machine, *job)
    assert typed.status == 2
    assert typed.err.startswith(f"topoloom: {why}")
