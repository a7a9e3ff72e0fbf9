# SPDX-License-Identifier: BSD-3-Clause
"""Collectives of topoloom.mpi give the same results as mpi4py's."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from built_programs import get_cached_folder
from mpis import MPICH, MPIS, OPEN_MPI_4, PROGRAMS, need

NUMBERS = PROGRAMS / "collectives" / "collectives_numbers.py"


def test_results_equal_those_of_mpi4py() -> None:
    ask = "from mpi4py import MPI; print(MPI.Get_library_version())"
    version = subprocess.run(
        [sys.executable, "-c", ask], capture_output=True, text=True, check=True
    )
    of = {"Open MPI v4": OPEN_MPI_4, "Open MPI v5": MPIS[2], "MPICH": MPICH}
    [mpi] = [mpi for name, mpi in of.items() if version.stdout.startswith(name)]
    script = f'#!/bin/sh\nexec {need(mpi.compilers[".c"], mpi.install)} "$@"\n'

    def write_compiler(folder: Path) -> None:
        (folder / "mpicc").write_text(script)
        (folder / "mpicc").chmod(0o755)

    # The object is kept, because compiled functions are cached by name.
    folder = get_cached_folder("mpicc", [script], write_compiler)
    done = subprocess.run(
        mpi.command(3, sys.executable, NUMBERS),
        capture_output=True,
        text=True,
        timeout=600,
        env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["equal; 5 elements are not 3 equal blocks"] * 3
