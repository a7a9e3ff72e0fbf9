# SPDX-License-Identifier: BSD-3-Clause
"""Runs a command as if the shell had: same streams, same signals, its exit status."""

from __future__ import annotations

import os
import signal
import subprocess
from types import FrameType

from topoloom import Error
from topoloom.launch.launch import Launch

# Does nothing, but not too fast: Open MPI 5.0 hangs when programs end before all of its
# daemons have reported that they started them.
EMPTY_PROGRAM = ("sleep", "1")

# Open MPI 4 says nothing about a core that does not exist.
WITHOUT_A_WORD = "without a word; has every host as many cores as the machine says?"

FORWARDED = (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)


def run_program(launch: Launch) -> int:
    """Run to the end and return the exit status, 128 + n if signal n ended it."""
    child = subprocess.Popen(launch.command, env={**os.environ, **launch.environment})

    def forward(number: int, frame: FrameType | None) -> None:
        child.send_signal(number)

    # Ctrl-C reaches the child from the terminal; we only have to outlive it.
    handlers = {signal.SIGINT: signal.signal(signal.SIGINT, signal.SIG_IGN)}
    for number in FORWARDED:
        handlers[number] = signal.signal(number, forward)
    try:
        status = child.wait()
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    return 128 - status if status < 0 else status


def check_launch(launch: Launch) -> None:
    """Run a command that should do nothing; raise `topoloom.Error` if it fails.

    Only the launcher can find out that a host is unreachable or a core does not exist.
    """
    tried = subprocess.run(
        launch.command,
        env={**os.environ, **launch.environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        check=False,
    )
    if tried.returncode != 0:
        said = message(tried.stderr.decode(errors="replace"))
        raise Error(
            f"{launch.command[0]} refuses the placement, so nothing was started: "
            + (said or f"status {tried.returncode} {WITHOUT_A_WORD}")
        )


def message(text: str) -> str:
    """Take what stands between the first two ruled lines of a launcher's message."""
    lines: list[str] = []
    for line in text.splitlines():
        words = line.strip()
        if words.strip("-*="):
            lines.append(words)
        elif words and lines:
            break
    return " ".join(lines)[:400]
