# SPDX-License-Identifier: BSD-3-Clause
"""Recognizes files of profilers that hold no bytes per pair of ranks.

Their totals per call site, rank or file cannot say who sends to whom.
"""

from __future__ import annotations

import re

from topoloom._core import Error

#: Begin of a file -> what it is.
_TOOLS = (
    (re.compile(rb"@ mpiP\b"), "a report of mpiP"),
    (re.compile(rb"# darshan log version"), "a log of Darshan"),
    (re.compile(rb"__rec="), "a profile of Caliper"),
)


def check_tool(data: bytes) -> None:
    """Raise `topoloom.Error` for files of these tools, with what to use instead."""
    for begin, name in _TOOLS:
        if begin.match(data[:4096]):
            raise Error(
                f"is {name}, which has no bytes per pair of ranks; count messages with "
                "'topoloom record', or give an edge list (source target bytes)"
            )
