# SPDX-License-Identifier: BSD-3-Clause
"""The transpose example gives the right result, however it is built."""

from __future__ import annotations

import subprocess
from pathlib import Path

from built_libraries import configure_and_build, installed
from built_programs import ROOT, compile_program, run
from mpis import MPICH, OPEN_MPI_4, need

APP = ROOT / "apps" / "overlap"


def test_matrices_are_transposed() -> None:
    prefix, compiler = installed(MPICH), need(MPICH.compilers[".c"], MPICH.install)
    words = ["pkg-config", "--cflags", "--libs", "topoloom-collective"]
    flags = run(words, PKG_CONFIG_PATH=f"{prefix}/lib/pkgconfig").split()
    program = compile_program("overlap", [compiler, APP / "overlap.c", *flags])
    for ranks, rows in ((1, 2), (3, 6)):
        output = run(MPICH.command(ranks, program, rows))
        assert output.startswith(
            f"overlap: {ranks} ranks, {ranks * rows} x {ranks * rows}: MPI "
        )
        assert "; verified\nright: every element was compared\ntime: " in output
    for form in ("mpi", "topoloom"):
        output = run(MPICH.command(2, program, 4, form))
        assert output.startswith("right: every element was compared\ntime: ")
    odd = subprocess.run(
        MPICH.command(2, program, 3), capture_output=True, text=True, check=False
    )
    assert odd.returncode == 2
    assert "overlap: the rows per rank must be even" in odd.stderr


def test_cmake_builds_the_example(tmp_path: Path) -> None:
    prefix, build = installed(OPEN_MPI_4), tmp_path / "build"
    configure_and_build(APP, build, OPEN_MPI_4, f"-DCMAKE_PREFIX_PATH={prefix}")
    assert "verified" in run(OPEN_MPI_4.command(2, build / "overlap", 4))
