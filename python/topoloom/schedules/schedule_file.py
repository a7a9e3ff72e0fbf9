# SPDX-License-Identifier: BSD-3-Clause
"""Writes schedules as CSV: round, sender, receiver and bytes of every message."""

from __future__ import annotations

from pathlib import Path

from topoloom._core import Schedule
from topoloom.support.files import open_atomically

HEADER = "round,source,target,bytes"


def save_schedule(path: str | Path, schedule: Schedule) -> None:
    """Write all messages of a schedule, one per line, round by round.

    Raises
    ------
    OSError
        If the file cannot be written.
    """
    with open_atomically(path) as stream:
        stream.write(f"{HEADER}\n".encode())
        for number in range(schedule.rounds):
            for message in zip(*schedule.messages(number), strict=True):
                source, target, size = map(int, message)
                stream.write(f"{number},{source},{target},{size}\n".encode())
