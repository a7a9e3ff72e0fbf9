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
from topoloom.launch.apply.launcher_failure import describe_failure, find_ssh_error
from topoloom.launch.command_line import Option
from topoloom.launch.launcher import NO_MESSAGE, Launch
from topoloom.launch.launchers.launcher_commands import LauncherCommand, read_command
from topoloom.support.child_processes import run_child
from topoloom.support.resources import get_core_library_path

# The program sleeps, because Open MPI 5.0 hangs if programs end before all its daemons
# have reported that their programs started.
NOOP_PROGRAM = ("sleep", "1")

#: Lets a Slurm step share CPUs with other steps. Otherwise the trial waits for other
#: steps, and the job's own step waits up to 64 s until Slurm has cleaned up.
SHARED_CPUS = {"SLURM_OVERLAP": "1"}

#: Open MPI options that name files or daemons, from which hosts may come.
_HOST_OPTIONS = frozenset({"rf", "app", "dvm-uri", "hnp", "tune", "am"})
#: Long timeouts, because batch systems need seconds to start a job.
_SECONDS_TO_WARNING, _TIMEOUT_SECONDS = 30, 900
_log = logging.getLogger(__name__)

_FILE_CHECK = (
    'for file do test -r "$file" || echo "topoloom: host $(uname -n) lacks $file" >&2; '
    f"done; exec {' '.join(NOOP_PROGRAM)}"
)
#: An error message of Open MPI 4 and 5.
_NOT_ALLOCATED = re.compile(r"contained a node \(([^\s)]+)\) that is not in")
_MISSING = re.compile(r"topoloom: (host \S+) lacks (.+)")


def make_trial_program(files: Sequence[Path]) -> tuple[str, ...]:
    """Return a no-op program that checks that the files to preload exist.

    Without the files on a host, its ranks would run without them, and other ranks would
    hang.
    """
    return ("sh", "-c", _FILE_CHECK, "sh", *map(str, files)) if files else NOOP_PROGRAM


def run_trial_program(launch: Launch) -> str | None:
    """Run a trial program with the placement; describe the missing file, if any.

    Only the launcher can detect an unreachable host or a core that does not exist.

    Raises
    ------
    topoloom.Error
        If the command fails.
    """
    done = _run_trial(launch)
    if done.returncode != 0:
        _check_ssh(launch, done.stderr)
        why = describe_failure(done.stderr) or (
            f"it ended with status {done.returncode} and {NO_MESSAGE}"
        )
        if hint := _suggest_host_name(done.stderr):
            why += ("\n" if "\n" in why else " ") + hint
        raise Error(
            f"{launch.command[0]} rejected the placement, nothing was started: {why}"
        )
    return _find_missing_file(done.stderr)


def check_files_on_hosts(command: Sequence[str], files: Sequence[Path]) -> None:
    """Raise `topoloom.Error` if a host of the unchanged command lacks a file.

    Checks only known launchers that may start ranks on other hosts. Also raises it if
    ssh cannot reach a host. All other errors are left to the command itself.
    """
    try:
        read = read_command(command)
    except Error:
        return
    if _is_local(read):
        return
    line = read.with_program(make_trial_program(files)).line
    launch = Launch(line.build((), ()))
    errors = _run_trial(launch).stderr
    _check_ssh(launch, errors)
    if missing := _find_missing_file(errors):
        raise Error(missing)


def _check_ssh(launch: Launch, errors: str) -> None:
    """Raise `topoloom.Error` if ssh could not reach a host."""
    if cause := find_ssh_error(errors):
        raise Error(
            f"{launch.command[0]} cannot reach a host, nothing was started: {cause}"
        )


def _is_local(command: LauncherCommand) -> bool:
    """Return whether all ranks certainly start on this host."""
    from topoloom.importers.system.node_lists import list_job_hosts

    if any("hostfile" in name.lower().replace("_", "") for name in os.environ):
        return False
    try:
        hosts = command.list_hosts() or list_job_hosts(os.environ)
    except (Error, OSError):
        return False
    if hosts:
        from topoloom.support.this_host import is_this_host

        return all(map(is_this_host, hosts))
    options = [option for part in command.line.segments for option in part.options]
    local = command.launcher.IS_LOCAL_BY_DEFAULT
    return local and not any(map(_may_name_hosts, options))


def _may_name_hosts(option: Option) -> bool:
    """Return whether an option names a rankfile, an options file, or a daemon."""
    return "file" in option.text.lower() or option.name in _HOST_OPTIONS


def _suggest_host_name(text: str) -> str:
    """Suggest the name of this host that Open MPI 4 accepts."""
    from topoloom.support.this_host import is_this_host

    found = _NOT_ALLOCATED.search(text)
    if found is None or not is_this_host(found[1]) or found[1] == socket.gethostname():
        return ""
    return f"It knows {found[1]} as {socket.gethostname()}: use this name in --hosts."


def _run_trial(launch: Launch) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **SHARED_CPUS, **launch.environment}
    warning = threading.Timer(
        _SECONDS_TO_WARNING, _warn_about_delay, [launch.command[0]]
    )
    warning.start()
    try:
        return run_child(
            launch.command,
            environment=environment,
            stdout=subprocess.DEVNULL,
            timeout=_TIMEOUT_SECONDS,
            # Hydra waits forever for a host that ssh could not reach.
            has_failed=lambda errors: find_ssh_error(errors) is not None,
        )
    except subprocess.TimeoutExpired:
        raise Error(
            f"{launch.command[0]} did not finish a no-op job within "
            f"{_TIMEOUT_SECONDS} s; check that all hosts are reachable"
        ) from None
    finally:
        warning.cancel()


def _warn_about_delay(launcher: str) -> None:
    _log.warning(
        "topoloom: %s has not finished a no-op job after %d s; is a host unreachable? "
        "Ctrl-C ends it",
        launcher,
        _SECONDS_TO_WARNING,
    )


def _find_missing_file(text: str) -> str | None:
    found = _MISSING.search(text)
    if found is None:
        return None
    host, file = found.groups()
    if file == str(get_core_library_path()):
        return f"{host} lacks {file}; install topoloom in a folder that all hosts share"
    advice = "set XDG_CACHE_HOME to a private folder that all hosts see"
    return f"{host} lacks {file}; {advice}"
