# SPDX-License-Identifier: BSD-3-Clause
"""The machine that this process is on: its node, or all nodes of its batch job."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess

from topoloom._core import Error
from topoloom.discover.described import Described
from topoloom.discover.hwloc import read_inside
from topoloom.discover.node_levels import Inside, levels_text, nodes_text
from topoloom.discover.node_lists import job_hosts
from topoloom.discover.system_cpus import read_system
from topoloom.hostlist import is_host

_SECONDS = 60


def detect_machine() -> Described:
    """Describe the job's nodes, all like this one and on one switch, or this node.

    Only cores that this process may use are slots.

    Raises
    ------
    topoloom.Error
        If the batch system's list of nodes cannot be read.
    """
    hosts = job_hosts(os.environ)
    if not hosts and is_host(platform.node()):
        hosts = (platform.node(),)
    levels = levels_text(_this_node())
    return Described(nodes_text(max(1, len(hosts)), levels), hosts)


def _this_node() -> Inside:
    cpus = os.sched_getaffinity(0)
    mask = sum(1 << cpu for cpu in cpus)
    inside = _from_lstopo()
    if inside is not None and (usable := inside.within(mask)).cores:
        return usable
    return read_system(cpus)


def _from_lstopo() -> Inside | None:
    """Ask hwloc; None where it is absent, too old or fails."""
    program = shutil.which("lstopo-no-graphics") or shutil.which("lstopo")
    if program is None:
        return None
    try:
        told = subprocess.run(
            [program, "--of", "xml", "--no-io"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=True,
        )
        return read_inside(told.stdout)[0]
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError, Error):
        return None
