# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom run` runs a program once: recorded first, placed from then on.

Whatever fails, the program runs as typed, with its own input, output and exit status.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from json_documents import check_document
from mpis import MPICH
from own_process import TOPOLOOM, topoloom
from several_hosts import SeveralHosts, read_locations

HOSTS = "alpha,beta,gamma,delta"
#: On this machine, no placement is better; a named mapper is applied all the same.
NODES = ["--machine", "mesh:4", "--hosts", HOSTS, "--mapper", "random", "--seed", "3"]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def make_host_command(several_hosts: SeveralHosts, *words: object) -> list[str]:
    """Build a launcher command of four ranks that names the hosts."""
    is_hydra = several_hosts.mpi.is_hydra
    option = ["-hosts"] if is_hydra else ["--bind-to", "none", "--host"]
    return several_hosts.command(*option, HOSTS, "-n", 4, *words)


def run_once(*words: object, **more: str) -> subprocess.CompletedProcess[str]:
    return topoloom("run", *NODES, *words, **more)


def list_runs() -> list[Any]:
    listed = topoloom("runs", "--json")
    runs: list[Any] = check_document(listed.stdout)["runs"]
    return runs


@pytest.mark.every_mpi
def test_the_first_run_is_recorded_and_later_runs_are_placed(
    several_hosts: SeveralHosts,
) -> None:
    command = make_host_command(several_hosts, several_hosts.where)
    first = run_once("--", *command)
    assert first.returncode == 0, first.stderr
    assert len(first.stdout.splitlines()) == 4  # the program ran once
    assert "next run will be placed: predicted " in first.stderr
    second = run_once("--json", "--", *command)
    assert second.returncode == 0, second.stderr
    assert len(second.stdout.splitlines()) == 4
    document = check_document(second.stderr.splitlines()[-1])
    assert document["verified"]["holds"]
    assert set(document["seconds"]) == {"placed"}
    hosts = [at.host for at in read_locations(second.stdout, 4)]
    assert sorted(hosts) == sorted(HOSTS.split(","))
    runs = list_runs()
    assert [run["kind"] for run in runs] == ["recorded", "placed"]
    assert runs[0]["key"] == runs[1]["key"]
    assert runs[1]["placed_by"] == runs[0]["recording"]
    assert runs[1]["placement"] == runs[0]["placement"]
    assert document["run"] == runs[1]["id"]
    assert [run["exit_status"] for run in runs] == [0, 0]
    assert 0 < runs[0]["mpi_time"]["mean"] <= runs[0]["wall_seconds"]


def test_other_arguments_are_recorded_again_unless_they_are_accepted(
    mpich: SeveralHosts,
) -> None:
    text = "input"

    def run_with(length: int, *options: str) -> str:
        command = make_host_command(mpich, mpich.where, 0, length)
        done = run_once(*options, "--", *command, standard_input=text)
        assert done.returncode == 0, done.stderr
        assert done.stdout.count(text[:length]) == 1 or length == 0
        return list_runs()[-1]["kind"]

    assert run_with(0) == "recorded"
    assert run_with(5) == "recorded"
    assert run_with(5) == "placed"
    assert run_with(4, "--like") == "placed"
    assert run_with(4) == "recorded"
    assert run_with(3, "--name", "where") == "recorded"
    assert run_with(2, "--name", "where") == "placed"


def test_a_failed_recorded_run_is_recorded_again(mpich: SeveralHosts) -> None:
    command = make_host_command(mpich, mpich.where, 5)
    for _ in range(2):
        done = run_once("--", *command)
        assert done.returncode == 5
        assert len(done.stdout.splitlines()) == 4
        assert "status 5; the next one will be recorded again" in done.stderr
    assert [run["kind"] for run in list_runs()] == ["recorded", "recorded"]


