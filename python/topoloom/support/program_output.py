# SPDX-License-Identifier: BSD-3-Clause
"""The output of system programs such as scontrol."""

from __future__ import annotations

import os
import subprocess
from typing import NamedTuple

#: Clients of a service that is down retry for minutes.
_TIMEOUT_SECONDS = 30


class ProgramOutput(NamedTuple):
    """Output and exit status of a program."""

    text: str
    errors: str
    status: int


def run_program(*command: str) -> ProgramOutput:
    """Run a command; the status is nonzero if it fails or times out."""
    try:
        told = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_TIMEOUT_SECONDS,
            check=False,
            env={**os.environ, "LC_ALL": "C"},
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return ProgramOutput("", str(error), -1)
    return ProgramOutput(told.stdout, told.stderr, told.returncode)
