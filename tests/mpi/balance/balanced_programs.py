# SPDX-License-Identifier: BSD-3-Clause
"""Programs with libtopoloom-balance, compiled for an MPI."""

from __future__ import annotations

from pathlib import Path

from built_libraries import compile_sanitized, compile_with_library, find_core_library
from built_programs import ROOT
from mpis import PROGRAMS, Mpi

SOURCES = PROGRAMS / "balance"
BALANCE = ROOT / "mpi" / "balance"


def compile_with_balancing(mpi: Mpi, source: Path) -> Path:
    """Compile a program with the library."""
    core = f"-I{ROOT / 'core/topoloom/capi'}", "-Wl,--no-as-needed", find_core_library()
    return compile_with_library(mpi, "balance", source, *core)


def compile_with_sanitizer(mpi: Mpi, source: Path) -> Path:
    """Compile a program together with the library under a sanitizer."""
    folders = BALANCE, BALANCE.parent / "errors", ROOT / "core/topoloom/capi"
    core = find_core_library()
    linked = core, f"-Wl,-rpath,{core.parent}"
    return compile_sanitized(mpi, source, folders, "address,undefined", *linked)
