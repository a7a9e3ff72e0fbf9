# SPDX-License-Identifier: BSD-3-Clause
"""Starts a job that does nothing, to learn what would stop the real one."""

from __future__ import annotations

import logging
import os
import re
import socket
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path

from topoloom._core import Error
from topoloom.importers.system.node_lists import job_hosts
from topoloom.launch.apply.program import WITHOUT_A_WORD
from topoloom.launch.command_line import Option
from topoloom.launch.launcher import Launch
from topoloom.launch.launchers.registry import ReadCommand, read_command
from topoloom.support.child_processes import run_child
from topoloom.support.resources import core_library
from topoloom.support.this_host import is_this_host

# Does nothing, but not too fast: Open MPI 5.0 hangs when programs end before all of its
# daemons have reported that they started them.
EMPTY_PROGRAM = ("sleep", "1")

#: A Slurm step that does nothing shares CPUs with other steps. Otherwise it waits for
#: them, and the job's own step waits until Slurm has cleaned up: up to 64 s.
SHARING_CPUS = {"SLURM_OVERLAP": "1"}

#: Of Open MPI: files and daemons.
_NAMING = frozenset({"rf", "app", "dvm-uri", "hnp", "tune", "am"})
#: Batch systems take seconds to start a job.
_SECONDS_TO_TELL, _SECONDS_TO_END = 30, 900
_log = logging.getLogger(__name__)

_LOOK = (
    'for file do test -r "$file" || echo "topoloom: host $(uname -n) lacks $file" >&2; '
    f"done; exec {' '.join(EMPTY_PROGRAM)}"
)
#: Of Open MPI 4 and 5.
_NOT_ALLOCATED = re.compile(r"contained a node \(([^\s)]+)\) that is not in")
_LACKS = re.compile(r"topoloom: (host \S+) lacks (.+)")


def looking_for(files: Sequence[Path]) -> tuple[str, ...]:
    """Name a program that does nothing but look for files that are to be preloaded.

    Where one host lacks them its ranks run without, and the others wait for them.
    """
    return ("sh", "-c", _LOOK, "sh", *map(str, files)) if files else EMPTY_PROGRAM


def check_launch(launch: Launch) -> str | None:
    """Run a command that should do nothing; return what `looking_for` did not find.

    Only the launcher can find out that a host is unreachable or a core does not exist.

    Raises
    ------
    topoloom.Error
        If the command fails.
    """
    tried = _tried(launch)
    if tried.returncode != 0:
        raise Error(
            f"{launch.command[0]} refuses the placement, so nothing was started: "
            + (message(tried.stderr) or f"status {tried.returncode} {WITHOUT_A_WORD}")
            + _how_to_name_this_host(tried.stderr)
        )
    return _lacking(tried.stderr)


def check_hosts(command: Sequence[str], files: Sequence[Path]) -> None:
    """Raise `topoloom.Error` if a host of the command, run as it is, lacks a file.

    Only where its launcher is known, and may start ranks on other hosts. The command
    itself reports what else may go wrong.
    """
    try:
        read = read_command(command)
    except Error:
        return
    if _stays_here(read):
        return
    line = read.starting(looking_for(files)).line
    if lacking := _lacking(_tried(Launch(line.rebuilt((), ()))).stderr):
        raise Error(lacking)


def _stays_here(read: ReadCommand) -> bool:
    """Return whether all ranks are sure to start on this host."""
    if any("hostfile" in name.lower().replace("_", "") for name in os.environ):
        return False
    try:
        hosts = read.hosts() or job_hosts(os.environ)
    except (Error, OSError):
        return False
    if hosts:
        return all(map(is_this_host, hosts))
    options = [option for part in read.line.segments for option in part.options]
    return read.launcher.STARTS_HERE and not any(map(_may_name_hosts, options))


def _may_name_hosts(option: Option) -> bool:
    """Such as a rankfile, a file of options, or daemons that run already."""
    return "file" in option.text.lower() or option.name in _NAMING


def _how_to_name_this_host(text: str) -> str:
    """Open MPI 4 knows the host that it is on by its own name alone."""
    found = _NOT_ALLOCATED.search(text)
    if found is None or not is_this_host(found[1]) or found[1] == socket.gethostname():
        return ""
    return f" It knows {found[1]} as {socket.gethostname()}: give --hosts that name."


def _tried(launch: Launch) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **SHARING_CPUS, **launch.environment}
    told = threading.Timer(_SECONDS_TO_TELL, _tell_of_waiting, [launch.command[0]])
    told.start()
    try:
        return run_child(
            launch.command,
            environment=environment,
            stdout=subprocess.DEVNULL,
            timeout=_SECONDS_TO_END,
        )
    except subprocess.TimeoutExpired:
        raise Error(
            f"{launch.command[0]} has not ended a job that does nothing, after "
            f"{_SECONDS_TO_END} s; is a host out of reach?"
        ) from None
    finally:
        told.cancel()


def _tell_of_waiting(launcher: str) -> None:
    _log.warning(
        "topoloom: %s has not ended a job that does nothing, after %d s; is a host out "
        "of reach? Ctrl-C ends it",
        launcher,
        _SECONDS_TO_TELL,
    )


def _lacking(text: str) -> str | None:
    found = _LACKS.search(text)
    if found is None:
        return None
    host, file = found.groups()
    if file == str(core_library()):
        return f"{host} lacks {file}; install topoloom where all hosts see it"
    return f"{host} lacks {file}; let XDG_CACHE_HOME name a folder that all hosts see"


def message(text: str) -> str:
    """Take what is between the first two ruled lines of a launcher's message."""
    lines: list[str] = []
    for line in text.splitlines():
        words = line.strip()
        if words.strip("-*="):
            lines.append(words)
        elif words and lines:
            break
    return " ".join(lines)[:400]
