# SPDX-License-Identifier: BSD-3-Clause
"""Runs a command with the recorder preloaded and merges the ranks' recordings."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from topoloom._core import Error
from topoloom.graphs.profile import Profile
from topoloom.launch.apply.launcher_failure import (
    find_cause,
    find_loader_error,
    has_started_ranks,
)
from topoloom.launch.apply.run_program import run_program
from topoloom.launch.apply.trial_run import check_files_on_hosts
from topoloom.launch.launcher import NO_MESSAGE, Launch
from topoloom.launch.launchers.launcher_commands import list_programs
from topoloom.preload.record.command_state import CommandState
from topoloom.preload.record.live_ranks import end_ranks, request_recordings
from topoloom.preload.record.merge_recordings import read_recording
from topoloom.preload.record.notes_folder import keep_notes_on_error, notes_folder
from topoloom.preload.record.recorder_library import build_recorder
from topoloom.preload.record.relayed_errors import relay_errors
from topoloom.preload.record.status_log import StatusLog
from topoloom.preload.shim import (
    LaunchProgram,
    add_preload,
    check_dynamic,
    check_programs,
    check_uses_mpi,
    describe_version_mismatch,
    find_compiler,
    find_launcher,
)
from topoloom.support.ending_signals import HeldSignals, hold_signals
from topoloom.support.signal_status import ENDED_BY_SIGNAL

_TORCH = "; if it is one of PyTorch, add --torch"


def record(
    command: Sequence[str],
    *,
    mpicc: str | None = None,
    timeout: float | None = None,
    folder: str | Path = ".",
    stdout: IO[Any] | None = None,
    then: Callable[[Profile], object] | None = None,
    state: CommandState | None = None,
    variables: Mapping[str, str] | None = None,
) -> Profile:
    """Run an unmodified MPI program and record its communication.

    Parameters
    ----------
    command
        Command including the launcher: ``["mpirun", "-n", "64", "./app"]``.
    mpicc
        Compiler of the program's MPI; default: ``mpicc`` next to the launcher.
    timeout
        Seconds after which the job is terminated; earlier counts are returned.
    folder
        Folder for temporary files of the ranks; on a cluster, all nodes must see it.
    stdout
        Standard output of the program; default: standard output of this process.
    then
        Called with the profile while the files exist; if it fails, they are not
        deleted.
    state
        Set when the command starts and ends; valid even if an error is raised.
    variables
        Environment variables to add to those of this process.

    Returns
    -------
    Profile
        Traffic and ``exit_status``; ``missing`` and ``partial`` list incomplete ranks.

    Raises
    ------
    topoloom.Error
        If the command or its compiler is missing, some ranks cannot be preloaded, or
        `then` fails; the message then names the folder of the files.
    NothingRecorded
        If the command ran without an MPI program that can be recorded.

    Notes
    -----
    Ctrl-C ends the job and returns the counts so far, with exit status 130. Hangups,
    SIGTERM and SIGQUIT do so, too, with status 128 + n.
    """
    words, state = list(command), state or CommandState()
    launcher = find_launcher(words)
    names, is_mpi_known = list_programs(words), bool(mpicc or launcher.forwarding)
    check_dynamic(names)
    if not is_mpi_known:  # Compiling takes long, so ask for the MPI first.
        names = names or words[:1]
        check_uses_mpi(names, _TORCH)
    compiler = find_compiler(launcher, mpicc)
    library = build_recorder(compiler)
    # The job can hang if only some ranks are preloaded, and crash with another MPI.
    if len(names) > 1 or not is_mpi_known:
        check_programs(names, compiler, library, is_mpi_known, _TORCH)
    check_files_on_hosts(words, [library])
    with hold_signals() as signals, notes_folder(folder, "record") as notes:
        environment = {**os.environ, **(variables or {})}
        words, environment = add_preload(
            launcher, words, [library], {"TOPOLOOM_RECORD": notes}, environment
        )
        # srun --pty gives the terminal to rank 0, whose errors must not be a pipe.
        has_relay = launcher.recognized is not None and "--pty" not in words
        with relay_errors(has_relay) as relay:
            streams = (stdout, relay.inlet if relay else None)
            launch = Launch(words, environment)
            with state.measure_run():
                status, in_time = _run_job(launch, timeout, notes, streams, signals)
            state.exit_status = status
            state.is_interrupted = bool(signals.received)
        profile = read_recording(
            notes,
            status,
            None if in_time else timeout,
            lambda log: _explain_failure(
                log, launcher, names, status, relay.text if relay else None, library
            ),
        )
        if then is not None:
            with keep_notes_on_error(notes):
                then(profile)
        return profile


def _explain_failure(
    log: StatusLog,
    launcher: LaunchProgram,
    names: Sequence[str],
    status: int,
    printed: str | None,
    library: Path,
) -> str | None:
    """Explain why nothing was recorded, by what is known of the launcher."""
    if not log.programs and (refused := find_loader_error(printed or "", library)):
        return refused
    if mismatch := describe_version_mismatch(launcher, [*names, *sorted(log.programs)]):
        return mismatch
    failed = status != 0 and status not in ENDED_BY_SIGNAL
    if log.programs or log.flags or printed is None or not failed:
        return None
    if has_started_ranks(printed):
        return None
    cause = find_cause(printed) or f"it {NO_MESSAGE}"
    return f"{launcher.path.name} exited before it started any rank: {cause}"


def _run_job(
    launch: Launch,
    timeout: float | None,
    notes: str,
    streams: tuple[IO[Any] | None, int | None],
    signals: HeldSignals,
) -> tuple[int, bool]:
    """Run the job, and make its ranks write their counts if it is ended.

    Returns
    -------
    tuple
        The exit status, and whether the command ended before the timeout.
    """
    in_time = True

    def prepare_end(is_time_up: bool) -> None:
        nonlocal in_time
        in_time = in_time and not is_time_up
        request_recordings(notes)

    sys.stdout.flush()
    try:
        status = run_program(
            launch,
            timeout,
            streams[0],
            stderr=streams[1],
            signals=signals,
            before_end=prepare_end,
        )
    except OSError as error:
        raise Error(f"cannot run '{launch.command[0]}': {error.strerror}") from None
    if status:
        end_ranks(notes)
    return status, in_time
