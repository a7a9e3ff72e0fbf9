# SPDX-License-Identifier: BSD-3-Clause
"""Start a real Slurm on this machine with several virtual nodes.

No network, systemd or root is needed, but the name of this machine must resolve to an
address, on which the daemons listen. Alternatively each daemon runs on a host with its
own network. All files are in one directory. The daemons end when the process that
started them ends.
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
from types import MappingProxyType

from network_hosts import HEAD, NetworkHosts

PROGRAMS = ("munged", "slurmctld", "slurmd", "salloc", "sbatch", "srun", "scontrol")
SECONDS = 600

# With only a loopback interface, names resolve only if IPv6 is allowed.
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
TaskPlugin={task_plugin}
SlurmdDebug={level}
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
    """A running Slurm. Commands run with its environment use this Slurm."""

    home: Path
    environment: Mapping[str, str]
    network: NetworkHosts | None = None

    def run_command(
        self, *words: object, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        """Run a command with this Slurm, outside of any job."""
        return subprocess.run(
            _wrap_for_host(self.network, HEAD, [str(word) for word in words]),
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS,
            stdin=subprocess.DEVNULL,
            env={**self.environment, **variables},
        )

    def run_in_job(self, options: str, script: str) -> str:
        """Run a shell script in an allocation, as after ``salloc OPTIONS``."""
        done = self.run_command("salloc", "-Q", *options.split(), "sh", "-ec", script)
        assert done.returncode == 0, done.stderr + done.stdout
        return done.stdout

    @contextlib.contextmanager
    def hold_allocation(self, options: str) -> Iterator[str]:
        """Yield the number of an allocation in which nothing runs."""
        done = self.run_command("salloc", "--no-shell", *options.split())
        granted = re.search(r"Granted job allocation (\d+)", done.stderr)
        assert granted, done.stderr
        try:
            yield granted[1]
        finally:
            self.run_command("scancel", granted[1])


@contextlib.contextmanager
def start_slurm(
    nodes: Mapping[str, str],
    topology: str,
    network: NetworkHosts | None = None,
    *,
    binds_tasks: bool = False,
    variables: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
) -> Iterator[RealSlurm]:
    """Start a Slurm, and stop it at the end.

    Parameters
    ----------
    nodes
        Host list -> parameters of its nodes in slurm.conf, such as ``Sockets=2``.
    topology
        A ``topology.conf`` for the tree plugin, or "" for none.
    network
        Hosts that run the daemons, named like the nodes; None: this machine runs all.
    binds_tasks
        Whether Slurm binds tasks to CPUs, and its daemons log how.
    variables
        Node -> environment variables of its daemon.
    """
    with tempfile.TemporaryDirectory(prefix="slurm-") as folder:
        home = Path(folder)
        environment = _make_environment(home)
        names = _write_configuration(home, nodes, topology, network, binds_tasks)
        with contextlib.ExitStack() as stack:
            for host, command in _list_daemon_commands(home, names):
                log = stack.enter_context((home / "daemons.log").open("a"))
                daemon = subprocess.Popen(
                    # Daemons also end if this process is killed.
                    [
                        "setpriv",
                        "--pdeathsig",
                        "TERM",
                        *_wrap_for_host(network, host, command),
                    ],
                    env={**environment, **variables.get(command[-1], {})},
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                )
                stack.callback(_stop_daemon, daemon)
                if command[0] == "munged":
                    _wait_for_file(home / "munge.socket")
            slurm = RealSlurm(home, environment, network)
            _wait_for_nodes(slurm, len(names))
            stack.callback(_cancel_jobs, slurm)
            yield slurm


def _make_environment(home: Path) -> dict[str, str]:
    """Return the environment of a user outside of any job."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("SLURM", "SALLOC_", "SBATCH_", "FLUX_", "PBS_", "LSB_"))
    }
    path = f"{os.environ['PATH']}:/usr/sbin:/sbin"
    return {**kept, "PATH": path, "SLURM_CONF": str(home / "slurm.conf")}


def _wrap_for_host(
    network: NetworkHosts | None, host: str, words: list[str]
) -> list[str]:
    return words if network is None else network.command_on(host, *words)


def _write_configuration(
    home: Path,
    nodes: Mapping[str, str],
    topology: str,
    network: NetworkHosts | None,
    binds_tasks: bool,
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
        socket.gethostbyname(host)  # Slurm would retry the lookup for minutes.
        addresses = dict.fromkeys([host, *names], "127.0.0.1")
    else:
        host, addresses = HEAD, network.addresses
    port, *ports = _choose_free_ports(1 + len(names))
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
            task_plugin="task/affinity" if binds_tasks else "task/none",
            level="debug3" if binds_tasks else "info",
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


def _list_daemon_commands(
    home: Path, names: list[str]
) -> Iterator[tuple[str, list[str]]]:
    """List the daemon commands and their hosts."""
    files = {
        "socket": "munge.socket",
        "key-file": "munge.key",
        "seed-file": "munge.seed",
        "pid-file": "munge.pid",
        "log-file": "munge.log",
    }
    options = [f"--{option}={home / name}" for option, name in files.items()]
    # --force permits a directory outside the system directories.
    yield HEAD, ["munged", "--foreground", "--force", *options]
    yield HEAD, ["slurmctld", "-D", "-c"]
    for name in names:
        yield name, ["slurmd", "-D", "-N", name]


def _choose_free_ports(count: int) -> list[int]:
    """Choose free ports below the ephemeral port range."""
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


def _wait_for_file(file: Path) -> None:
    deadline = time.monotonic() + SECONDS
    while not file.exists():
        assert time.monotonic() < deadline, _read_log_ends(file.parent)
        time.sleep(0.02)


def _wait_for_nodes(slurm: RealSlurm, count: int) -> None:
    deadline = time.monotonic() + SECONDS / 2
    while (
        slurm.run_command("sinfo", "-h", "-N", "-o", "%t").stdout.split()
        != ["idle"] * count
    ):
        assert time.monotonic() < deadline, _read_log_ends(slurm.home)
        time.sleep(0.1)


def _cancel_jobs(slurm: RealSlurm) -> None:
    """Cancel all jobs and wait for them, because tasks outlive their daemon."""
    slurm.run_command("scancel", "--user", getpass.getuser())
    deadline = time.monotonic() + SECONDS
    while (
        slurm.run_command("squeue", "-h").stdout.strip() and time.monotonic() < deadline
    ):
        time.sleep(0.1)


def _stop_daemon(daemon: subprocess.Popen[bytes]) -> None:
    daemon.terminate()
    try:
        daemon.wait(5)
    except subprocess.TimeoutExpired:
        daemon.kill()
        daemon.wait()


def _read_log_ends(home: Path) -> str:
    """Return the last log lines of the daemons for an error message."""
    return "\n".join(
        f"{log.name}: {line}"
        for log in sorted(home.glob("*.log"))
        for line in log.read_text(errors="replace").splitlines()[-4:]
    )


def describe_crossed_nodes(count: int) -> str:
    """Describe a line of nodes n1, n2, ...; slot 0 is CPU 1, and slot 1 is CPU 0."""
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
