# SPDX-License-Identifier: BSD-3-Clause
"""MPICH's mpiexec (Hydra): `-rankmap` where it has it, else an ordered hostfile.

MPICH 4.0 has no ``-rankmap``; a hostfile in which hosts return places the ranks as
well, only that the parts of a host that returns do not share memory windows.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from topoloom.launch.command_line import CommandLine, Syntax, words
from topoloom.launch.exports import mpich_hostfile, mpich_rankmap
from topoloom.launch.exports.launch_formats import what_is_lost
from topoloom.launch.host_placement import HostPlacement
from topoloom.launch.launcher import (
    LONGEST_ARGUMENT,
    Forwarding,
    Launch,
    hosts_in_file,
    hosts_in_list,
    only_used_hosts,
    refuse,
)
from topoloom.support.files import write_text

NAME = "MPICH (Hydra)"
NODES_READ_FILES = False
STARTS_HERE = True
FORWARDING = Forwarding(
    "-genv", joined=False, each_part=False, names=frozenset({"genv", "env"})
)

FILES = frozenset({"f", "hostfile", "machinefile", "machine"})
LISTS = frozenset({"hosts", "host"})
PLACING = ("rankmap", "ppn", "perhost", "grr", "rr", "order-nodes", "configfile")

SYNTAX = Syntax(
    values={
        **dict.fromkeys(("genv", "env"), 2),
        **dict.fromkeys(("n", "np", "genvlist", "envlist", "wdir", *FILES, *LISTS), 1),
        **dict.fromkeys(("launcher", "launcher-exec", "bootstrap", "rmk"), 1),
        **dict.fromkeys(("bootstrap-exec", "topolib", "bind-to", "map-by"), 1),
        **dict.fromkeys(("membind", "demux", "errfile-pattern", "gpus-per-proc"), 1),
        **dict.fromkeys(("iface", "localhost", "nameserver", "outfile-pattern"), 1),
        **dict.fromkeys(("prepend-pattern", "usize", "memory-alloc-kinds"), 1),
        **dict.fromkeys(("timeout", "arch", "path", "soft"), 1),
        **dict.fromkeys(PLACING, 1),
    },
    flags=frozenset(
        words(
            "genvnone genvall envnone envall enable-x disable-x verbose v info profile "
            "print-all-exitcodes prepend-rank l disable-auto-cleanup "
            "disable-hostname-propagation hybrid-hosts pmi-port skip-launch-node "
            "enable-auto-cleanup"
        )
    ),
    ranks=frozenset({"n", "np"}),
)


def version(text: str) -> tuple[int, ...] | None:
    """Read ``HYDRA build details: Version: 4.0.2``."""
    match = re.search(r"HYDRA build details:\s+Version:\s+([0-9]+)\.([0-9]+)", text)
    return tuple(map(int, match.groups())) if match else None


def hosts(command: CommandLine) -> list[str] | None:
    """List the hosts of ``-f`` or ``-hosts``."""
    named = [hosts_in_file(option.values[0]) for option in command.find(FILES)]
    named += [hosts_in_list(option.values[0]) for option in command.find(LISTS)]
    return [host for names in named for host in names] or None


def apply(
    command: CommandLine,
    placement: HostPlacement,
    directory: Path,
    version: tuple[int, ...],
) -> Launch:
    """Place by ``-rankmap``, or by the order of the hosts in a file."""
    refuse(command, PLACING)
    if placement.bind is not None:
        refuse(command, {"bind-to"})
    used = only_used_hosts(placement)
    hosts_file = directory / "hostfile"
    extra = ["-f", str(hosts_file)]
    loss = what_is_lost(mpich_hostfile, used)
    rankmap = mpich_rankmap.write(used).strip()
    if len(rankmap) <= LONGEST_ARGUMENT and _has_rankmap(command.launcher):
        ranks_of_hosts = enumerate(used.ranks_of_hosts())
        lines = [
            mpich_hostfile.line(used, host, ranks) for host, ranks in ranks_of_hosts
        ]
        write_text(hosts_file, "".join(lines))
        extra += ["-rankmap", rankmap]
    else:
        write_text(hosts_file, mpich_hostfile.write(used))
    return Launch(
        command.rebuilt(FILES | LISTS, extra, placement.rank_count), loss=loss
    )


def _has_rankmap(launcher: str) -> bool:
    asked = subprocess.run(
        [launcher, "-help"], capture_output=True, text=True, check=False, timeout=60
    )
    return "-rankmap" in asked.stdout + asked.stderr
