# SPDX-License-Identifier: BSD-3-Clause
"""Programs with libtopoloom-stream, compiled for an MPI."""

from __future__ import annotations

from pathlib import Path

from built_libraries import compile_sanitized, compile_with_library
from built_programs import ROOT
from mpis import PROGRAMS, Mpi

SOURCES = PROGRAMS / "stream"
STREAM = ROOT / "mpi" / "stream"
#: Settings of SimGrid: unsuccessful polls take time, so that the clock advances.
POLLS = {
    "smpi/simulate-computation": "no",
    "smpi/test": "1e-6",
    "smpi/iprobe": "1e-6",
}


def compile_with_streams(mpi: Mpi, source: Path) -> Path:
    """Compile a program with libtopoloom-stream."""
    return compile_with_library(mpi, "stream", source, f"-I{SOURCES}")


def compile_with_sanitizer(mpi: Mpi, source: Path, sanitizer: str) -> Path:
    """Compile a program together with the library under a sanitizer."""
    return compile_sanitized(mpi, source, (STREAM, STREAM.parent / "errors"), sanitizer)
