# SPDX-License-Identifier: BSD-3-Clause
"""Runs programs with a faulty MPI_Alltoallv, to prove that their checks can fail."""

from __future__ import annotations

import subprocess
from pathlib import Path

from built_programs import compile_program
from mpis import MPICH, PROGRAMS, need, run_to_end

SOURCE = PROGRAMS / "apps/faulty_alltoallv.c"


def run_with_fault(
    fault: str, ranks: int, program: Path, *words: object
) -> subprocess.CompletedProcess[str]:
    """Run a program on MPICH; `fault` is ``flip`` or ``trade``."""
    compiler = need(MPICH.compilers[".c"], MPICH.install)
    library = compile_program("faulty.so", [compiler, "-shared", "-fPIC", SOURCE])
    preloaded = ("env", f"LD_PRELOAD={library}", f"FAULT={fault}", program)
    return run_to_end(MPICH.command(ranks, *preloaded, *words))