def test_a_run_that_placement_does_not_help_keeps_the_order_of_the_launcher(
    mpich: SeveralHosts,
) -> None:
    command = make_host_command(mpich, mpich.where)
    where = ["--machine", "tree:4", "--hosts", HOSTS]
    first = topoloom("run", *where, "--", *command)
    assert "next run will not be placed: " in first.stderr
    second = topoloom("run", *where, "--", *command)
    assert second.returncode == 0
    assert second.stderr.endswith("; started as typed\n")
    assert [at.host for at in read_locations(second.stdout, 4)] == HOSTS.split(",")
    assert list_runs()[-1]["kind"] == "launcher"


def check_runs_as_typed(done: subprocess.CompletedProcess[str], why: str) -> None:
    """Check that the program ran once, and one line beside those of its launcher."""
    assert done.returncode == 7, done.stderr
    assert len(done.stdout.splitlines()) == 4
    lines = done.stderr.splitlines()
    [line] = [line for line in lines if line.startswith("topoloom: ")]
    assert why in line


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--store", "/dev/null/store"], "cannot use the run store /dev/null"),
        (["--mpicc", "nowhere"], "there is no compiler 'nowhere'; started as typed"),
    ],
    ids=["store", "compiler"],
)
def test_what_cannot_be_remembered_runs_as_typed(
    mpich: SeveralHosts, options: list[str], why: str
) -> None:
    command = make_host_command(mpich, mpich.where, 7)
    check_runs_as_typed(run_once(*options, "--", *command), why)


def test_a_command_of_an_unknown_launcher_runs_as_typed() -> None:
    job = Path("job.sh")
    job.write_text("#!/bin/sh\nseq 4\nexit 7\n")
    job.chmod(0o755)
    check_runs_as_typed(run_once("--", "./job.sh"), "is not a supported launcher")


def test_a_static_program_runs_as_typed(mpich: SeveralHosts) -> None:
    Path("exit.c").write_text(
        '#include <stdio.h>\nint main(void) { puts(""); return 7; }\n'
    )
    subprocess.run(["cc", "-static", "exit.c", "-o", "static"], check=True)
    done = run_once("--", *make_host_command(mpich, "./static"))
    check_runs_as_typed(done, "./static is linked statically")


def test_a_command_that_places_its_ranks_runs_as_typed(
    several_hosts: SeveralHosts,
) -> None:
    own = ["-ppn", 1] if several_hosts.mpi.is_hydra else ["--map-by", "node"]
    command = make_host_command(several_hosts, several_hosts.where, 7)
    done = run_once("--", command[0], *own, *command[1:])
    check_runs_as_typed(done, "the command places its ranks itself")


def test_a_damaged_recording_is_replaced(mpich: SeveralHosts) -> None:
    command = make_host_command(mpich, mpich.where)
    run_once("--", *command)
    for path in Path(os.environ["TOPOLOOM_STORE"]).glob("files/*/*.npz"):
        path.write_bytes(path.read_bytes()[:100])
    again = run_once("--", *command)
    assert again.returncode == 0
    assert "recorded again: " in again.stderr
    assert [run["kind"] for run in list_runs()] == ["recorded", "recorded"]
    run_once("--", *command)
    assert list_runs()[-1]["kind"] == "placed"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_killed_run_leaves_a_store_that_reads(number: signal.Signals) -> None:
    code = "import time; open('started', 'w'); time.sleep(10)"
    program = MPICH.command(2, sys.executable, "-c", code)
    where = ["--machine", "mesh:1+node:2", "--hosts", os.uname().nodename]
    words = [*TOPOLOOM, "run", *where, "--mpicc", "mpicc.mpich", "--", *program]
    process = subprocess.Popen(words, start_new_session=True)
    while process.poll() is None and not Path("started").exists():
        time.sleep(0.02)
    process.send_signal(number)
    status = process.wait(timeout=600)
    [run] = list_runs()
    assert run["command"] == program
    if number == signal.SIGTERM:
        assert status == run["exit_status"] == 143
    else:
        assert run["exit_status"] is None
        os.killpg(process.pid, signal.SIGKILL)  # the launcher, which was left
