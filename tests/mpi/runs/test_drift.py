# SPDX-License-Identifier: BSD-3-Clause
"""Placed runs are sampled; a run that drifted from its recording replaces it."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from built_programs import compile_program
from json_documents import check_document
from own_process import topoloom
from several_hosts import PROGRAMS, SeveralHosts

HOSTS = "alpha,beta,gamma,delta"
NODES = ["--machine", "mesh:4", "--hosts", HOSTS, "--mapper", "random", "--seed", "3"]


def list_runs() -> list[Any]:
    runs: list[Any] = check_document(topoloom("runs", "--json").stdout)["runs"]
    return runs


@pytest.mark.every_mpi
def test_a_run_with_another_input_replaces_the_recording_of_its_directory(
    several_hosts: SeveralHosts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mpi = several_hosts.mpi
    shift = compile_program("shift", [mpi.mpicc, "-w", PROGRAMS / "runs" / "shift.c"])
    option = ["-hosts"] if mpi.is_hydra else ["--bind-to", "none", "--host"]
    command = several_hosts.command(*option, HOSTS, "-n", 4, shift)

    def run(directory: str, shift: int) -> subprocess.CompletedProcess[str]:
        folder = tmp_path / directory
        folder.mkdir(exist_ok=True)
        monkeypatch.chdir(folder)
        Path("input").write_text(str(shift))
        done = topoloom("run", *NODES, "--mpicc", mpi.mpicc, "--", *command)
        assert done.returncode == 0, done.stderr
        return done

    run("one", 1)
    for directory, shift, is_changed in (
        ("other", 2, True),
        ("one", 1, False),
        ("other", 2, False),
        ("one", 2, True),
    ):
        said = run(directory, shift).stderr
        assert ("100 % of the traffic flows between other" in said) == is_changed
        assert ("next run will be placed: predicted " in said) == is_changed
    runs = list_runs()
    assert [each["kind"] for each in runs] == ["recorded", *["placed"] * 4]
    assert runs[0]["drift"] is None
    drifts = [each["drift"] > 0.9 for each in runs[1:]]
    assert drifts == [True, False, False, True]
    assert [each["mpi_time"]["mean"] > 0 for each in runs] == [True] * 5
    first, new = runs[0]["recording"], runs[1]["recording"]
    assert first != new
    assert [each["placed_by"] for each in runs[1:]] == [first, first, new, first]
    assert runs[2]["recording"] is runs[3]["recording"] is None
