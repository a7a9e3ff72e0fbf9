# SPDX-License-Identifier: BSD-3-Clause
"""Runs a command as a shell does: same streams, signals and exit status."""

from __future__ import annotations

import os
import signal
import subprocess
from types import FrameType
from typing import IO, Any

from topoloom.launch.launcher import Launch
from topoloom.support.child_processes import terminal_signals_children

FORWARDED_SIGNALS = (
    signal.SIGINT,
    signal.SIGTERM,
    signal.SIGHUP,
    signal.SIGUSR1,
    signal.SIGUSR2,
)
_SECONDS_TO_END = 10.0


def run_program(
    launch: Launch, timeout: float | None = None, stdout: IO[Any] | None = None
) -> int:
    """Run a command to its end; return its exit status, 128 + n after signal n.

    That is also the status if this process forwards SIGINT or SIGTERM, and the command
    fails: launchers then return 1 or others.

    After `timeout` seconds, send SIGTERM to the program; after 10 more seconds, send
    SIGKILL.
    """
    environment = {**os.environ, **launch.environment}
    children: list[subprocess.Popen[bytes]] = []
    early: list[int] = []  # signals received before the program started

    ended_by: list[int] = []

    def forward_signal(number: int, _frame: FrameType | None) -> None:
        if number in (signal.SIGINT, signal.SIGTERM):
            ended_by.append(number)
        if not children:
            early.append(number)
        elif not (number == signal.SIGINT and terminal_signals_children()):
            children[0].send_signal(number)

    handlers = {
        number: signal.signal(number, forward_signal) for number in FORWARDED_SIGNALS
    }
    try:
        children.append(
            subprocess.Popen(launch.command, env=environment, stdout=stdout)
        )
        for number in early:
            forward_signal(number, None)
        status = _wait_or_kill(children[0], timeout)
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    if ended_by and status != 0:
        return 128 + ended_by[0]
    return 128 - status if status < 0 else status


def _wait_or_kill(child: subprocess.Popen[bytes], timeout: float | None) -> int:
    try:
        return child.wait(timeout)
    except subprocess.TimeoutExpired:
        child.terminate()
    try:
        return child.wait(_SECONDS_TO_END)
    except subprocess.TimeoutExpired:
        child.kill()
        return child.wait()
