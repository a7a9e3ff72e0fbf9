# SPDX-License-Identifier: BSD-3-Clause
"""MPICH's mpiexec (Hydra): `-rankmap` if available, else an ordered hostfile.

MPICH 4.0 has no ``-rankmap``. A hostfile that lists hosts repeatedly also places ranks,
but ranks of one host that belong to different entries cannot use shared memory windows.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from topoloom.launch.command_line import CommandLine, LauncherSyntax, split_names
from topoloom.launch.launcher import (
    LONGEST_ARGUMENT,
    EnvironmentOption,
    Launch,
    list_option_hosts,
    reject_options,
)
from topoloom.support.files import write_text

if TYPE_CHECKING:
    from topoloom.launch.host_placement import HostPlacement

NAME = "MPICH (Hydra)"
NEEDS_SHARED_FILES = False
IS_LOCAL_BY_DEFAULT = True
BINDING = frozenset({"bind-to"})
ENVIRONMENT_OPTION = EnvironmentOption(
    "-genv", is_joined=False, is_per_program=False, names=frozenset({"genv", "env"})
)

FILES = frozenset({"f", "hostfile", "machinefile", "machine"})
LISTS = frozenset({"hosts", "host"})
PLACING = ("rankmap", "ppn", "perhost", "grr", "rr", "order-nodes", "configfile")

SYNTAX = LauncherSyntax(
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
        split_names(
            "genvnone genvall envnone envall enable-x disable-x verbose v info profile "
            "print-all-exitcodes prepend-rank l disable-auto-cleanup "
            "disable-hostname-propagation hybrid-hosts pmi-port skip-launch-node "
            "enable-auto-cleanup"
        )
    ),
    ranks=frozenset({"n", "np"}),
)


def parse_version(text: str) -> tuple[int, ...] | None:
    """Parse ``HYDRA build details: Version: 4.0.2``."""
    match = re.search(r"HYDRA build details:\s+Version:\s+([0-9]+)\.([0-9]+)", text)
    return tuple(map(int, match.groups())) if match else None


def list_hosts(command: CommandLine) -> list[str] | None:
    """List the hosts in the options ``-f`` or ``-hosts``."""
    return list_option_hosts(command, FILES, LISTS)


def apply(
    command: CommandLine,
    placement: HostPlacement,
    directory: Path,
    version: tuple[int, ...],
) -> Launch:
    """Apply a placement with ``-rankmap``, or with an ordered hostfile."""
    from topoloom.launch.exports import mpich_hostfile, mpich_rankmap
    from topoloom.launch.hybrid_ranks import find_thread_settings

    reject_options(command, PLACING)
    if placement.bind is not None:
        reject_options(command, BINDING)
    used = placement.drop_unused_hosts()
    hosts_file = directory / "hostfile"
    extra = ["-f", str(hosts_file)]
    loss, cores = mpich_hostfile.FORMAT.find_loss(used), placement.cores_per_rank
    is_bound = placement.bind is not None
    rankmap = mpich_rankmap.write(used).strip()
    if len(rankmap) <= LONGEST_ARGUMENT and _has_rankmap(command.launcher):
        ranks_of_hosts = enumerate(used.ranks_of_hosts())
        lines = [
            mpich_hostfile.write_host(used, host, ranks)
            for host, ranks in ranks_of_hosts
        ]
        write_text(hosts_file, "".join(lines))
        extra += ["-rankmap", rankmap]
        if not is_bound:
            loss = mpich_rankmap.FORMAT.find_loss(used)
            if cores > 1 and not command.is_set(BINDING):
                extra += ["-bind-to", f"core:{cores}"]
                is_bound = True
    else:
        write_text(hosts_file, mpich_hostfile.write(used))
        if cores > 1 and not is_bound:
            loss = f"ranks are on their hosts, but not bound to their {cores} cores"
    variables = find_thread_settings(placement, is_bound, command)
    rebuilt = command.build(FILES | LISTS, extra, placement.rank_count)
    return Launch(rebuilt, variables, loss)


def _has_rankmap(launcher: str) -> bool:
    done = subprocess.run(
        [launcher, "-help"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        encoding="utf-8",
        errors="replace",
    )
    return "-rankmap" in done.stdout + done.stderr
