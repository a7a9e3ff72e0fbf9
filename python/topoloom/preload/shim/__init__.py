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
    LaunchProgram,
    add_preload,
    find_c_compiler,
    find_compiler,
    find_launcher,
    suggest_only_launcher,
)
from topoloom.preload.shim.link_checks import (
    check_dynamic,
    check_programs,
    check_uses_mpi,
    find_linked_mpi,
    is_linked_statically,
)
from topoloom.preload.shim.version_mismatch import describe_version_mismatch

__all__ = [
    "LaunchProgram",
    "add_preload",
    "build_library",
    "build_library_without_mpi",
    "build_program",
    "build_shim",
    "check_dynamic",
    "check_programs",
    "check_uses_mpi",
    "describe_version_mismatch",
    "find_c_compiler",
    "find_compiler",
    "find_launcher",
    "find_linked_mpi",
    "is_linked_statically",
    "suggest_only_launcher",
]
