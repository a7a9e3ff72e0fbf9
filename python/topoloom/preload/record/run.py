# SPDX-License-Identifier: BSD-3-Clause
"""Runs a command under the recorder and puts together what its ranks left."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from topoloom._core import Error
from topoloom.graphs.profile import Profile
from topoloom.launch.apply.trial import check_hosts
from topoloom.launch.launchers.registry import programs
from topoloom.preload.record.build import build_recorder
from topoloom.preload.record.keeping import keeping, notes_folder
from topoloom.preload.record.notes import read_recording
from topoloom.preload.shim import (
    check_programs,
    find_compiler,
    find_launcher,
    preloaded_command,
    refuse_static,
)
from topoloom.support.child_processes import terminal_interrupts_children

_TORCH = "; if it is one of PyTorch, add --torch"
_SECONDS_TO_DIE = 10.0
_SECONDS_FOR_NOTES = 1.0


def record(
    command: Sequence[str],
    *,
    mpicc: str | None = None,
    timeout: float | None = None,
    folder: str | Path = ".",
    stdout: IO[Any] | None = None,
    then: Callable[[Profile], object] | None = None,
) -> Profile:
    """Run an MPI program and record who sends how much to whom.

    The program is not changed.

    Parameters
    ----------
    command
        The whole command with its launcher: ``["mpirun", "-n", "64", "./app"]``.
    mpicc
        Compiler of the program's MPI, if the one beside its launcher is not.
    timeout
        Seconds after which the job is asked to end; what it counted until then is kept.
    folder
        Where the ranks leave their notes for a moment: on a cluster a folder that all
        nodes see.
    stdout
        Where the program prints to; by default to our own output.
    then
        What to do with the profile while the notes are still there: if that fails,
        they are kept.

    Returns
    -------
    Profile
        ``exit_status`` is the command's; look at ``missing`` and ``partial``, too.

    Raises
    ------
    topoloom.Error
        If the command or its compiler is not there, or what is to be preloaded would
        not reach all ranks; or what `then` raised, and where the notes are.
    NothingRecorded
        If the command ran, but no MPI program in it could be recorded.

    Notes
    -----
    Ctrl-C ends the job; what it had counted is returned, with exit status 130.
    """
    words = list(command)
    launcher = find_launcher(words)
    compiler = find_compiler(launcher, mpicc)
    library = build_recorder(compiler)
    names, trusted = programs(words), bool(mpicc or launcher.forwarding)
    refuse_static(names)
    if (
        len(names) > 1 or not trusted
    ):  # They may wait for each other, or die of our MPI.
        check_programs(names, compiler, library, trusted, _TORCH)
    check_hosts(words, [library])
    with notes_folder(folder, "record") as notes:
        variables = {"TOPOLOOM_RECORD": notes}
        words, environment = preloaded_command(
            launcher, words, [library], variables, os.environ
        )
        status, in_time = _run(words, environment, timeout, notes, stdout)
        profile = read_recording(notes, status, None if in_time else timeout)
        if then is not None:
            with keeping(notes):
                then(profile)
        return profile


def _run(
    command: list[str],
    environment: dict[str, str],
    timeout: float | None,
    notes: str,
    stdout: IO[Any] | None,
) -> tuple[int, bool]:
    """Run to the end; signals that ask us to stop go to the job instead.

    Returns
    -------
    tuple
        The exit status, and whether the command ended in time.
    """
    in_time = True
    sys.stdout.flush()
    try:
        job = subprocess.Popen(command, env=environment, stdout=stdout)
    except OSError as error:
        raise Error(f"cannot run '{command[0]}': {error.strerror}") from None
    with _forwarding(job, notes) as forwarded:
        try:
            status = job.wait(timeout)
        except subprocess.TimeoutExpired:
            in_time = False
            _ask_for_notes(notes)
            job.terminate()
            try:
                status = job.wait(_SECONDS_TO_DIE)
            except subprocess.TimeoutExpired:
                job.kill()
                status = job.wait()
    if forwarded:
        return 128 + forwarded[0], in_time
    return status if status >= 0 else 128 - status, in_time


@contextlib.contextmanager
def _forwarding(job: subprocess.Popen[bytes], notes: str) -> Iterator[list[int]]:
    """Hand SIGINT and SIGTERM to the job; yields the list of those that came."""
    came: list[int] = []

    def forward(number: int, _frame: object) -> None:
        came.append(number)
        _ask_for_notes(notes)
        # mpirun kills at once on the second one.
        if not (number == signal.SIGINT and terminal_interrupts_children()):
            job.send_signal(number)

    try:
        old = {n: signal.signal(n, forward) for n in (signal.SIGINT, signal.SIGTERM)}
    except ValueError:  # not the main thread: signals do not come here
        yield came
        return
    try:
        yield came
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)


def _ask_for_notes(notes: str) -> None:
    """Ask the ranks on this host for their notes: launchers may kill them at once."""
    (Path(notes) / "ending").touch()  # so that ranks do not wake up and go on
    setting = f"TOPOLOOM_RECORD={notes}".encode()
    asked = 0
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if setting in (process / "environ").read_bytes().split(b"\0"):
                os.kill(int(process.name), signal.SIGURG)
                asked += 1
    deadline = time.monotonic() + _SECONDS_FOR_NOTES
    while time.monotonic() < deadline:
        if len(list(Path(notes).glob("*.topoloom"))) >= asked:
            return
        time.sleep(0.02)
