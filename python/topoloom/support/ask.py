# SPDX-License-Identifier: BSD-3-Clause
"""What another program of this system answers when it is asked."""

from __future__ import annotations

import os
import subprocess
from typing import NamedTuple

#: A program that waits for a service that is down tries for minutes.
_SECONDS = 30


class Answer(NamedTuple):
    """What a program printed, and how it ended."""

    text: str
    errors: str
    status: int


def answer_of(*command: str) -> Answer:
    """Run a command; where that fails, or takes too long, the status is not 0."""
    try:
        told = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_SECONDS,
            check=False,
            env={**os.environ, "LC_ALL": "C"},
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Answer("", str(error), -1)
    return Answer(told.stdout, told.stderr, told.returncode)
