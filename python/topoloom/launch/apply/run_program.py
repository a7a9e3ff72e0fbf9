# SPDX-License-Identifier: BSD-3-Clause
"""Runs a command as a shell does: same streams, signals and exit status."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
from collections.abc import Callable
from typing import IO, Any

from topoloom.launch.launcher import Launch
from topoloom.support.ending_signals import HeldSignals, hold_signals

_SECONDS_TO_END = 10.0
_PR_SET_PDEATHSIG = 1  # <sys/prctl.h>


def run_program(
    launch: Launch,
    timeout: float | None = None,
    stdout: IO[Any] | None = None,
    *,
    stderr: int | None = None,
    signals: HeldSignals | None = None,
    before_end: Callable[[bool], None] = lambda _: None,
) -> int:
    """Run a command to its end; return its exit status, 128 + n after signal n.

    That is also the status if this process forwards a signal that ends commands, and
    the command fails: launchers then return 1 or others.

    Parameters
    ----------
    timeout
        Seconds after which the program gets SIGTERM, and 10 s later SIGKILL.
    stdout, stderr
        Streams of the program; default: those of this process.
    signals
        Signals of the caller; after an ending signal, the program is not started.
    before_end
        Called before the program gets a signal that ends it; the argument is whether
        the time is up.
    """
    if signals is None:
        with hold_signals() as own:
            return run_program(
                launch,
                timeout,
                stdout,
                stderr=stderr,
                signals=own,
                before_end=before_end,
            )
    if signals.received:
        return 128 + signals.received[0]
    environment = {**os.environ, **launch.environment}
    child = subprocess.Popen(
        launch.command,
        env=environment,
        stdout=stdout,
        stderr=stderr,
        preexec_fn=_make_end_with_parent(),
    )
    with signals.forwarded_to(child, before_end):
        status = _wait_or_kill(child, timeout, before_end)
    if signals.received and status != 0:
        return 128 + signals.received[0]
    return 128 - status if status < 0 else status


def _make_end_with_parent() -> Callable[[], None]:
    """Return what a child calls before exec, to get SIGTERM if this process is killed.

    Otherwise SIGKILL, as from the kernel without memory, would leave the job running.
    """
    set_option, parent = ctypes.CDLL(None).prctl, os.getpid()

    def end_with_parent() -> None:
        set_option(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
        if os.getppid() != parent:  # It was killed before the call.
            os.kill(os.getpid(), signal.SIGTERM)

    return end_with_parent


def _wait_or_kill(
    child: subprocess.Popen[Any],
    timeout: float | None,
    before_end: Callable[[bool], None],
) -> int:
    try:
        return child.wait(timeout)
    except subprocess.TimeoutExpired:
        before_end(True)
        child.terminate()
    try:
        return child.wait(_SECONDS_TO_END)
    except subprocess.TimeoutExpired:
        child.kill()
        return child.wait()
