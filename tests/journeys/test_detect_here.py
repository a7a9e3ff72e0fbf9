# SPDX-License-Identifier: BSD-3-Clause
"""Without a batch system the machine is this node, as described by hwloc."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from own_process import TOPOLOOM

from topoloom import save_graph
from topoloom.graphs import ring

PROGRAMS = Path(__file__).parents[1] / "mpi" / "programs"
CPUS = sorted(os.sched_getaffinity(0))


@pytest.fixture(autouse=True)
def process_outside_jobs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Leave all jobs, enter an empty directory, and let root start Open MPI."""
    monkeypatch.chdir(tmp_path)
    for name in list(os.environ):
        if name.startswith(("SLURM_", "PBS_", "LSB_", "FLUX_", "PJM_")):
            monkeypatch.delenv(name)
    for name in ("ALLOW_RUN_AS_ROOT", "ALLOW_RUN_AS_ROOT_CONFIRM"):
        monkeypatch.setenv(f"OMPI_{name}", "1")


def run_command(*command: object) -> str:
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_slots_equal_the_cores_in_hwloc() -> None:
    cores = run_command("lstopo-no-graphics", "--restrict", "binding", "--only", "core")
    shown = json.loads(run_command(*TOPOLOOM, "machine", "detect", "--json"))
    assert shown["nodes"] == 1
    assert shown["slots"] == len(cores.splitlines()) >= 1


def test_a_process_bound_to_one_cpu_has_one_slot() -> None:
    bound = ["taskset", "-c", CPUS[-1], *TOPOLOOM]
    assert json.loads(run_command(*bound, "machine", "detect", "--json"))["slots"] == 1


def test_run_binds_each_rank_to_a_separate_core() -> None:
    ranks = json.loads(run_command(*TOPOLOOM, "machine", "detect", "--json"))["slots"]
    save_graph("ring.npz", ring(ranks, 1000))
    run_command("mpicc.openmpi", "-o", "where", PROGRAMS / "where.c")
    run = [*TOPOLOOM, "run", "--machine", "detect", "--graph", "ring.npz"]
    output = run_command(*run, "--", "mpirun.openmpi", "-n", ranks, "./where")
    cores = [line.split()[2:] for line in output.splitlines()]
    # Each rank is bound to all CPUs of one core, and no other rank is bound to them.
    assert len(cores) == ranks
    assert sorted(int(cpu) for core in cores for cpu in core) == CPUS
