# SPDX-License-Identifier: BSD-3-Clause
"""Recognizes files of profilers that hold no bytes per pair of ranks, or are not read.

Their totals per call site, rank or file cannot say who sends to whom.
"""

from __future__ import annotations

import re

from topoloom._core import Error

_NO_PAIRS = "which has no bytes per pair of ranks"
_NOT_READ = "which is not read"
#: Begin of a file -> what it is, and why it is no communication graph.
_TOOLS = (
    (re.compile(rb"@ mpiP\b"), "a report of mpiP", _NO_PAIRS),
    (re.compile(rb"# darshan log version"), "a log of Darshan", _NO_PAIRS),
    (re.compile(rb"__rec="), "a profile of Caliper", _NO_PAIRS),
    (re.compile(rb"%EventDef\b"), "a trace of Pajé", _NOT_READ),
)


def check_tool(data: bytes) -> None:
    """Raise `topoloom.Error` for files of these tools, with what to use instead."""
    for begin, name, reason in _TOOLS:
        if begin.match(data[:4096]):
            raise Error(
                f"is {name}, {reason}; count messages with 'topoloom record', or give "
                "an edge list (source target bytes)"
            )
