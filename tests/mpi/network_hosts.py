# SPDX-License-Identifier: BSD-3-Clause
"""Several hosts on one machine with separate networks, for real messages.

A host is a process in a network namespace and a UTS namespace, with its own name,
address and loopback. A cable (a veth pair) connects it to a switch (a bridge).
Processes on a host find other hosts by their names in /etc/hosts. The processes, and
with them the namespaces, end when the pipe from this process closes, even if it is
killed.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

#: The switch is also a host, on which commands start.
HEAD = "head"
_NETWORK = "10.213.7"

#: Settings that make MPI use the cables instead of shared memory.
OVER_TCP = {
    "OMPI_MCA_pml": "ob1",
    "OMPI_MCA_btl": "tcp,self",
    "UCX_TLS": "tcp,self",
    "FI_PROVIDER": "tcp",
}

# The temporary directory: see several_hosts.
_AGENT = """\
#!/bin/sh
while [ "${{1#-}}" != "$1" ]; do shift; done
host=$1; shift
TMPDIR=$(mktemp -d) && export TMPDIR
exec nsenter --mount --net --uts --target "$(cat {folder}/$host.pid)" sh -c "$*"
"""


@dataclass(frozen=True)
class NetworkHosts:
    """A switch and its hosts.

    Attributes
    ----------
    agent
        Program that starts a command on a host, like ssh: ``agent HOST COMMAND``.
    addresses
        The address of each host, and of the switch.
    pids
        The process of each host.
    """

    agent: Path
    addresses: dict[str, str]
    pids: dict[str, int]

    def command_on(self, host: str, *words: object) -> list[str]:
        """Build a command that runs on a host, in this directory."""
        user = [] if os.geteuid() == 0 else ["--user", "--preserve-credentials"]
        enter = ["nsenter", *user, "--mount", "--net", "--uts", f"--wdns={Path.cwd()}"]
        return [*enter, "--target", str(self.pids[host]), *map(str, words)]

    def count_received_bytes(self, host: str) -> int:
        """Return how many bytes a host has received over its cable."""
        words = self.command_on(host, "cat", "/proc/net/dev")
        table = subprocess.run(words, capture_output=True, text=True, check=True).stdout
        (cable,) = (line for line in table.splitlines() if "eth0:" in line)
        return int(cable.partition(":")[2].split()[0])


@contextlib.contextmanager
def network_hosts(names: Sequence[str], folder: Path) -> Iterator[NetworkHosts]:
    """Set up hosts with these names; their files are in `folder`."""
    numbered = enumerate([*names, HEAD], 1)
    addresses = {name: f"{_NETWORK}.{number}" for number, name in numbered}
    known = "".join(f"{at} {name}\n" for name, at in addresses.items())
    (folder / "hosts").write_text("127.0.0.1 localhost\n" + known)
    agent = folder / "agent"
    agent.write_text(_AGENT.format(folder=folder))
    agent.chmod(0o755)
    network = NetworkHosts(agent, addresses, {})
    with contextlib.ExitStack() as stack:

        def start(name: str, unshare: list[str], script: str) -> None:
            network.pids[name] = stack.enter_context(_start_host(unshare, script))
            (folder / f"{name}.pid").write_text(str(network.pids[name]))

        start(
            HEAD,
            [*_make_unshare_command(), "--mount"],
            f"mount --bind {folder}/hosts /etc/hosts; hostname {HEAD}; "
            "ip link set lo up; ip link add name switch type bridge; "
            f"ip addr add {addresses[HEAD]}/24 dev switch; ip link set switch up",
        )
        for name in names:
            unshare = network.command_on(HEAD, "unshare", "--net", "--uts")
            start(name, unshare, f"hostname {name}; ip link set lo up")
            cable = (
                f"ip link add name to-{name} type veth peer name eth0 "
                f"netns {network.pids[name]}; ip link set to-{name} master switch up"
            )
            plug = f"ip addr add {addresses[name]}/24 dev eth0; ip link set eth0 up"
            for host, script in ((HEAD, cable), (name, plug)):
                subprocess.run(
                    network.command_on(host, "sh", "-ec", script), check=True
                )
        yield network


def can_have_networks() -> bool:
    """Return whether this user can create network namespaces."""
    words = [
        *_make_unshare_command(),
        "--mount",
        "ip",
        "link",
        "add",
        "name",
        "b",
        "type",
        "bridge",
    ]
    return subprocess.run(words, check=False, capture_output=True).returncode == 0


def count_messages_into_hosts(hosts: Sequence[str]) -> Counter[str]:
    """Count the messages into each host if rank r sends to rank r + 1."""
    pairs = zip(hosts, [hosts[-1], *hosts[:-1]], strict=True)
    return Counter(here for here, there in pairs if here != there)


@contextlib.contextmanager
def _start_host(unshare: list[str], script: str) -> Iterator[int]:
    """Start a process in new namespaces; it ends when its standard input closes."""
    host = subprocess.Popen(
        [*unshare, "sh", "-ec", f"{script}; echo up; exec cat >/dev/null"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with host:  # on exit, closes standard input and waits for the process
        assert host.stdout is not None
        assert host.stdout.readline() == "up\n", f"no host came of: {script}"
        yield host.pid


def _make_unshare_command() -> list[str]:
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    return ["unshare", *user, "--net", "--uts"]
