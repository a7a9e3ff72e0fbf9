# SPDX-License-Identifier: BSD-3-Clause
"""Missing libraries, and libraries for another MPI, are not preloaded: no job hangs."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from mpis import MPICH, OPEN_MPI_4
from own_process import topoloom
from several_hosts import SeveralHosts

from topoloom import save_graph
from topoloom.graphs import ring

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "topoloom"
WITHOUT_CACHE = """\
#!/bin/sh
exec unshare {user} --mount sh -c '
case " $* " in *" beta "*) mount -t tmpfs none {cache};; esac
exec {agent} "$@"' sh "$@"
"""
PLACED = ["--machine", "mesh:2", "--hosts", "alpha,beta", "--graph", "ring.npz"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    save_graph("ring.npz", ring(2, 1000))
    return tmp_path


def make_uncached_command(several_hosts: SeveralHosts, folder: Path) -> list[str]:
    """Return a command with two ranks; one host lacks the library cache."""
    *options, agent = several_hosts.options
    CACHE.mkdir(parents=True, exist_ok=True)
    user = "" if os.geteuid() == 0 else "--user --map-root-user"
    apart = folder / "agent"
    apart.write_text(WITHOUT_CACHE.format(user=user, cache=CACHE, agent=agent))
    apart.chmod(0o755)
    hosts = "-hosts" if several_hosts.mpi.is_hydra else "--host"
    words = [*options, str(apart), hosts, "alpha,beta", "-n", "2"]
    return [several_hosts.mpi.mpirun, *words, str(several_hosts.where)]


def test_run_continues_without_verification(
    several_hosts: SeveralHosts, folder: Path
) -> None:
    done = topoloom("run", *PLACED, "--", *make_uncached_command(several_hosts, folder))
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 2
    assert f"topoloom: not verified: host beta lacks {CACHE}/record-" in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["record", "-o", "p.npz"],
        ["run", "--apply", "world", *PLACED],
        ["verify", "placement.json"],
    ],
    ids=lambda words: "".join(words[:2]),
)
def test_commands_that_need_the_library_are_refused(
    mpich: SeveralHosts, folder: Path, words: list[str]
) -> None:
    made = topoloom("map", "ring.npz", "--machine", "mesh:2", "-o", "placement.json")
    assert made.returncode == 0, made.stderr
    hosts = ["--hosts", "alpha,beta"] if words[0] == "verify" else []
    done = topoloom(*words, *hosts, "--", *make_uncached_command(mpich, folder))
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith("topoloom: host beta lacks ")
    assert "set XDG_CACHE_HOME to a private folder that all hosts see" in done.stderr
    assert done.stdout == ""
    assert not list(folder.glob(".topoloom*"))


def test_reorder_continues_without_reordering(
    mpich: SeveralHosts, folder: Path
) -> None:
    done = topoloom(
        "run", "--apply", "topologies", "--", *make_uncached_command(mpich, folder)
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 2
    assert "topoloom: nothing reordered: host beta lacks " in done.stderr


def test_reorder_asks_for_the_mpi_of_a_program_that_loads_it_late(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = folder / "bin"
    first.mkdir()
    (first / "mpicc").write_text(f'#!/bin/sh\nexec {MPICH.compilers[".c"]} "$@"\n')
    (first / "mpicc").chmod(0o755)
    monkeypatch.setenv("PATH", f"{first}:{os.environ['PATH']}")
    late = "import ctypes; ctypes.CDLL('libmpi.so.40').MPI_Init(None, None)"
    job = folder / "job.sh"
    job.write_text(f"#!/bin/sh\nexec {shlex.join(OPEN_MPI_4.command(1))} "
                   f"{shlex.join([sys.executable, '-c', late])}\n")  # fmt: skip
    job.chmod(0o755)
    done = topoloom("run", "--apply", "topologies", "--", job)
    assert done.returncode == subprocess.run([job], check=False).returncode
    assert "nothing reordered: cannot tell the MPI of the program" in done.stderr
    assert "name its compiler with --mpicc" in done.stderr
