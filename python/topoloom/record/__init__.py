# SPDX-License-Identifier: BSD-3-Clause
"""Records who talks to whom in an unmodified MPI program.

`record` preloads a library that is compiled for the program's own MPI; `Profile` is
what comes out; ``Profile.graph()`` is what the mappers want.
"""

from __future__ import annotations

from topoloom.record.profile import COLLECTIVES, KINDS, Profile, load_profile
from topoloom.record.run import NothingRecorded, read_recording, record

__all__ = [
    "COLLECTIVES",
    "KINDS",
    "NothingRecorded",
    "Profile",
    "load_profile",
    "read_recording",
    "record",
]
