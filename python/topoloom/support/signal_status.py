# SPDX-License-Identifier: BSD-3-Clause
"""Exit statuses of commands that a signal ended."""

from __future__ import annotations

import signal

INTERRUPTED = 128 + signal.SIGINT
TERMINATED = 128 + signal.SIGTERM


def describe_early_end(status: int) -> str:
    """Say how a command ended early: ``the command was interrupted``."""
    if status == INTERRUPTED:
        return "the command was interrupted"
    if status == TERMINATED:
        return "the command was terminated"
    return f"the command ended with status {status}"
