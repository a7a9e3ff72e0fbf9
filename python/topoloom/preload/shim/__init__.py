# SPDX-License-Identifier: BSD-3-Clause
"""Builds and preloads libraries for a user's MPI program."""

from __future__ import annotations

from topoloom.preload.shim.build import (
    build_library,
    build_library_without_mpi,
    build_program,
    build_shim,
)
from topoloom.preload.shim.launcher import (
    add_preload,
    find_c_compiler,
    find_compiler,
    find_launcher,
    suggest_only_launcher,
)
from topoloom.preload.shim.link_checks import (
    check_dynamic,
    check_programs,
    find_linked_mpi,
    is_linked_statically,
)

__all__ = [
    "add_preload",
    "build_library",
    "build_library_without_mpi",
    "build_program",
    "build_shim",
    "check_dynamic",
    "check_programs",
    "find_c_compiler",
    "find_compiler",
    "find_launcher",
    "find_linked_mpi",
    "is_linked_statically",
    "suggest_only_launcher",
]
