# SPDX-License-Identifier: BSD-3-Clause
"""Exceptions that end a command with a given exit status, and their messages."""

from __future__ import annotations


class Failure(Exception):
    """A failure that ends the command with an exit status and one line on stderr.

    For bad input raise `topoloom.Error` or OSError, which exit with 2.
    """

    def __init__(self, message: str, status: int = 1) -> None:
        super().__init__(message)
        self.status = status


class Interrupted(Failure):
    """Raised after Ctrl-C; a partial result may have been printed."""

    def __init__(self, message: str = "interrupted") -> None:
        super().__init__(message, 130)


def describe_error(error: Exception) -> str:
    """Return the message of an error; that of an OSError begins with the file."""
    if not isinstance(error, OSError):
        return str(error)
    where = f"{error.filename}: " if error.filename else ""
    return f"{where}{error.strerror or error}"
