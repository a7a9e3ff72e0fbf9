# SPDX-License-Identifier: BSD-3-Clause
"""Collects what the store records of a run before it starts."""

from __future__ import annotations

import hashlib
import os
import platform
from pathlib import Path
from time import time
from typing import TYPE_CHECKING, Any

import numpy as np

from topoloom._core import Error
from topoloom.launch.launchers.unplaced_command import UnplacedCommand
from topoloom.store.program_identity import (
    ProgramIdentity,
    Segment,
    identify_program,
)
from topoloom.store.run_files import STARTED
from topoloom.store.run_store import make_run_id
from topoloom.support.plain_text import is_number
from topoloom.tasks.runs.site_policy import find_partition

if TYPE_CHECKING:
    from topoloom.launch.launchers.launcher_commands import LauncherCommand
    from topoloom.tasks.launch_slots import LaunchSlots

#: Variables with the number of the batch job.
_JOBS = ("SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID", "PJM_JOBID")


def identify_job(
    read: LauncherCommand | UnplacedCommand, slots: LaunchSlots, name: str | None
) -> ProgramIdentity:
    """Identify the program of a command, by `name` if it is given.

    Raises `topoloom.Error` if a program is not readable on this host.
    """
    ranks = _count_ranks(read)
    on_nodes = _count_ranks_on_nodes(slots, ranks)
    return identify_program(
        _list_segments(read),
        ranks,
        slots.allocation.slot_count,
        max(on_nodes, default=None),
        name,
    )


def make_record(
    read: LauncherCommand | UnplacedCommand,
    slots: LaunchSlots,
    program: list[str],
    machine: str,
    identity: ProgramIdentity | None,
) -> dict[str, Any]:
    """Make the record of a run that is about to start; `machine` is as typed."""
    known = _find_known(read)
    launcher = None
    if known is not None:
        launcher = f"{known.launcher.NAME} {'.'.join(map(str, known.version))}"
    text = slots.allocation.machine.text
    ranks = _count_ranks(read)
    on_nodes = _count_ranks_on_nodes(slots, ranks)
    return {
        "id": make_run_id(),
        "state": STARTED,
        "kind": "launcher",
        "started": round(time(), 3),
        "host": os.uname().nodename,
        "process": os.getpid(),
        "user": _find_user(),
        "job": _find_job(),
        "partition": find_partition(),
        "directory": _find_directory(),
        "command": program,
        "program": identity.title if identity else _guess_title(read),
        "key": identity.key if identity else None,
        "like_key": identity.like_key if identity else None,
        "files": [list(file) for file in identity.files] if identity else [],
        "ranks": ranks,
        "nodes": len(on_nodes) or len(slots.allocation.nodes),
        "ranks_per_node": max(on_nodes, default=None),
        "threads": os.environ.get("OMP_NUM_THREADS"),
        "launcher": launcher,
        "machine": machine,
        "machine_sha256": hashlib.sha256(text.encode()).hexdigest(),
        "hosts": _list_hosts(slots),
        "versions": _list_versions(),
    }


def _find_known(read: LauncherCommand | UnplacedCommand) -> LauncherCommand | None:
    """Return the command of a known launcher; None if the launcher is unknown."""
    return read.known if isinstance(read, UnplacedCommand) else read


def _list_segments(read: LauncherCommand | UnplacedCommand) -> list[Segment]:
    known = _find_known(read)
    if known is None:
        assert isinstance(read, UnplacedCommand)
        return [Segment("", read.command)]
    counted = known.line.syntax.ranks
    segments = []
    for part in known.line.segments:
        ranks = [each.values[0] for each in part.options if each.name in counted]
        segments.append(Segment(ranks[-1] if ranks else "", part.program))
    return segments


def _count_ranks(read: LauncherCommand | UnplacedCommand) -> int | None:
    """Return the number of ranks of a command, or of the Slurm job that it fills."""
    ranks = read.rank_count()
    if ranks is None and is_number(os.environ.get("SLURM_NTASKS", "")):
        known = _find_known(read)
        if known is not None and known.launcher.NAME == "Slurm":
            return int(os.environ["SLURM_NTASKS"])
    return ranks


def _count_ranks_on_nodes(slots: LaunchSlots, ranks: int | None) -> list[int]:
    """Count the ranks on each used node in launcher order; [] if they are unknown."""
    if ranks is None or ranks > slots.allocation.slot_count:
        return []
    used = slots.select_used(ranks).allocation
    nodes = np.asarray(used.slots[:ranks]) // used.machine.slots_per_node
    counts: list[int] = np.unique(nodes, return_counts=True)[1].tolist()
    return counts


def _guess_title(read: LauncherCommand | UnplacedCommand) -> str:
    return Path(_list_segments(read)[-1].words[0]).name


def _list_hosts(slots: LaunchSlots) -> str | None:
    from topoloom.support.hostlist import compress_hostlist

    hosts = slots.allocated.hosts
    if hosts is None:
        return None
    try:
        return compress_hostlist(dict.fromkeys(hosts))
    except Error:  # Some host is not a valid name.
        return ",".join(dict.fromkeys(hosts))


def _find_directory() -> str:
    try:
        return str(Path.cwd())
    except OSError:  # It was deleted.
        return ""


def _find_user() -> str:
    import pwd

    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return str(os.geteuid())


def _find_job() -> str | None:
    return next(filter(None, (os.environ.get(name) for name in _JOBS)), None)


def _list_versions() -> dict[str, str]:
    from topoloom.support.version import __version__

    return {"topoloom": __version__, "python": platform.python_version()}
