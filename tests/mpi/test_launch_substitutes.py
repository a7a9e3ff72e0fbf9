# SPDX-License-Identifier: BSD-3-Clause
"""Scripts replace launchers that cannot be installed here.

The script for Intel MPI's launcher calls MPICH's Hydra, on which Intel's launcher is
based. The script for Flux starts each task with the host name that Flux would select.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from own_process import topoloom
from several_hosts import Location, SeveralHosts, read_locations

from topoloom import load_placement, save_graph
from topoloom.graphs import ring

HOSTS = ["alpha", "beta", "gamma"]
MACHINE = """format = "topoloom-machine"
version = 1
[topology]
kind = "mesh"
size = [3]
[node]
levels = [2]
cpus = ["1", "0"]
"""
INTEL = """#!/bin/sh
case "$1" in --version)
    echo "Intel(R) MPI Library for Linux* OS, Version 2021.9 Build 20230306"
    exit;;
esac
[ "$I_MPI_JOB_RESPECT_PROCESS_PLACEMENT" = off ] || exit 9
exec {hydra} "$@"
"""
FLUX = """#!/bin/bash
if [ "$1" = --version ]; then
    printf 'commands:    \\t\\t0.70.0\\nlibflux-core:\\t\\t0.70.0\\n'
    exit
fi
[ "$1" = run ] || exit 9
while shift; do
    case "$1" in
    --taskmap=hostfile:*) mapfile -t hosts <"${1#*:}";;
    --requires=hosts:*) IFS=, read -ra allowed <<<"${1#*:}";;
    -N) nodes=$2; shift;;
    -n*) tasks=${1#-n};;
    -o) shift;;
    -x) ;;
    *) break;;
    esac
done
[ "$nodes" = "${#allowed[@]}" ] || exit 9
for ((task = 0; task < tasks; task++)); do
    case ",${allowed[*]}," in *"${hosts[task]}"*) ;; *) exit 9;; esac
    HOST=${hosts[task]} FLUX_TASK_RANK=$task "$@" || exit
done
"""
TASK = """#!/bin/sh
echo $FLUX_TASK_RANK $HOST $(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' \\
    /proc/self/status)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change to a directory with a profile of a ring of five ranks and a machine."""
    monkeypatch.chdir(tmp_path)
    save_graph("ring5.npz", ring(5, 1000))
    (tmp_path / "m.toml").write_text(MACHINE)
    return tmp_path


def write_script(path: Path, text: str) -> str:
    path.write_text(text)
    path.chmod(0o755)
    return str(path)


def run_with_placement(bind: list[str], command: list[str]) -> str:
    placing = ["--machine", "m.toml", "--hosts", ",".join(HOSTS), *bind]
    mapping = ["--mapper", "random", "--seed", "2", "-o", "x.json"]
    words = ["run", *placing, *mapping, "--graph", "ring5.npz", "--", *command]
    done = topoloom(*words)
    assert done.returncode == 0, done.stderr
    assert ("not cores" in done.stderr) == (not bind)
    return done.stdout


def read_expected_locations() -> list[Location]:
    slots = load_placement("x.json").placement.slots.tolist()
    return [Location(HOSTS[slot // 2], (1 - slot % 2,)) for slot in slots]


@pytest.mark.parametrize("bind", [["--bind", "core"], []])
def test_intel_mpi_starts_ranks_on_their_hosts_and_cpus(
    mpich: SeveralHosts, folder: Path, bind: list[str]
) -> None:
    mpirun = write_script(folder / "mpirun", INTEL.format(hydra=mpich.mpi.mpirun))
    command = [mpirun, *mpich.options, "-n", "5", str(mpich.where)]
    located = read_locations(run_with_placement(bind, command), 5)
    assert [at.host for at in located] == [at.host for at in read_expected_locations()]
    if bind:
        assert located == read_expected_locations()


@pytest.mark.parametrize("bind", [["--bind", "core"], []])
def test_flux_starts_ranks_on_their_hosts_and_cpus(
    folder: Path, bind: list[str]
) -> None:
    flux = write_script(folder / "flux", FLUX)
    task = write_script(folder / "task", TASK)
    rows = [
        line.split()
        for line in run_with_placement(bind, [flux, "run", "-n5", task]).splitlines()
    ]
    assert [row[1] for row in rows] == [at.host for at in read_expected_locations()]
    if bind:
        assert [(int(row[2]),) for row in rows] == [
            at.cores for at in read_expected_locations()
        ]
