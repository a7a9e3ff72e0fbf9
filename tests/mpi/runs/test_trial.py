# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom trial` compares launcher order and placement, pair by pair."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from json_documents import check_document
from own_process import topoloom
from several_hosts import SeveralHosts

HOSTS = "alpha,beta,gamma,delta"
NODES = ["--machine", "mesh:4", "--hosts", HOSTS, "--mapper", "random", "--seed", "3"]


def make_command(several_hosts: SeveralHosts, *words: object) -> list[str]:
    option = (
        ["-hosts"] if several_hosts.mpi.is_hydra else ["--bind-to", "none", "--host"]
    )
    return several_hosts.command(*option, HOSTS, "-n", 4, *words)


def read_result(trial: subprocess.CompletedProcess[str]) -> Any:
    """Read the last line on stderr; Open MPI 5 sometimes warns in front of it."""
    return check_document(trial.stderr.splitlines()[-1])


def list_kinds() -> list[Any]:
    runs = check_document(topoloom("runs", "--json").stdout)["runs"]
    return [run["kind"] for run in runs]


@pytest.mark.every_mpi
def test_a_trial_alternates_both_orders_and_can_be_extended(
    several_hosts: SeveralHosts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    command = make_command(several_hosts, several_hosts.where)
    first = topoloom("trial", *NODES, "--pairs", 1, "--", *command)
    assert first.returncode == 0, first.stderr
    assert "wall time: not enough runs: 1 pair, but 6 are needed" in first.stderr
    assert len(first.stdout.splitlines()) == 3 * 4
    assert sorted(list_kinds()) == ["launcher", "placed", "recorded"]
    more = topoloom("trial", *NODES, "--pairs", 2, "--json", "--", *command)
    document = read_result(more)
    assert len(document["pairs"]) == 2
    assert document["wall"]["change_percent"] is None
    assert len(list_kinds()) == 5
    again = topoloom("trial", *NODES, "--pairs", 2, "--json", "--", *command)
    assert read_result(again) == document
    assert again.stdout == ""


def test_a_failed_run_ends_the_trial_which_continues_later(
    mpich: SeveralHosts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    job = tmp_path / "job.sh"
    job.write_text(f'#!/bin/sh\n"{mpich.where}" >&2; test -e good || exit 3\n')
    job.chmod(0o755)
    words = [*NODES, "--mpicc", mpich.mpi.mpicc]
    command = make_command(mpich, job)
    Path("good").touch()
    assert topoloom("run", *words, "--", *command).returncode == 0
    Path("good").unlink()
    words += ["--pairs", "1", "--"]
    failed = topoloom("trial", *words, *command)
    assert failed.returncode == 3
    assert "ended with status 3; repeat the command to continue" in failed.stderr
    Path("good").touch()
    done = topoloom("trial", *words, *command)
    assert done.returncode == 0, done.stderr
    assert "1 pair" in done.stderr


@pytest.mark.parametrize(
    ("factor", "variants"),
    [
        ("mapper=random,gge", ["random", "gge"]),
        ("collectives", ["MPI's collectives", "replaced collectives"]),
    ],
    ids=["mapper", "collectives"],
)
def test_a_trial_compares_mappers_and_collectives(
    mpich: SeveralHosts,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    factor: str,
    variants: list[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    words = [*NODES, "--pairs", 1, "--factor", factor, "--json"]
    words += ["--mpicc", mpich.mpi.mpicc]
    done = topoloom("trial", *words, "--", *make_command(mpich, mpich.where))
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 3 * 4
    document = check_document(done.stderr.splitlines()[-1])
    assert document["variants"] == variants
    assert len(document["pairs"]) == 1
    runs = check_document(topoloom("runs", "--json").stdout)["runs"]
    assert [run["kind"] for run in runs] == ["recorded", "placed", "placed"]
    assert all(run["mpi_time"]["run"] > 0 for run in runs)
    assert {run["id"] for run in runs[1:]} == {*document["pairs"][0]["runs"]}
