# SPDX-License-Identifier: BSD-3-Clause
"""Returns the command line as typed, for the record in output files."""

from __future__ import annotations

from contextvars import ContextVar

#: Return the words of the command line, starting with "topoloom".
command_line: ContextVar[tuple[str, ...]] = ContextVar("command_line", default=())
