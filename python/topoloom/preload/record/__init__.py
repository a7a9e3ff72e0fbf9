# SPDX-License-Identifier: BSD-3-Clause
"""Records the communication of unmodified MPI programs.

`record` compiles a library for the program's MPI, preloads it, and returns a `Profile`,
whose ``graph()`` is the communication graph.
"""

from __future__ import annotations

from topoloom.preload.record.merge_recordings import NothingRecorded, read_recording
from topoloom.preload.record.recorded_run import record

__all__ = [
    "NothingRecorded",
    "read_recording",
    "record",
]
