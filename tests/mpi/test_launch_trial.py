# SPDX-License-Identifier: BSD-3-Clause
"""The trial before a job leaves no processes or files behind."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest
from mpis import MPICH, MPIS, Mpi, need
from own_process import TOPOLOOM, wait_for_end

from topoloom import Error, save_graph
from topoloom.graphs import ring
from topoloom.launch.apply import trial_run
from topoloom.launch.launcher import Launch
from topoloom.support import child_processes

LAUNCHER = """\
#!/bin/sh
case "$*" in *sleep*) ;; *) exec mpirun.mpich "$@";; esac
trap 'kill $child; touch ended; exit 143' TERM
sleep 100 & child=$!
touch started
wait
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signals_end_the_trial(
    number: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    save_graph("ring.npz", ring(2, 1))
    mpiexec = tmp_path / "mpiexec"
    mpiexec.write_text(LAUNCHER)
    mpiexec.chmod(0o755)
    where = ["--machine", "mesh:2", "--hosts", "a,b", "--graph", "ring.npz"]
    words = [*TOPOLOOM, "run", *where, "--mpicc", "mpicc.mpich"]
    process = subprocess.Popen([*words, "--", mpiexec, "-n", "2", "./app"])
    while process.poll() is None and not Path("started").exists():
        time.sleep(0.05)
    os.kill(process.pid, number)
    assert process.wait(timeout=600) == 128 + number
    assert Path("ended").exists()
    assert not list(tmp_path.glob("*topoloom*"))


def test_a_waiting_trial_is_reported(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(trial_run, "_SECONDS_TO_WARNING", 0)
    assert trial_run.run_trial_program(Launch(["sleep", "0.5"])) is None
    [line] = caplog.messages
    assert line.startswith("topoloom: sleep has not finished a no-op job")


@pytest.mark.parametrize("mpi", MPIS, ids=lambda mpi: mpi.name)
def test_a_host_that_ssh_cannot_reach_is_named_within_seconds(
    mpi: Mpi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(child_processes, "_SECONDS_TO_FAIL", 0.5)
    monkeypatch.setattr(trial_run, "_TIMEOUT_SECONDS", 60)
    ssh = tmp_path / "ssh"
    line = "ssh: Could not resolve hostname n7: Name or service not known"
    ssh.write_text(f"#!/bin/sh\necho '{line}' >&2; exit 255\n")
    ssh.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    hosts = ["-hosts", "n7"] if mpi is MPICH else ["--host", "n7"]
    launch = Launch([need(mpi.mpirun, mpi.install), *hosts, "-n", "1", "true"])
    with pytest.raises(Error) as error:
        trial_run.run_trial_program(launch)
    assert str(error.value) == (
        f"{launch.command[0]} cannot reach a host, nothing was started: {line}"
    )


@pytest.mark.parametrize("elsewhere", [False, True])
def test_hosts_are_checked_for_files_unless_all_ranks_start_here(
    elsewhere: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMPI_ALLOW_RUN_AS_ROOT", "1")
    monkeypatch.setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
    rankfile, missing = tmp_path / "ranks", tmp_path / "missing"
    rankfile.write_text("rank 0=localhost slot=0\n")
    options = ["--rankfile", str(rankfile)] if elsewhere else []
    command = ["mpirun.openmpi", *options, "-n", "1", "true"]
    if elsewhere:
        with pytest.raises(Error, match=f"lacks {missing}"):
            trial_run.check_files_on_hosts(command, [missing])
    else:
        trial_run.check_files_on_hosts(command, [missing])


@pytest.mark.parametrize("mpi", MPIS, ids=lambda mpi: mpi.name)
def test_an_interrupt_of_topoloom_alone_ends_the_program(
    mpi: Mpi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    save_graph("ring.npz", ring(2, 1))
    where = ["--machine", "mesh:1+node:2", "--hosts", socket.gethostname()]
    words = [*TOPOLOOM, "run", *where, "--graph", "ring.npz", "--"]
    program = mpi.command(2, "sh", "-c", "touch rank.$$; exec sleep 300")
    # A terminal would send the signal to both processes.
    process = subprocess.Popen([*words, *program], start_new_session=True)
    while process.poll() is None and len(ranks := list(tmp_path.glob("rank.*"))) < 2:
        time.sleep(0.05)
    assert len(ranks) == 2
    sleeping = [os.pidfd_open(int(rank.suffix[1:])) for rank in ranks]
    os.kill(process.pid, signal.SIGINT)
    status = process.wait(timeout=600)
    # Hydra exits with 0 if it ends before its ranks.
    assert status != 0 or mpi is MPICH
    for rank in sleeping:
        wait_for_end(rank)
    assert not list(tmp_path.glob(".topoloom*"))


def test_a_host_with_another_name_in_its_launcher_is_named(tmp_path: Path) -> None:
    launcher = tmp_path / "mpirun"
    line = "The hostfile contained a node (localhost) that is not in your allocation."
    launcher.write_text(f"#!/bin/sh\necho '{line}' >&2; exit 1\n")
    launcher.chmod(0o755)
    with pytest.raises(Error) as error:
        trial_run.run_trial_program(Launch([str(launcher)]))
    known = f"It knows localhost as {socket.gethostname()}: use this name in --hosts."
    assert str(error.value).endswith(f"{line} {known}")
