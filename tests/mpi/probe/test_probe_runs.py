# SPDX-License-Identifier: BSD-3-Clause
"""Probes of real ranks under each MPI: interrupted, killed, resumed, rejected."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from network_hosts import HEAD, OVER_TCP, can_have_networks, network_hosts
from own_process import TOPOLOOM
from platforms import format_tree, write_launcher
from several_hosts import SECONDS, Mpi, can_name_hosts, find_installed_mpis

from topoloom import load_machine
from topoloom.machines.machine_file import load_machine_and_allocation
from topoloom.probe.job.samples import load_samples

if TYPE_CHECKING:
    from tests.conftest import Command

MPIS = find_installed_mpis()


def mpirun(mpi: Mpi, ranks: int) -> list[str]:
    return [mpi.mpirun, "-n", str(ranks)]


def test_ranks_of_a_real_host_are_measured(mpi: Mpi, topoloom: Command) -> None:
    options = ["--quick", "--time", "20s", "--mpicc", mpi.mpicc]
    done = topoloom(
        "machine", "probe", *options, "-o", "m.toml", "--json", "--", *mpirun(mpi, 2)
    )
    assert done.status == 0, done.err
    assert done.json["ranks"] == 2
    assert 0 < done.json["models"][0]["short_seconds"] < 1
    assert load_machine("m.toml").slots_per_node == 2
    samples = load_samples(Path("m.npz"))
    assert samples.count >= done.json["sample_count"] > 0
    answers = {(e.order, e.first, e.second, *e.seconds) for e in samples.exchanges}
    assert len(answers) == len(samples.exchanges)  # none is read twice
    assert len(np.load("m.npz")["costs"]) == 2


def test_one_rank_is_refused(mpi: Mpi, topoloom: Command) -> None:
    done = topoloom(
        *("machine", "probe", "-o", "m.toml", "--mpicc", mpi.mpicc, "--"),
        *mpirun(mpi, 1),
    )
    assert (done.status, done.out) == (2, "")
    assert done.err == (
        "topoloom: a single rank has no partner; start two or more ranks\n"
    )
    assert not Path("m.toml").exists()


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["-o", "m.json", "--", "mpirun"], "m.json: measured machines are "
         "written as .toml"),
        (["--", "mpirun"], "no output file is given; add -o, such as "
         "-o m.toml"),
        (["-o", "m.toml", "--", "/no/such"], "cannot run '/no/such': there is no such "
         "program"),
        (["-o", "m.toml", "--quick", "--thorough", "--", "mpirun"], "--quick and "
         "--thorough are mutually exclusive; leave one out"),
        (["-o", "m.toml", "--resume", "--", "mpirun"], "m.npz: No such file or "
         "directory"),
    ],
)  # fmt: skip
def test_invalid_options_of_probe_are_reported(
    topoloom: Command, words: list[str], problem: str
) -> None:
    done = topoloom("machine", "probe", *words)
    assert (done.status, done.out) == (2, "")
    assert done.err == f"topoloom: {problem}\n"


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (
            ["none.toml"],
            "none.toml: there is no such file; name the file of an earlier probe, "
            "before -- LAUNCHER",
        ),
        (
            ["m.toml", "-a", "h[0-3]"],
            "the launcher decides which hosts are measured; leave -a out",
        ),
    ],
)
def test_invalid_options_of_check_are_reported(
    topoloom: Command, words: list[str], problem: str
) -> None:
    done = topoloom("machine", "check", *words, "--", "mpirun")
    assert (done.status, done.out) == (2, "")
    assert done.err == f"topoloom: {problem}\n"


def test_a_command_that_starts_another_program_is_reported(topoloom: Command) -> None:
    done = topoloom("machine", "probe", "-o", "m.toml", "--", "true")
    assert (done.status, done.out) == (1, "")
    assert done.err == (
        "topoloom: 'true' ended with status 0: it did not start the measurement; "
        "give only the launcher after --\n"
    )
    assert not Path("m.toml").exists()


def test_a_time_limit_of_0_is_refused(topoloom: Command) -> None:
    done = topoloom("machine", "probe", "--time", "0", "-o", "m.toml", "--", "mpirun")
    assert done.err == (
        "topoloom: --time 0 leaves no time to measure; set a longer time, such as "
        "--time 30s\n"
    )


@pytest.mark.parametrize("broken", [b"", b"PK\x03\x04", b"\x93NUMPY\x01\x00"])
def test_damaged_samples_are_refused(
    topoloom: Command, tmp_path: Path, broken: bytes
) -> None:
    (tmp_path / "m.npz").write_bytes(broken)
    done = topoloom(
        "machine", "probe", "--resume", "-o", tmp_path / "m.toml", "--", "mpirun"
    )
    assert done.status == 2
    assert f"{tmp_path / 'm.npz'}: not complete samples of a probe" in done.err


def test_a_check_needs_a_probed_machine(topoloom: Command, tmp_path: Path) -> None:
    topoloom("machine", "export", "torus:4x4", "-o", "torus.toml")
    words = write_launcher(tmp_path, format_tree([4]), ["h0", "h1"])
    done = topoloom("machine", "check", "torus.toml", "--", *words)
    assert done.status == 2
    assert "torus.toml: [probe] is missing" in done.err


def start_topoloom(words: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*TOPOLOOM, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def wait_for_results() -> Path:
    """Wait until a probe has samples; return the folder of its job."""
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        for results in Path.cwd().glob(".topoloom-probe-*/results"):
            if results.stat().st_size > 10_000:
                return results.parent
        time.sleep(0.02)
    pytest.fail("nothing was measured")


@pytest.fixture
def slow_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the launcher of a machine that takes long to measure."""
    monkeypatch.chdir(tmp_path)
    return write_launcher(
        tmp_path, format_tree([12, 12]), [f"h{host}" for host in range(24)]
    )


