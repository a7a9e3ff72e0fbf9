# SPDX-License-Identifier: BSD-3-Clause
"""A real Slurm on this machine alone: its daemons, with several virtual nodes.

It needs no network, no systemd and no root, but this machine's name must lead to an
address: that is where its daemons listen. Or each daemon runs on a host with a network
of its own. All that it writes is in one directory, and the daemons end with the process
that started them.
"""

from __future__ import annotations

import contextlib
import getpass
import os
import platform
import random
import re
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from network_hosts import HEAD, NetworkHosts

PROGRAMS = ("munged", "slurmctld", "slurmd", "salloc", "sbatch", "srun", "scontrol")
SECONDS = 600

# Beside a loopback interface alone, names are found only where IPv6 is allowed.
CONFIGURATION = """\
ClusterName=virtual
SlurmctldHost={host}({address})
SlurmctldPort={port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={home}/munge.socket
StateSaveLocation={home}/state
SlurmdSpoolDir={home}/spool-%n
SlurmctldPidFile={home}/slurmctld.pid
SlurmdPidFile={home}/slurmd-%n.pid
SlurmctldLogFile={home}/slurmctld.log
SlurmdLogFile={home}/slurmd-%n.log
CommunicationParameters=EnableIPv6,NoInAddrAny,NoCtldInAddrAny
SlurmctldTimeout=3
MessageTimeout=3
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=max_rpc_cnt=0,sched_min_interval=1000,bf_interval=1
TopologyPlugin={plugin}
ReturnToService=2
SlurmdParameters=config_overrides
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
{nodes}
PartitionName=all Nodes=ALL Default=YES MaxTime=5 State=UP
"""


@dataclass(frozen=True)
class RealSlurm:
    """A running Slurm; commands with its environment act as a user."""

    home: Path
    environment: Mapping[str, str]
    network: NetworkHosts | None = None

    def run(self, *words: object, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run a command outside of any job."""
        return subprocess.run(
            _on(self.network, HEAD, [str(word) for word in words]),
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS,
            stdin=subprocess.DEVNULL,
            env={**self.environment, **variables},
        )

    def in_job(self, options: str, script: str) -> str:
        """Run a shell script in an allocation, as after ``salloc OPTIONS``."""
        done = self.run("salloc", "-Q", *options.split(), "sh", "-ec", script)
        assert done.returncode == 0, done.stderr + done.stdout
        return done.stdout

    @contextlib.contextmanager
    def job(self, options: str) -> Iterator[str]:
        """Hold an allocation, in which nothing runs; yield its number."""
        done = self.run("salloc", "--no-shell", *options.split())
        granted = re.search(r"Granted job allocation (\d+)", done.stderr)
        assert granted, done.stderr
        try:
            yield granted[1]
        finally:
            self.run("scancel", granted[1])


@contextlib.contextmanager
def real_slurm(
    nodes: Mapping[str, str], topology: str, network: NetworkHosts | None = None
) -> Iterator[RealSlurm]:
    """Start a Slurm, and stop it at the end.

    Parameters
    ----------
    nodes
        Host lists, each with what is to be said of its nodes: ``Sockets=2`` and so on.
    topology
        A ``topology.conf`` for the tree plugin, or "" for none.
    network
        Hosts with the names of the nodes, to run the daemons on; else all run here.
    """
    with tempfile.TemporaryDirectory(prefix="slurm-") as folder:
        home = Path(folder)
        environment = _environment(home)
        names = _configure(home, nodes, topology, network)
        with contextlib.ExitStack() as stack:
            for host, command in _daemons(home, names):
                log = stack.enter_context((home / "daemons.log").open("a"))
                daemon = subprocess.Popen(
                    # They also end if this process is killed.
                    ["setpriv", "--pdeathsig", "TERM", *_on(network, host, command)],
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                )
                stack.callback(_end, daemon)
                if command[0] == "munged":
                    _await_file(home / "munge.socket")
            slurm = RealSlurm(home, environment, network)
            _await_nodes(slurm, len(names))
            stack.callback(_end_jobs, slurm)
            yield slurm


def _environment(home: Path) -> dict[str, str]:
    """Make the environment of a user outside of any job."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("SLURM", "SALLOC_", "SBATCH_", "FLUX_", "PBS_", "LSB_"))
    }
    path = f"{os.environ['PATH']}:/usr/sbin:/sbin"
    return {**kept, "PATH": path, "SLURM_CONF": str(home / "slurm.conf")}


