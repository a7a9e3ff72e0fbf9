# SPDX-License-Identifier: BSD-3-Clause
"""Records the communication of unmodified MPI programs.

`record` preloads a library that is compiled for the program's MPI and returns a
`Profile`, whose ``graph()`` is the communication graph.
"""

from __future__ import annotations

from topoloom.preload.record.notes import NothingRecorded, read_recording
from topoloom.preload.record.recorded_run import record

__all__ = [
    "NothingRecorded",
    "read_recording",
    "record",
]
