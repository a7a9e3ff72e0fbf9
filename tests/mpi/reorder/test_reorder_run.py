# SPDX-License-Identifier: BSD-3-Clause
"""`run --apply topologies` places neighbors of a scrambled stencil on one host."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import pytest
from built_programs import NAP_SOURCE, compile_program
from json_documents import check_document
from mpis import MPICH, PROGRAMS
from own_process import topoloom
from several_hosts import SeveralHosts

HOSTS = "alpha,beta,gamma,delta"
PARENT = """
#include <mpi.h>
#include <stdlib.h>
int main(void) {
    int rank;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) system("[ -n \\"$TOPOLOOM_REORDER\\" ] || echo a child of its own");
    MPI_Finalize();
}
"""


def run_reorder(*words: object) -> subprocess.CompletedProcess[str]:
    return topoloom("run", "--apply", "topologies", *words)


def make_stencil_command(several_hosts: SeveralHosts) -> list[str]:
    """Build a command that starts eight ranks on four hosts, round-robin."""
    words = [several_hosts.mpi.mpicc, "-w", PROGRAMS / "stencil_hosts.c", NAP_SOURCE]
    program = compile_program("stencil", words)
    if several_hosts.mpi.is_hydra:
        hosts = ["-hosts", HOSTS.replace(",", ":1,") + ":1"]
    else:
        hosts = ["--host", HOSTS.replace(",", ":2,") + ":2", "--map-by", "node"]
        hosts += ["--mca", "mpi_yield_when_idle", "1"]
    return several_hosts.command(*hosts, "-n", 8, program)


def test_neighbors_are_placed_on_one_host(
    several_hosts: SeveralHosts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "with,comma"
    folder.mkdir()
    monkeypatch.chdir(folder)
    command = make_stencil_command(several_hosts)
    # In a ring of eight, rank i is on host i mod 4: all 16 messages are inter-node.
    learned = run_reorder("--", *command)
    assert learned.returncode == 0, learned.stderr
    assert learned.stdout == "checked\nbetween hosts 8\n"
    assert "1 of 1 topology reordered: cost" in learned.stderr
    assert "inter-node bytes 16 -> 8" in learned.stderr
    # Hosts on a line have another order; neighbors are also on neighboring hosts.
    hosts = "alpha,gamma,beta,delta"
    described = run_reorder("--machine", "torus:4", "--hosts", hosts, "--", *command)
    assert described.stdout == learned.stdout
    assert re.search(r"cost 24 -> 8 \(66\.7 % gain\)", described.stderr)
    assert not list(folder.iterdir())


def test_a_program_that_aborts_reports_its_reordered_topologies(
    mpich: SeveralHosts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run_reorder("--", *make_stencil_command(mpich), "abort")
    assert done.returncode == 3
    assert (
        "topoloom: 1 of 1 topology reordered; the command ended with status 3 before "
        "MPI_Finalize, so the gain is not known\n"
    ) in done.stderr


def test_each_program_of_a_script_reports_its_own_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    source = Path("parent.c")
    source.write_text(PARENT)
    subprocess.run([MPICH.compilers[".c"], source, "-o", "parent"], check=True)
    job = shlex.join(MPICH.command(2, "./parent"))
    script = Path("job.sh").absolute()
    script.write_text(f"#!/bin/sh\n{job}\n{job}\n")
    script.chmod(0o755)
    done = run_reorder("--mpicc", MPICH.compilers[".c"], "--", script)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "a child of its own\n" * 2
    lines = done.stderr.splitlines()
    assert len(lines) == 2
    assert all("the program made no topology with reorder=1" in x for x in lines)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["--hosts", "n1"],
            "--allocation and --hosts require a machine; add --machine",
        ),
        (["--machine", "torus:4"], "host names are unknown"),
        (["--machine", "torus:4", "--hosts", "n1"], "1 host for an allocation of 4"),
        (["--graph", "app.npz"], "--graph does not apply to --apply topologies"),
        (["--work", "9"], "--work does not apply to --apply topologies"),
        (["--mapper", "atuo"], "no mapper 'atuo'"),
    ],
)
def test_wrong_arguments_start_no_program(words: list[str], message: str) -> None:
    done = run_reorder(*words, "--", "mpirun.openmpi", "-n", "2", "true")
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_command_without_mpi_runs_unchanged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    command = ["mpirun.openmpi", "-n", "1", "sh", "-c", "echo hello; exit 3"]
    done = run_reorder("--json", "--", *command)
    assert done.returncode == 3
    assert done.stdout == "hello\n"
    document = check_document(done.stderr.splitlines()[-1])
    (line,) = document["lines"]
    assert line.startswith("nothing reordered: the command ended with status")
    assert document["command"] == command  # as typed, without LD_PRELOAD


def test_an_unwritable_folder_does_not_stop_the_program(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir("/proc")
    # If a rank ends at once, SIGPIPE can kill MPICH's launcher (1 of 300 runs when
    # busy).
    done = run_reorder("--", "mpirun.mpich", "-n", "1", "sh", "-c", "sleep 0.1; exit 3")
    assert done.returncode == 3
    assert "topoloom: nothing reordered: " in done.stderr


def test_each_program_of_a_command_has_its_own_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    says = 'for i in 1 2; do echo "line $i" >> $TOPOLOOM_REORDER; done; sleep 0.1'
    done = run_reorder("--", "mpirun.mpich", "-n", "1", "sh", "-c", says)
    assert done.stderr == "topoloom: line 1\ntopoloom: line 2\n"


def test_the_command_line_overrides_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    options = "mapper=mahd(weighted=1,root=0),seed=3,machine=old"
    monkeypatch.setenv("TOPOLOOM_OPTIONS", options)
    says = 'echo "$TOPOLOOM_OPTIONS" >> $TOPOLOOM_REORDER; sleep 0.1'
    words = ["--seed", 5, "--machine", "torus:2", "--hosts", "a,b"]
    done = run_reorder(*words, "--", "mpirun.mpich", "-n", "1", "sh", "-c", says)
    assert done.stderr == "topoloom: mapper=mahd(weighted=1,root=0),seed=5\n"
