# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom study` with real launchers."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from built_programs import compile_program
from json_documents import check_document
from own_process import TOPOLOOM, topoloom
from several_hosts import PROGRAMS, SECONDS, SeveralHosts

HOSTS = "alpha,beta,gamma,delta"
NODES = ["--machine", "mesh:4,bandwidth=1GB/s", "--hosts", HOSTS, "--seed", "3"]
METRIC = ["--metric", r"time: (\S+) s"]


def build_studied(several_hosts: SeveralHosts) -> Path:
    source = PROGRAMS / "runs" / "studied.c"
    return compile_program("studied", [several_hosts.mpi.mpicc, "-O1", source])


def make_command(several_hosts: SeveralHosts, program: Path) -> list[str]:
    option = (
        ["-hosts"] if several_hosts.mpi.is_hydra else ["--bind-to", "none", "--host"]
    )
    return several_hosts.command(*option, HOSTS, "-n", 4, program)


def list_runs() -> list[Any]:
    runs: list[Any] = check_document(topoloom("runs", "--json").stdout)["runs"]
    return runs


def test_cells_run_as_their_levels_say(
    several_hosts: SeveralHosts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    program = build_studied(several_hosts)
    vary = ["--vary", "placement=launcher,random", "--vary", "wait=,--wait 900"]
    words = [*NODES, *METRIC, *vary, "--mpicc", several_hosts.mpi.mpicc, "--json"]
    words += ["--design", "one-at-a-time"]
    command = make_command(several_hosts, program)
    done = topoloom("study", *words, "--repetitions", 1, "--", *command)
    assert done.returncode == 0, done.stderr
    document = check_document(done.stdout)
    _, waiting = document["effects"]
    assert waiting["levels"] == ["--wait 900"]
    times = [cell["median"] for cell in document["cells"]]
    assert times[1] >= 0.9
    assert [len(cell["seconds"]) for cell in document["cells"]] == [1] * 3
    kinds = sorted(run["kind"] for run in list_runs())
    assert kinds == ["launcher"] * 2 + ["placed"] + ["recorded"] * 2
    more = topoloom("study", *words, "--repetitions", 2, "--", *command)
    again = check_document(more.stdout)
    assert [cell["seconds"][0] for cell in again["cells"]] == times
    assert len(list_runs()) == 8


def test_an_interrupted_study_continues(
    mpich: SeveralHosts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    program = build_studied(mpich)
    vary = ["--vary", "wait=,--wait 300", "--mpicc", mpich.mpi.mpicc]
    words = ["study", *NODES, *METRIC, *vary, "--repetitions", "4", "--json", "--"]
    command = [*words, *make_command(mpich, program)]
    study = subprocess.Popen([*TOPOLOOM, *command], stderr=subprocess.PIPE, text=True)
    end = time.monotonic() + SECONDS
    while study.poll() is None and len(list_runs()) < 4:
        assert time.monotonic() < end
    study.send_signal(signal.SIGINT)
    _, errors = study.communicate(timeout=SECONDS)
    assert study.returncode in (130, 1), errors
    runs = len(list_runs())
    done = topoloom(*command)
    assert done.returncode == 0, done.stderr
    cells = check_document(done.stdout)["cells"]
    assert [len(cell["seconds"]) for cell in cells] == [4, 4]
    assert len(list_runs()) <= runs + 8
