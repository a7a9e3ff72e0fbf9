# SPDX-License-Identifier: BSD-3-Clause
"""Shims: libraries that are preloaded into a user's MPI program."""

from __future__ import annotations

from topoloom.preload.shim.build import (
    build_library,
    build_plain_library,
    build_program,
    build_shim,
)
from topoloom.preload.shim.launcher import (
    find_c_compiler,
    find_compiler,
    find_launcher,
    preloaded_command,
)
from topoloom.preload.shim.linked import (
    check_programs,
    is_linked_statically,
    linked_mpi,
    refuse_static,
)

__all__ = [
    "build_library",
    "build_plain_library",
    "build_program",
    "build_shim",
    "check_programs",
    "find_c_compiler",
    "find_compiler",
    "find_launcher",
    "is_linked_statically",
    "linked_mpi",
    "preloaded_command",
    "refuse_static",
]
