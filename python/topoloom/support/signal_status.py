# SPDX-License-Identifier: BSD-3-Clause
"""Exit statuses of commands that a signal ended."""

from __future__ import annotations

import signal

from topoloom.support.ending_signals import ENDING_SIGNALS

INTERRUPTED = 128 + signal.SIGINT
TERMINATED = 128 + signal.SIGTERM
#: Statuses after signals that end commands.
ENDED_BY_SIGNAL = frozenset(128 + number for number in ENDING_SIGNALS)


def describe_early_end(status: int) -> str:
    """Say how a command ended early: ``the command was interrupted``."""
    if status == INTERRUPTED:
        return "the command was interrupted"
    if status == TERMINATED:
        return "the command was terminated"
    if status in ENDED_BY_SIGNAL:
        return f"the command was ended by {signal.Signals(status - 128).name}"
    return f"the command ended with status {status}"
