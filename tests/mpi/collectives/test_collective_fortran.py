# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom_collective` gives Fortran programs the same results as MPI."""

from __future__ import annotations

import pytest
from built_libraries import installed
from built_programs import compile_program, run
from mpis import MPICH, OPEN_MPI_4, PROGRAMS, Mpi, need


@pytest.mark.parametrize("mpi", [OPEN_MPI_4, MPICH], ids=lambda mpi: mpi.name)
def test_results_equal_those_of_mpi(mpi: Mpi) -> None:
    prefix = installed(mpi)
    words = ["pkg-config", "--cflags", "--libs", "topoloom-collective-fortran"]
    flags = run(words, PKG_CONFIG_PATH=f"{prefix}/lib/pkgconfig").split()
    for handles in ("f08", "f90"):
        source = PROGRAMS / "collectives" / f"collectives_{handles}.F90"
        compiler = need(mpi.compilers[".F90"], mpi.install)
        words = [compiler, "-ffree-line-length-none", source, *flags]
        program = compile_program(source.stem, words)
        assert run(mpi.command(3, program)) == "equal\n"
