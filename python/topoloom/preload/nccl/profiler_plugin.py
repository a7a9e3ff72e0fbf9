# SPDX-License-Identifier: BSD-3-Clause
"""Runs a command with the NCCL profiler plugin and merges the files of its ranks."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, Any, NamedTuple

from topoloom.graphs.profile import Profile
from topoloom.graphs.traces.trace_formats import read_trace
from topoloom.launch.apply.run_program import run_program
from topoloom.launch.apply.trial_run import check_files_on_hosts
from topoloom.launch.launcher import Launch
from topoloom.preload.record import NothingRecorded
from topoloom.preload.record.notes_folder import keep_notes_on_error, notes_folder
from topoloom.preload.shim import (
    build_library_without_mpi,
    find_c_compiler,
    find_launcher,
)
from topoloom.support.ending_signals import hold_signals
from topoloom.support.signal_status import describe_early_end

_PLUGIN = "libnccl-profiler-topoloom.so"
_PLUGIN_VARIABLE = "NCCL_PROFILER_PLUGIN"


class NcclRecording(NamedTuple):
    """A profile, and descriptions of what is missing in it."""

    profile: Profile
    losses: list[str]


def build_plugin() -> Path:
    """Return the NCCL profiler plugin, compiled if necessary.

    Raises `topoloom.Error` if no C compiler is found, or compilation fails.
    """
    return build_library_without_mpi("nccl/profiler", _PLUGIN, find_c_compiler())


def record_nccl(
    command: Sequence[str],
    *,
    timeout: float | None = None,
    folder: str | Path = ".",
    stdout: IO[Any] | None = None,
    then: Callable[[Profile], object],
) -> NcclRecording:
    """Run a command; record the NCCL or RCCL traffic of its processes.

    Parameters
    ----------
    command
        Command that starts all ranks, such as torchrun or an MPI launcher.
    timeout
        Seconds after which the command is terminated.
    folder
        Folder for temporary files; on a cluster, all nodes must see it.
    stdout
        Standard output of the program; default: standard output of this process.
    then
        Called with the profile while the files exist. If the call fails, or ranks
        cannot be merged, the files are not deleted.

    Raises
    ------
    topoloom.Error
        If the command or a C compiler is missing, ranks cannot be merged, or `then`
        fails.
    NothingRecorded
        If no process of the command has loaded the plugin.
    """
    words = list(command)
    launcher = find_launcher(words)
    library = build_plugin()
    check_files_on_hosts(words, [library])
    with hold_signals() as signals, notes_folder(folder, "nccl") as lines:
        variables = {
            _PLUGIN_VARIABLE: str(library),
            "TOPOLOOM_NCCL_OUTPUT": lines,
        }
        if launcher.forwarding is not None:
            words[1:1] = launcher.forwarding.write(variables)
        begin = time.monotonic()
        status = run_program(Launch(words, variables), timeout, stdout, signals=signals)
        seconds = time.monotonic() - begin
        if not any(one.stat().st_size for one in Path(lines).glob("*.jsonl")):
            raise NothingRecorded(_explain_no_calls(status), status)
        with keep_notes_on_error(lines, "*.jsonl"):
            profile, losses = read_recording(lines)
            profile = replace(profile, wall_seconds=seconds, exit_status=status)
            then(profile)
        if theirs := os.environ.get(_PLUGIN_VARIABLE):
            losses.append(f"{_PLUGIN_VARIABLE}={theirs}: replaced by Topoloom's plugin")
        return NcclRecording(profile, losses)


def read_recording(folder: str | Path) -> NcclRecording:
    """Merge the files that the plugin wrote to a folder."""
    return NcclRecording(*read_trace(folder, "nccl-inspector", partial=True))


def _explain_no_calls(status: int) -> str:
    if status:
        return (
            f"nothing was recorded: {describe_early_end(status)} before a process used "
            "NCCL"
        )
    return (
        "nothing was recorded (exit status 0): no process used a communicator of NCCL "
        "2.23 or later, or of an RCCL with profiler plugins, or the processes lack "
        "NCCL_PROFILER_PLUGIN"
    )
