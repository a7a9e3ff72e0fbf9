# SPDX-License-Identifier: BSD-3-Clause
"""The command line as it was typed: files say how to make them again."""

from __future__ import annotations

from contextvars import ContextVar

#: Its words, from "topoloom" on.
command_line: ContextVar[tuple[str, ...]] = ContextVar("command_line", default=())
