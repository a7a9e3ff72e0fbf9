# SPDX-License-Identifier: BSD-3-Clause
"""Programs with libtopoloom-balance, compiled for an MPI."""

from __future__ import annotations

from pathlib import Path

from built_libraries import compile_sanitized, core_library, with_library
from built_programs import ROOT
from mpis import PROGRAMS, Mpi

SOURCES = PROGRAMS / "balance"
BALANCE = ROOT / "mpi" / "balance"


def with_balancing(mpi: Mpi, source: Path) -> Path:
    """Compile a program with the library."""
    core = f"-I{ROOT / 'core/topoloom/capi'}", "-Wl,--no-as-needed", core_library()
    return with_library(mpi, "balance", source, *core)


def sanitized(mpi: Mpi, source: Path) -> Path:
    """Compile a program together with the library under a sanitizer."""
    folders = BALANCE, BALANCE.parent / "errors", ROOT / "core/topoloom/capi"
    core = core_library()
    linked = core, f"-Wl,-rpath,{core.parent}"
    return compile_sanitized(mpi, source, folders, "address,undefined", *linked)
