# SPDX-License-Identifier: BSD-3-Clause
"""A centre switches Topoloom on for a partition: the files of the how-to, in Slurm."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from real_slurm import RealSlurm, start_slurm

#: One pytest worker, because the tests share Slurm daemons.
pytestmark = pytest.mark.xdist_group("slurm_centre")

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "run" / "enable-for-a-centre.md"
#: Slurm has no MPI here, so that nothing can be recorded; jobs start all the same.
RANK = '#!/bin/sh\necho "rank $SLURM_PROCID on $SLURMD_NODENAME"; exit 3\n'


@pytest.fixture(scope="module")
def slurm() -> Iterator[RealSlurm]:
    """Start a Slurm of three nodes with two cores each."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{os.environ['PATH']}:/usr/sbin")
        nodes = {"n[1-3]": "CPUs=2 Sockets=1 CoresPerSocket=2"}
        with start_slurm(nodes, "") as running:
            yield running


def install(slurm: RealSlurm, folder: Path, partition: str) -> dict[str, str]:
    """Write the wrapper and the policy of the page; return the module's variables."""
    blocks = dict(
        re.findall(r"^```(toml|bash)\n(.*?)^```$", PAGE.read_text(), re.M | re.S)
    )
    real = next(
        path / "srun"
        for path in map(Path, slurm.environment["PATH"].split(":"))
        if (path / "srun").exists()
    )
    wrapper = blocks["bash"].replace("/usr/bin/srun", str(real))
    wrapper = wrapper.replace("/opt/topoloom/venv/bin/python", sys.executable)
    (folder / "bin").mkdir()
    (folder / "bin" / "srun").write_text(wrapper)
    (folder / "bin" / "srun").chmod(0o755)
    policy = blocks["toml"].replace("/opt/topoloom", str(folder))
    policy = policy.replace("partition.large", f"partition.{partition}")
    (folder / "policy.toml").write_text(policy)
    (folder / "rank").write_text(RANK)
    (folder / "rank").chmod(0o755)
    path = f"{folder / 'bin'}:{slurm.environment['PATH']}"
    return {"PATH": path, "TOPOLOOM_POLICY": str(folder / "policy.toml")}


def run_job(
    slurm: RealSlurm, folder: Path, command: str, variables: dict[str, str]
) -> str:
    """Run a command on all nodes, which fails with the status of the program."""
    done = slurm.run_command(
        *("salloc", "-Q", "-N3", "--exclusive", "sh", "-c"),
        f"cd {folder}; {command} ./rank",
        **variables,
    )
    assert done.returncode == 3, done.stderr + done.stdout
    assert len(done.stdout.splitlines()) == 6, done.stdout
    return done.stderr


def list_runs(folder: Path) -> list[dict[str, object]]:
    files = sorted((folder / "runs" / "runs").glob("*.json"))
    return [json.loads(file.read_text()) for file in files]


def test_jobs_of_a_partition_are_stored_and_started_once(
    slurm: RealSlurm, tmp_path: Path
) -> None:
    variables = install(slurm, tmp_path, "all")
    said = run_job(slurm, tmp_path, "srun --mpi=none -n 6", variables)
    assert "nor linked with MPI" in said
    run_job(slurm, tmp_path, "srun --mpi=none -n 6", {**variables, "TOPOLOOM": "off"})
    own = "srun --mpi=none -n 6 --distribution=cyclic"
    assert "the command places its ranks itself" in run_job(
        slurm, tmp_path, own, variables
    )
    runs = list_runs(tmp_path)
    assert [run["kind"] for run in runs] == ["launcher", "launcher"]
    assert {run["partition"] for run in runs} == {"all"}
    assert [run["exit_status"] for run in runs] == [3, 3]
    assert runs[0]["nodes"] == 3


def test_jobs_of_other_partitions_are_left_alone(
    slurm: RealSlurm, tmp_path: Path
) -> None:
    variables = install(slurm, tmp_path, "other")
    assert "topoloom" not in run_job(slurm, tmp_path, "srun --mpi=none -n 6", variables)
    (tmp_path / "policy.toml").write_text("stores = 1")
    assert "unknown key 'stores'; known are store, partition; started as typed" in (
        run_job(slurm, tmp_path, "srun --mpi=none -n 6", variables)
    )
    assert not (tmp_path / "runs").exists()
