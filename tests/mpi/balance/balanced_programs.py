# SPDX-License-Identifier: BSD-3-Clause
"""Programs with libtopoloom-balance, compiled for an MPI."""

from __future__ import annotations

from pathlib import Path

from built_libraries import ROOT, build, run
from recorded import PROGRAMS, Mpi, need

from topoloom import _core

SOURCES = PROGRAMS / "balance"
BALANCE = ROOT / "mpi" / "balance"


def with_balancing(mpi: Mpi, source: Path, folder: Path) -> Path:
    """Compile a program with the library, which CMake builds in the folder."""
    assert _core.__file__ is not None
    options = [
        f"-DTOPOLOOM_LIBRARY={Path(_core.__file__).with_name('libtopoloom.so')}",
        f"-DTOPOLOOM_INCLUDE_DIR={ROOT / 'core/topoloom/capi'}",
        "-DCMAKE_Fortran_COMPILER=OFF",
    ]
    library = folder / "balance"
    if not library.exists():
        build(ROOT / "mpi", folder, mpi, "topoloom-balance", *options)
    program = folder / source.stem
    linked = [library / "libtopoloom-balance.so", f"-Wl,-rpath,{library}"]
    compiler = need(mpi.compilers[source.suffix], mpi.install)
    standard = "-std=c++20" if source.suffix == ".cpp" else "-std=gnu11"
    flags = [standard, "-O1", "-w", f"-I{BALANCE}"]
    run([compiler, *flags, source, "-o", program, *linked])
    return program


def sanitized(mpi: Mpi, source: Path, folder: Path) -> Path:
    """Compile a program together with the library, so that memory is checked."""
    assert _core.__file__ is not None
    program = folder / f"{source.stem}.sanitized"
    compiler = need(mpi.compilers[".c"], mpi.install)
    flags = ["-std=gnu11", "-O1", "-g", "-w", "-fsanitize=address,undefined"]
    rooms = BALANCE, BALANCE.parent / "errors", ROOT / "core/topoloom/capi"
    sources = [source, *(file for room in rooms for file in sorted(room.glob("*.c")))]
    core = Path(_core.__file__).with_name("libtopoloom.so")
    linked = [core, f"-Wl,-rpath,{core.parent}"]
    headers = [f"-I{room}" for room in rooms]
    run([compiler, *flags, *headers, *sources, "-o", program, *linked])
    return program
