# SPDX-License-Identifier: BSD-3-Clause
"""Programs with libtopoloom-objects, compiled for an MPI."""

from __future__ import annotations

import subprocess
from pathlib import Path

from built_libraries import ROOT, core_library, run, with_library
from recorded import PROGRAMS, Mpi, need

SOURCES = PROGRAMS / "objects"
OBJECTS = ROOT / "mpi" / "objects"


def with_objects(mpi: Mpi, source: Path, folder: Path) -> Path:
    """Compile a program with the library."""
    return with_library(mpi, "objects", source, folder)


def flags() -> list[str]:
    return ["-std=c++20", "-O1", "-w", f"-I{OBJECTS}"]


def compiler(mpi: Mpi) -> str:
    return need(mpi.compilers[".cpp"], mpi.install)


def sanitized(mpi: Mpi, source: Path, folder: Path, sanitizer: str) -> Path:
    """Compile a program together with the library under a sanitizer."""
    program = folder / f"{source.stem}.{sanitizer}"
    rooms = OBJECTS.parent / "errors", OBJECTS.parent / "stream"
    words = ["-g", f"-fsanitize={sanitizer}", *(f"-I{room}" for room in rooms)]
    words.append(f"-I{ROOT / 'core/topoloom/capi'}")
    errors = []
    c_compiler = need(mpi.compilers[".c"], mpi.install)
    for file in sorted(rooms[0].glob("*.c")):
        errors.append(folder / f"{file.stem}.{sanitizer}.o")
        run([c_compiler, *words, "-c", file, "-o", errors[-1]])
    library = folder / "objects.cpp"  # in one file, which is quicker
    names = sorted(OBJECTS.glob("*.cpp"))
    library.write_text("".join(f'#include "{name}"\n' for name in names))
    sources = [source, *errors, library]
    core = core_library()
    linked = [core, f"-Wl,-rpath,{core.parent}"]
    run([compiler(mpi), *flags(), *words, *sources, "-o", program, *linked])
    return program


def said(done: subprocess.CompletedProcess[str]) -> str:
    """Give what a program that ended well printed."""
    assert done.returncode == 0, done.stdout[-1000:] + done.stderr[-3000:]
    return done.stdout
