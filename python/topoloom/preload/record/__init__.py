# SPDX-License-Identifier: BSD-3-Clause
"""Records who talks to whom in an unmodified MPI program.

`record` preloads a library that is compiled for the program's own MPI; `Profile` is
what comes out; ``Profile.graph()`` is what the mappers want.
"""

from __future__ import annotations

from topoloom.preload.record.notes import NothingRecorded, read_recording
from topoloom.preload.record.recorded_run import record

__all__ = [
    "NothingRecorded",
    "read_recording",
    "record",
]
