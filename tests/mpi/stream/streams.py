# SPDX-License-Identifier: BSD-3-Clause
"""Programs with libtopoloom-stream, compiled for an MPI."""

from __future__ import annotations

import subprocess
from pathlib import Path

from built_libraries import with_library
from built_programs import ROOT, compile_program
from mpis import PROGRAMS, Mpi, need

SOURCES = PROGRAMS / "stream"
STREAM = ROOT / "mpi" / "stream"
#: Of SimGrid: what a call without an answer takes, or the clock would stand still.
POLLS = {
    "smpi/simulate-computation": "no",
    "smpi/test": "1e-6",
    "smpi/iprobe": "1e-6",
}


def with_streams(mpi: Mpi, source: Path) -> Path:
    """Compile a program with the library."""
    return with_library(mpi, "stream", source, f"-I{SOURCES}")


def sanitized(mpi: Mpi, source: Path, sanitizer: str) -> Path:
    """Compile a program together with the library under a sanitizer."""
    compiler = need(mpi.compilers[".c"], mpi.install)
    flags = ["-std=gnu11", "-O1", "-g", "-w", f"-fsanitize={sanitizer}"]
    rooms = STREAM, STREAM.parent / "errors"
    sources = [source, *(file for room in rooms for file in sorted(room.glob("*.c")))]
    words = [compiler, *flags, *(f"-I{room}" for room in rooms), *sources]
    return compile_program(f"{source.stem}.{sanitizer}", words)


def said(done: subprocess.CompletedProcess[str]) -> str:
    """Return the output of a successful program."""
    assert done.returncode == 0, done.stdout[-1000:] + done.stderr[-3000:]
    return done.stdout
