# SPDX-License-Identifier: BSD-3-Clause
"""The command line as typed, which output files record."""

from __future__ import annotations

from contextvars import ContextVar

#: The words, starting with "topoloom".
command_line: ContextVar[tuple[str, ...]] = ContextVar("command_line", default=())
