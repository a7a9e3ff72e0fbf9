# SPDX-License-Identifier: BSD-3-Clause
"""One command records and places a real program, starts it, verifies and reports."""

from __future__ import annotations

import re
import socket
import subprocess
from pathlib import Path

import pytest
from markupsafe import escape
from mpis import HALO3D, MPICH, need
from own_process import topoloom
from several_hosts import SeveralHosts
from test_record_programs import MELT

from topoloom import load_placement, save_graph
from topoloom.graphs import ring

HOSTS = "alpha,beta,gamma,delta"


def run_with_placement(*words: object) -> subprocess.CompletedProcess[str]:
    return topoloom("run", "--now", *words)


def make_host_command(several_hosts: SeveralHosts, *words: object) -> list[str]:
    mpi = several_hosts.mpi
    crowd = [] if mpi.is_hydra else ["--bind-to", "none"]
    option = "-hosts" if mpi.is_hydra else "--host"
    return several_hosts.command(option, HOSTS, *crowd, "-n", 4, *words)


def check_report(done: subprocess.CompletedProcess[str], page: Path) -> None:
    proven = "all 4 ranks are where the plan puts them: on 4 hosts"
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stderr.splitlines() if "topoloom: " in line]
    gained = r"\S+ -> \S+ \([+-]\S+ %\)"
    assert re.search(
        f"4 ranks placed with auto: hop-bytes {gained}; inter-node bytes", lines[0]
    )
    assert lines[1] == "topoloom: objective hop-bytes: the machine gives no bandwidths"
    assert lines[2] == f"topoloom: {proven}"
    assert lines[-2] == f"topoloom: see {page}"
    assert re.search("placement helps|launcher's order", lines[-1])  # the advice
    text = page.read_text()
    assert f"As the program started: {proven}" in text
    assert all(host in text for host in HOSTS.split(","))
    advice = lines[-1].removeprefix("topoloom: ")
    assert f'<p class="advice">{escape(advice)}</p>' in text


def test_lammps_is_recorded_placed_and_started_by_one_command(
    open_mpi: SeveralHosts, tmp_path: Path
) -> None:
    if open_mpi.mpi.version >= (5,):
        pytest.skip("Debian's LAMMPS is built for Open MPI 4")
    script, page = tmp_path / "in.melt", tmp_path / "page.html"
    script.write_text(MELT)
    lammps = need("lmp", "apt-get install lammps")
    words = [lammps, "-in", script, "-log", "none"]
    where = ["--machine", "mesh:4", "--hosts", HOSTS, "--report", page]
    done = run_with_placement(*where, "--", *make_host_command(open_mpi, *words))
    check_report(done, page)
    assert done.stdout.count("Loop time of") == 2  # a recorded run, then a placed run


def test_halo3d_is_recorded_placed_and_started_by_one_command(
    mpich: SeveralHosts, tmp_path: Path
) -> None:
    program, page, made = (tmp_path / name for name in ("halo3d", "x.html", "x.json"))
    compiler = mpich.mpi.mpicc.replace("mpicc", "mpicxx")
    subprocess.run([compiler, "-O1", "-w", HALO3D, "-o", program], check=True)
    words = [program, "--grid", "4x1x1", "--cells", 6, "--steps", 7]
    where = ["--machine", "mesh:4", "--hosts", HOSTS, "--report", page, "-o", made]
    done = run_with_placement(*where, "--", *make_host_command(mpich, *words))
    check_report(done, page)
    assert str(made) in page.read_text()
    assert load_placement(made).hosts == tuple(HOSTS.split(","))


def test_a_page_that_cannot_be_written_is_refused_before_anything_runs(
    tmp_path: Path,
) -> None:
    page, ran = tmp_path / "nowhere" / "page.html", tmp_path / "ran"
    command = ["mpirun", "-n", "1", "touch", ran]
    done = run_with_placement(
        "--machine", "mesh:4", "--hosts", HOSTS, "--report", page, "--", *command
    )
    assert done.returncode == 2
    assert f"there is no directory '{page.parent}'" in done.stderr
    assert not ran.exists()


def test_a_failed_page_keeps_the_exit_status(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    save_graph("ring.npz", ring(2, 1000))
    command = MPICH.command(2, "sh", "-c", "rm -rf pages; sleep 0.1; exit 3")
    Path("pages").mkdir()
    page = ["--report", "pages/page.html", "--graph", "ring.npz"]
    where = ["--machine", "mesh:1+node:2", "--hosts", socket.gethostname()]
    done = topoloom("run", *where, *page, "--", *command)
    assert done.returncode == 3
    assert "topoloom: no report: pages/page.html: there is no dir" in done.stderr


def test_a_job_too_large_for_a_page_is_refused_before_it_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    hosts = ["--machine", "mesh:400x300", "--hosts", "n[000001-120000]"]
    words = ["--report", "page.html", "--", *MPICH.command(2, "touch", "ran")]
    done = run_with_placement(*hosts, *words)
    assert done.returncode == 2
    assert "a page can show 100,000 nodes, not 120,000" in done.stderr
    assert not Path("ran").exists()


def test_one_file_cannot_be_both_page_and_placement(tmp_path: Path) -> None:
    both = ["--report", tmp_path / "x.html", "-o", tmp_path / "x.html"]
    done = run_with_placement(
        "--machine", "mesh:4", "--hosts", HOSTS, *both, "--", "mpirun", "true"
    )
    assert done.returncode == 2
    assert "-o and --report both write" in done.stderr


@pytest.mark.parametrize(("status", "answer"), [(3, 3), (0, 1)])
def test_a_program_that_cannot_be_recorded_keeps_its_exit_status(
    mpich: SeveralHosts, status: int, answer: int
) -> None:
    words = make_host_command(mpich, "sh", "-c", f"exit {status}")
    done = run_with_placement("--machine", "mesh:4", "--hosts", HOSTS, "--", *words)
    assert done.returncode == answer
    assert "nothing was recorded" in done.stderr
