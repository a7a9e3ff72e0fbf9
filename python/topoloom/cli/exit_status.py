# SPDX-License-Identifier: BSD-3-Clause
"""How a verb fails when the input was fine."""

from __future__ import annotations


class Failure(Exception):
    """Ends the command with one line on stderr and an exit status.

    Bad input is not this: raise `topoloom.Error` or OSError, which exit with 2.
    """

    def __init__(self, message: str, status: int = 1) -> None:
        super().__init__(message)
        self.status = status


class Interrupted(Failure):
    """Ctrl-C, after which there may still be a result."""

    def __init__(self, message: str = "interrupted") -> None:
        super().__init__(message, 130)
