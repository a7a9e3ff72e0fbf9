# SPDX-License-Identifier: BSD-3-Clause
"""Finds the running ranks of a recorded job on this host, and ends them."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path

from topoloom.support.ending_signals import handles_signal

_SECONDS_TO_WRITE = 1.0
_SECONDS_TO_END = 10.0
_POLL_SECONDS = 0.02


def find_ranks(folder: str | Path) -> list[int]:
    """List the processes that record into a folder: between MPI_Init and MPI_Finalize.

    The recorder then handles SIGURG (``mpi/record/crash_dump.c``).
    """
    setting = f"TOPOLOOM_RECORD={folder}".encode()
    ranks = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            variables = (process / "environ").read_bytes().split(b"\0")
            rank = int(process.name)
            if setting in variables and handles_signal(rank, signal.SIGURG):
                ranks.append(rank)
    return ranks


def request_recordings(folder: str | Path) -> None:
    """Make the ranks on this host write their counts before the launcher kills them."""
    (Path(folder) / "ending").touch()  # Tells the ranks to end.
    requested = sum(_send(rank, signal.SIGURG) for rank in find_ranks(folder))
    deadline = time.monotonic() + _SECONDS_TO_WRITE
    while time.monotonic() < deadline:
        if len(list(Path(folder).glob("*.topoloom"))) >= requested:
            return
        time.sleep(_POLL_SECONDS)


def end_ranks(folder: str | Path) -> None:
    """End ranks that outlive their launcher, as it would: SIGTERM, later SIGKILL."""
    if not find_ranks(folder):
        return
    request_recordings(folder)
    deadline = time.monotonic() + _SECONDS_TO_END
    for rank in find_ranks(folder):
        _send(rank, signal.SIGTERM)
    while (ranks := find_ranks(folder)) and time.monotonic() < deadline:
        time.sleep(_POLL_SECONDS)
    for rank in ranks:
        _send(rank, signal.SIGKILL)


def _send(process: int, number: signal.Signals) -> bool:
    with contextlib.suppress(OSError):
        os.kill(process, number)
        return True
    return False
