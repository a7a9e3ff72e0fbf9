# SPDX-License-Identifier: BSD-3-Clause
"""C++20 programs that need no library of ours."""

from __future__ import annotations

from pathlib import Path

from built_programs import NAP_SOURCE, compile_program
from mpis import Mpi, need


def compile_plain(mpi: Mpi, source: Path, *linked: object) -> Path:
    """Compile a program with an MPI's compiler."""
    compiler = need(mpi.compilers[source.suffix], mpi.install)
    words = [compiler, "-std=c++20", "-O1", "-w", source, NAP_SOURCE, *linked]
    return compile_program(f"{source.stem}.{mpi.name}", words)
