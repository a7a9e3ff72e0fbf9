# SPDX-License-Identifier: BSD-3-Clause
"""Parses the output of programs that time MPI calls: name and nanoseconds per line."""

from __future__ import annotations

import subprocess


def timings(command: list[str], environment: dict[str, str]) -> dict[str, float]:
    """Run a program once; return nanoseconds per call by name."""
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=True
    )
    words = (line.split() for line in done.stdout.splitlines())
    return {name: float(value) for name, value in words}
