# SPDX-License-Identifier: BSD-3-Clause
"""Programs with libtopoloom-balance, compiled for an MPI."""

from __future__ import annotations

from pathlib import Path

from built_libraries import core_library, with_library
from built_programs import ROOT, compile_program
from mpis import PROGRAMS, Mpi, need

SOURCES = PROGRAMS / "balance"
BALANCE = ROOT / "mpi" / "balance"


def with_balancing(mpi: Mpi, source: Path) -> Path:
    """Compile a program with the library."""
    core = f"-I{ROOT / 'core/topoloom/capi'}", "-Wl,--no-as-needed", core_library()
    return with_library(mpi, "balance", source, *core)


def sanitized(mpi: Mpi, source: Path) -> Path:
    """Compile a program together with the library, so that memory is checked."""
    compiler = need(mpi.compilers[".c"], mpi.install)
    flags = ["-std=gnu11", "-O1", "-g", "-w", "-fsanitize=address,undefined"]
    rooms = BALANCE, BALANCE.parent / "errors", ROOT / "core/topoloom/capi"
    sources = [source, *(file for room in rooms for file in sorted(room.glob("*.c")))]
    core = core_library()
    linked = [core, f"-Wl,-rpath,{core.parent}"]
    headers = [f"-I{room}" for room in rooms]
    words = [compiler, *flags, *headers, *sources, *linked]
    return compile_program(f"{source.stem}.sanitized", words)
