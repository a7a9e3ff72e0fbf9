# SPDX-License-Identifier: BSD-3-Clause
"""Programs with libtopoloom-objects, compiled for an MPI."""

from __future__ import annotations

from pathlib import Path

from built_libraries import compile_with_library, find_core_library
from built_programs import ROOT, compile_program
from mpis import PROGRAMS, Mpi, need

SOURCES = PROGRAMS / "objects"
OBJECTS = ROOT / "mpi" / "objects"


def compile_with_objects(mpi: Mpi, source: Path) -> Path:
    """Compile a program with libtopoloom-objects."""
    return compile_with_library(mpi, "objects", source)


def list_compile_flags() -> list[str]:
    return ["-std=c++20", "-O1", "-w", f"-I{OBJECTS}"]


def find_cxx_compiler(mpi: Mpi) -> str:
    return need(mpi.compilers[".cpp"], mpi.install)


def compile_with_sanitizer(mpi: Mpi, source: Path, sanitizer: str) -> Path:
    """Compile a program together with the library under a sanitizer."""
    libraries = OBJECTS.parent / "errors", OBJECTS.parent / "stream"
    words = [
        "-g",
        f"-fsanitize={sanitizer}",
        *(f"-I{library}" for library in libraries),
    ]
    words.append(f"-I{ROOT / 'core/topoloom/capi'}")
    c_compiler = need(mpi.compilers[".c"], mpi.install)
    errors = [
        compile_program(f"{file.stem}.o", [c_compiler, *words, "-c", file])
        for file in sorted(libraries[0].glob("*.c"))
    ]
    core = find_core_library()
    linked = [core, f"-Wl,-rpath,{core.parent}"]
    sources = [source, *errors, *sorted(OBJECTS.glob("*.cpp"))]
    name = f"{source.stem}.{sanitizer}"
    return compile_program(
        name, [find_cxx_compiler(mpi), *list_compile_flags(), *words, *sources, *linked]
    )
