# SPDX-License-Identifier: BSD-3-Clause
"""Launchers place ranks on hosts with separate networks; ranks exchange messages."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from built_programs import NAP_SOURCE, compile_program
from network_hosts import (
    HEAD,
    OVER_TCP,
    NetworkHosts,
    can_have_networks,
    count_messages_into_hosts,
    network_hosts,
)
from own_process import TOPOLOOM, wait_for_end
from several_hosts import PROGRAMS, SECONDS, Mpi

from topoloom import load_placement, save_graph
from topoloom.graphs import ring

HOSTS = ("alpha", "beta", "gamma")
BYTES = 300_000
CORES = ["--machine", "mesh:3+node:2", "--hosts", ",".join(HOSTS)]


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NetworkHosts]:
    """Set up three hosts on a switch."""
    if not can_have_networks():
        pytest.skip("network namespaces need root or unprivileged user namespaces")
    with network_hosts(HOSTS, tmp_path_factory.mktemp("network")) as hosts:
        yield hosts


def mpirun(mpi: Mpi, network: NetworkHosts) -> list[str]:
    """Build a launcher command that starts its daemons on these hosts."""
    if mpi.is_hydra:
        return [mpi.mpirun, "-launcher", "ssh", "-launcher-exec", str(network.agent)]
    scope, agent = ("prtemca", "ssh") if mpi.version >= (5,) else ("mca", "rsh")
    return [mpi.mpirun, f"--{scope}", f"plm_{agent}_agent", str(network.agent)]


def run_on_head(
    network: NetworkHosts, words: list[str]
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        network.command_on(HEAD, *words),
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
        stdin=subprocess.DEVNULL,
        env={**os.environ, **OVER_TCP},
    )


def read_expected_slots(placement: str) -> list[tuple[str, int]]:
    """Return the expected host and core of each rank."""
    placed = load_placement(placement)
    assert placed.hosts is not None
    slots = placed.placement.slots.tolist()
    return [(placed.hosts[slot // 2], slot % 2) for slot in slots]


def test_ranks_arrive_on_their_hosts_and_talk_over_the_network(
    mpi: Mpi,
    network: NetworkHosts,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    save_graph("ring5.npz", ring(5, 1000))
    source = PROGRAMS / "across.c"
    across = compile_program("across", [mpi.mpicc, "-w", source, NAP_SOURCE])
    placing = [*CORES, "--mapper", "random", "--seed", "2", "-o", "x.json"]
    command = [*mpirun(mpi, network), "-n", "5", str(across), str(BYTES)]
    before = {host: network.count_received_bytes(host) for host in HOSTS}
    words = ["run", *placing, "--graph", "ring5.npz", "--", *command]
    done = run_on_head(network, [*TOPOLOOM, *words])
    assert done.returncode == 0, done.stderr

    rows = [line.split() for line in done.stdout.splitlines()]
    assert sorted(int(row[0]) for row in rows) == list(range(5))
    rows.sort(key=lambda row: int(row[0]))
    located = read_expected_slots("x.json")
    hosts = [host for host, _ in located]
    assert [(host, at) for _, host, at, *_ in rows] == [
        (host, network.addresses[host]) for host in hosts
    ]
    if not mpi.is_hydra:  # MPICH binds only on request.
        assert [[int(core) for core in row[3:]] for row in rows] == [
            [core] for _, core in located
        ]
    for host, messages in count_messages_into_hosts(hosts).items():
        assert network.count_received_bytes(host) - before[host] >= messages * BYTES


def test_a_killed_test_leaves_nothing_behind(tmp_path: Path) -> None:
    if not can_have_networks():
        pytest.skip("network namespaces need root or unprivileged user namespaces")
    script = (
        "import sys, time; from pathlib import Path\n"
        f"sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "from network_hosts import network_hosts\n"
        f"with network_hosts(['one', 'two'], Path({str(tmp_path)!r})) as network:\n"
        "    print(*network.pids.values(), flush=True); time.sleep(600)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        hosts = [os.pidfd_open(int(pid)) for pid in child.stdout.readline().split()]
        assert len(hosts) == 3
        child.send_signal(signal.SIGKILL)
        for host in hosts:
            wait_for_end(host)
