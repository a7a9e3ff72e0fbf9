# SPDX-License-Identifier: BSD-3-Clause
"""Runs the command line in a separate process."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import time
from pathlib import Path

from several_hosts import SECONDS

TOPOLOOM = [sys.executable, "-c", "from topoloom.cli import main; main()"]


def topoloom(
    *words: object, standard_input: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end; return its status and output."""
    return subprocess.run(
        [*TOPOLOOM, *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
        input=standard_input,
    )


def wait_for_end(process: int) -> None:
    """Wait for the end of a process that is not our child, by its pidfd."""
    ready, _, _ = select.select([process], [], [], SECONDS)
    os.close(process)
    assert ready, "a process outlived what started it"


def wait_for_cpu_time(process: subprocess.Popen[str], seconds: float) -> None:
    """Wait until a process has used `seconds` more of CPU time, or has ended."""
    end = read_cpu_seconds(process.pid) + seconds
    while process.poll() is None and read_cpu_seconds(process.pid) < end:
        time.sleep(0.02)


def read_cpu_seconds(pid: int) -> float:
    """Return the CPU time of a process in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")