def _on(network: NetworkHosts | None, host: str, words: list[str]) -> list[str]:
    return words if network is None else network.command_on(host, *words)


def _configure(
    home: Path,
    nodes: Mapping[str, str],
    topology: str,
    network: NetworkHosts | None,
) -> list[str]:
    """Write the configuration; return the names of the nodes."""
    from topoloom.support.hostlist import expand_hostlist

    names = {
        host: settings
        for key, settings in nodes.items()
        for host in expand_hostlist(key)
    }
    if network is None:
        host = platform.node()
        socket.gethostbyname(host)  # Slurm asks for it again and again, for minutes.
        addresses = dict.fromkeys([host, *names], "127.0.0.1")
    else:
        host, addresses = HEAD, network.addresses
    port, *ports = _free_ports(1 + len(names))
    lines = [
        f"NodeName={name} NodeHostName={name if network else host} "
        f"NodeAddr={addresses[name]} Port={own} {settings}"
        for own, (name, settings) in zip(ports, names.items(), strict=True)
    ]
    (home / "slurm.conf").write_text(
        CONFIGURATION.format(
            home=home,
            host=host,
            address=addresses[host],
            port=port,
            user=getpass.getuser(),
            plugin="topology/tree" if topology else "topology/none",
            nodes="\n".join(lines),
        )
    )
    if topology:
        (home / "topology.conf").write_text(topology)
    (home / "state").mkdir()
    key = home / "munge.key"
    key.write_bytes(os.urandom(128))
    key.chmod(0o600)
    return list(names)


def _daemons(home: Path, names: list[str]) -> Iterator[tuple[str, list[str]]]:
    """List what to start, and on which host."""
    files = {
        "socket": "munge.socket",
        "key-file": "munge.key",
        "seed-file": "munge.seed",
        "pid-file": "munge.pid",
        "log-file": "munge.log",
    }
    options = [f"--{option}={home / name}" for option, name in files.items()]
    # Its directory is not one of the system: that is what --force lets pass.
    yield HEAD, ["munged", "--foreground", "--force", *options]
    yield HEAD, ["slurmctld", "-D", "-c"]
    for name in names:
        yield name, ["slurmd", "-D", "-N", name]


def _free_ports(count: int) -> list[int]:
    """Choose free ports below the ephemeral range, which others may get."""
    given = Path("/proc/sys/net/ipv4/ip_local_port_range").read_text()
    lowest = int(given.split()[0])
    with contextlib.ExitStack() as stack:
        ports: list[int] = []
        while len(ports) < count:
            port = random.randrange(lowest // 2, lowest)
            tried = stack.enter_context(socket.socket())
            with contextlib.suppress(OSError):
                tried.bind(("127.0.0.1", port))
                ports.append(port)
        return ports


def _await_file(file: Path) -> None:
    deadline = time.monotonic() + SECONDS
    while not file.exists():
        assert time.monotonic() < deadline, _logs(file.parent)
        time.sleep(0.02)


def _await_nodes(slurm: RealSlurm, count: int) -> None:
    deadline = time.monotonic() + SECONDS / 2
    while slurm.run("sinfo", "-h", "-N", "-o", "%t").stdout.split() != ["idle"] * count:
        assert time.monotonic() < deadline, _logs(slurm.home)
        time.sleep(0.1)


def _end_jobs(slurm: RealSlurm) -> None:
    """Cancel all jobs and wait for them: tasks outlive the daemon that started them."""
    slurm.run("scancel", "--user", getpass.getuser())
    deadline = time.monotonic() + SECONDS
    while slurm.run("squeue", "-h").stdout.strip() and time.monotonic() < deadline:
        time.sleep(0.1)


def _end(daemon: subprocess.Popen[bytes]) -> None:
    daemon.terminate()
    try:
        daemon.wait(5)
    except subprocess.TimeoutExpired:
        daemon.kill()
        daemon.wait()


def _logs(home: Path) -> str:
    """Collect the last log lines of the daemons for an error message."""
    return "\n".join(
        f"{log.name}: {line}"
        for log in sorted(home.glob("*.log"))
        for line in log.read_text(errors="replace").splitlines()[-4:]
    )


def crossed_nodes(count: int) -> str:
    """Describe nodes n1, n2, ... in a line, whose slots 0 and 1 are CPUs 1 and 0."""
    return f"""format = "topoloom-machine"
version = 1
[topology]
kind = "mesh"
size = [{count}]
hosts = "n[1-{count}]"
[node]
levels = [2]
cpus = ["1", "0"]
"""