def test_an_interrupted_probe_can_be_resumed(
    slow_machine: list[str], topoloom: Command
) -> None:
    running = start_topoloom(
        ["machine", "probe", "--thorough", "-o", "m.toml", "--", *slow_machine]
    )
    wait_for_results()
    running.send_signal(signal.SIGINT)
    _, message = running.communicate(timeout=SECONDS)
    assert running.returncode == 130, message
    assert message.splitlines()[-1] == (
        "topoloom: interrupted; m.toml has what was measured before"
    )
    assert load_machine("m.toml").node_count == 24
    before = load_samples(Path("m.npz"))
    done = topoloom("machine", "probe", "--resume", "-o", "m.toml", "--", *slow_machine)
    assert done.status == 0, done.err
    after = load_samples(Path("m.npz"))
    again = {e.seconds.tobytes() for e in after.exchanges}
    assert all(e.seconds.tobytes() in again for e in before.exchanges)


def test_a_termination_by_the_batch_system_keeps_the_measured_samples(
    slow_machine: list[str],
) -> None:
    running = start_topoloom(
        ["machine", "probe", "--thorough", "-o", "m.toml", "--", *slow_machine]
    )
    wait_for_results()
    running.send_signal(signal.SIGTERM)
    _, message = running.communicate(timeout=SECONDS)
    assert running.returncode == 128 + signal.SIGTERM, message
    assert message.endswith(
        "topoloom: terminated; m.toml has what was measured before\n"
    )
    assert load_samples(Path("m.npz")).count > 0
    assert not list(Path.cwd().glob(".topoloom-probe-*"))


def test_a_killed_job_keeps_its_measured_samples(slow_machine: list[str]) -> None:
    running = start_topoloom(
        ["machine", "probe", "--thorough", "-o", "m.toml", "--", *slow_machine]
    )
    folder = wait_for_results()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
        except OSError:  # the process has ended
            continue
        if str(folder).encode() in words and b"smpimain" in words[0]:
            os.kill(int(process.name), signal.SIGKILL)
    _, message = running.communicate(timeout=SECONDS)
    assert running.returncode == 1, message
    assert "ended with status" in message
    assert message.endswith("; m.toml has what was measured before\n")
    assert load_machine("m.toml").node_count == 24


@pytest.mark.parametrize(
    ("filled", "message"),
    [
        (4096, "rank 0 cannot write '.*/ranks': No space left on device"),
        (0, "m.npz: No space left on device; the measurements are in (.*) and beside"),
    ],
)
def test_a_full_disk_is_reported_at_once(
    tmp_path: Path, filled: int, message: str
) -> None:
    """Earlier samples are saved to a folder with free space."""
    if not can_name_hosts():
        pytest.skip("a small disk needs root or unprivileged user namespaces")
    words = write_launcher(
        tmp_path, format_tree([8]), [f"h{host}" for host in range(8)]
    )
    small = tmp_path / "small"
    small.mkdir()
    pages = 4096 if filled else 3 * 4096
    fill = (
        f"mount -t tmpfs -o size={pages},nr_inodes=100 none {small} && cd {small} && "
    )
    fill += f'head -c {filled} /dev/zero > filler && exec "$@"'
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    done = subprocess.run(
        [
            *("unshare", *user, "--mount", "sh", "-c", fill, "sh"),
            *(*TOPOLOOM, "machine", "probe", "--quick", "-o", "m.toml", "--", *words),
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )
    assert done.returncode != 0
    found = re.search(message, done.stderr)
    assert found is not None, done.stderr
    for kept in map(Path, found.groups()):
        assert load_samples(kept.with_suffix(".npz")).count > 0
        shutil.rmtree(kept.parent)


def test_hosts_are_measured_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Messages cross a real network; other tests simulate slow cables."""
    mpi = MPIS[-1]
    monkeypatch.chdir(tmp_path)
    if not can_have_networks():
        pytest.skip("network namespaces need root or unprivileged user namespaces")
    names = ["alpha", "beta"]
    with network_hosts(names, tmp_path) as network:
        if mpi.is_hydra:
            start_ = ["-launcher", "ssh", "-launcher-exec", str(network.agent)]
            hosts = ["-hosts", ",".join(names), "-ppn", "1"]
        else:
            scope, agent = ("prtemca", "ssh") if mpi.version >= (5,) else ("mca", "rsh")
            start_ = [f"--{scope}", f"plm_{agent}_agent", str(network.agent)]
            hosts = ["--host", ",".join(names)]
        words = [
            *(*TOPOLOOM, "machine", "probe", "--quick", "--time", "5s", "-o", "m.toml"),
            *("--mpicc", mpi.mpicc, "--", mpi.mpirun, *start_, *hosts),
            *("-n", str(len(names))),
        ]
        done = subprocess.run(
            network.command_on(HEAD, *words),
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS,
            env={**os.environ, **OVER_TCP},
        )
    assert done.returncode == 0, done.stderr
    samples = load_samples(Path("m.npz"))
    assert sorted(place.host for place in samples.places) == sorted(names)
    assert samples.count > 0
    assert sorted(load_machine_and_allocation("m.toml").hosts or ()) == sorted(names)
