# SPDX-License-Identifier: BSD-3-Clause
"""Trial runs: start a no-op job to detect errors before the real job."""

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
from topoloom.launch.command_line import Option
from topoloom.launch.launcher import NO_MESSAGE, Launch
from topoloom.launch.launchers.launcher_commands import LauncherCommand, read_command
from topoloom.support.child_processes import run_child
from topoloom.support.resources import core_library

# Not too fast: Open MPI 5.0 hangs when programs end before all of its daemons have
# reported that they started them.
NOOP_PROGRAM = ("sleep", "1")

#: Lets a Slurm step share CPUs with other steps. Otherwise it waits for them, and the
#: job's own step waits until Slurm has cleaned up: up to 64 s.
SHARED_CPUS = {"SLURM_OVERLAP": "1"}

#: Options of Open MPI for files and daemons that may name hosts.
_HOST_OPTIONS = frozenset({"rf", "app", "dvm-uri", "hnp", "tune", "am"})
#: Batch systems take seconds to start a job.
_SECONDS_TO_WARNING, _TIMEOUT_SECONDS = 30, 900
_log = logging.getLogger(__name__)

_FILE_CHECK = (
    'for file do test -r "$file" || echo "topoloom: host $(uname -n) lacks $file" >&2; '
    f"done; exec {' '.join(NOOP_PROGRAM)}"
)
#: An error of Open MPI 4 and 5.
_NOT_ALLOCATED = re.compile(r"contained a node \(([^\s)]+)\) that is not in")
_MISSING = re.compile(r"topoloom: (host \S+) lacks (.+)")


def trial_program(files: Sequence[Path]) -> tuple[str, ...]:
    """Return a no-op program that checks whether `files`, to be preloaded, are there.

    Ranks on a host without them would run without them, and the others would hang.
    """
    return ("sh", "-c", _FILE_CHECK, "sh", *map(str, files)) if files else NOOP_PROGRAM


def check_launch(launch: Launch) -> str | None:
    """Run a `trial_program`; describe the file that it did not find, if any.

    Only the launcher can find out that a host is unreachable or a core does not exist.

    Raises
    ------
    topoloom.Error
        If the command fails.
    """
    done = _run_trial(launch)
    if done.returncode != 0:
        raise Error(
            f"{launch.command[0]} refuses the placement, so nothing was started: "
            + (extract_message(done.stderr) or f"status {done.returncode} {NO_MESSAGE}")
            + _host_name_hint(done.stderr)
        )
    return _missing_file(done.stderr)


def check_hosts(command: Sequence[str], files: Sequence[Path]) -> None:
    """Raise `topoloom.Error` if a host of the unchanged command lacks a file.

    Checks only known launchers that may start ranks on other hosts. The command itself
    reports other failures.
    """
    try:
        read = read_command(command)
    except Error:
        return
    if _is_local(read):
        return
    line = read.with_program(trial_program(files)).line
    if missing := _missing_file(_run_trial(Launch(line.build((), ()))).stderr):
        raise Error(missing)


def _is_local(command: LauncherCommand) -> bool:
    """Return whether all ranks are sure to start on this host."""
    from topoloom.importers.system.node_lists import job_hosts

    if any("hostfile" in name.lower().replace("_", "") for name in os.environ):
        return False
    try:
        hosts = command.list_hosts() or job_hosts(os.environ)
    except (Error, OSError):
        return False
    if hosts:
        from topoloom.support.this_host import is_this_host

        return all(map(is_this_host, hosts))
    options = [option for part in command.line.segments for option in part.options]
    local = command.launcher.IS_LOCAL_BY_DEFAULT
    return local and not any(map(_may_name_hosts, options))


def _may_name_hosts(option: Option) -> bool:
    """Return whether it is a rankfile, a file of options, or a running daemon."""
    return "file" in option.text.lower() or option.name in _HOST_OPTIONS


def _host_name_hint(text: str) -> str:
    """Suggest the only name by which Open MPI 4 knows this host."""
    from topoloom.support.this_host import is_this_host

    found = _NOT_ALLOCATED.search(text)
    if found is None or not is_this_host(found[1]) or found[1] == socket.gethostname():
        return ""
    return f" It knows {found[1]} as {socket.gethostname()}: give --hosts that name."


def _run_trial(launch: Launch) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **SHARED_CPUS, **launch.environment}
    warning = threading.Timer(_SECONDS_TO_WARNING, _warn, [launch.command[0]])
    warning.start()
    try:
        return run_child(
            launch.command,
            environment=environment,
            stdout=subprocess.DEVNULL,
            timeout=_TIMEOUT_SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise Error(
            f"{launch.command[0]} has not ended a job that does nothing, after "
            f"{_TIMEOUT_SECONDS} s; is a host out of reach?"
        ) from None
    finally:
        warning.cancel()


def _warn(launcher: str) -> None:
    _log.warning(
        "topoloom: %s has not ended a job that does nothing, after %d s; is a host out "
        "of reach? Ctrl-C ends it",
        launcher,
        _SECONDS_TO_WARNING,
    )


def _missing_file(text: str) -> str | None:
    found = _MISSING.search(text)
    if found is None:
        return None
    host, file = found.groups()
    if file == str(core_library()):
        return f"{host} lacks {file}; install topoloom where all hosts see it"
    return f"{host} lacks {file}; let XDG_CACHE_HOME name a folder that all hosts see"


def extract_message(text: str) -> str:
    """Return the text between the first two ruled lines of a launcher's message."""
    lines: list[str] = []
    for line in text.splitlines():
        words = line.strip()
        if words.strip("-*="):
            lines.append(words)
        elif words and lines:
            break
    return " ".join(lines)[:400]
