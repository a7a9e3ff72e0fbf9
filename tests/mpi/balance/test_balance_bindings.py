# SPDX-License-Identifier: BSD-3-Clause
"""Programs in Fortran and with mpi4py use libtopoloom-balance."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from balanced_programs import SOURCES
from built_libraries import configure_and_build, installed
from built_programs import ROOT, compile_program, run
from mpis import MPICH, MPIS, OPEN_MPI_4, Mpi, need, run_to_end

CONSUMER = """\
cmake_minimum_required(VERSION 3.22)
project(consumer LANGUAGES C Fortran)
find_package(topoloom-mpi REQUIRED)
add_executable(fortran_program {sources}/balance_f08.F90)
target_link_libraries(fortran_program topoloom::balance_fortran)
add_executable(c_program {sources}/exchange_cases.c)
target_link_libraries(c_program topoloom::balance)
"""


@pytest.mark.parametrize("mpi", [OPEN_MPI_4, MPICH], ids=lambda mpi: mpi.name)
def test_pkg_config_finds_the_library_for_fortran_programs(mpi: Mpi) -> None:
    prefix = installed(mpi)
    words = ["pkg-config", "--cflags", "--libs", "topoloom-balance-fortran"]
    flags = run(words, PKG_CONFIG_PATH=f"{prefix}/lib/pkgconfig").split()
    for handles in ("f08", "f90"):
        source = SOURCES / f"balance_{handles}.F90"
        compiler = need(mpi.compilers[".F90"], mpi.install)
        program = compile_program(handles, [compiler, source, *flags])
        assert run(mpi.command(3, program)) == "once\n"


def test_cmake_finds_the_library(tmp_path: Path) -> None:
    (tmp_path / "CMakeLists.txt").write_text(CONSUMER.format(sources=SOURCES))
    prefix = installed(MPICH)
    configure_and_build(
        tmp_path, tmp_path / "build", MPICH, f"-DCMAKE_PREFIX_PATH={prefix}"
    )
    assert run(MPICH.command(3, tmp_path / "build/fortran_program")) == "once\n"
    output = run(MPICH.command(2, tmp_path / "build/c_program", 1))
    assert output.endswith("every task is once where it should be\n")


def test_a_program_that_chooses_owners_itself_links_with_libtopoloom_too(
    tmp_path: Path,
) -> None:
    """Compile the program by CMakeLists.txt, or by the command in its first line."""
    app = ROOT / "apps" / "adaptive_mesh"
    prefix = installed(MPICH)
    configure_and_build(
        app, tmp_path / "by_cmake", MPICH, f"-DCMAKE_PREFIX_PATH={prefix}"
    )
    line = (app / "CMakeLists.txt").read_text().partition("mpicxx ")[2].splitlines()[0]
    line = line.replace("adaptive_mesh.cpp", str(app / "adaptive_mesh.cpp"))
    compiler = need(MPICH.compilers[".cpp"], MPICH.install)
    run(
        ["bash", "-c", f"cd {tmp_path}; {compiler} {line}"],
        PKG_CONFIG_PATH=f"{prefix}/lib/pkgconfig",
    )
    for folder in tmp_path, tmp_path / "by_cmake":
        assert run(MPICH.command(3, folder / app.name, 4, 2)).startswith("right: ")


def test_arrays_of_mpi4py_programs_move() -> None:
    ask = "from mpi4py import MPI; print(MPI.Get_library_version())"
    version = subprocess.run(
        [sys.executable, "-c", ask], capture_output=True, text=True, check=True
    )
    of = {"Open MPI v4": OPEN_MPI_4, "Open MPI v5": MPIS[2], "MPICH": MPICH}
    [mpi] = [mpi for name, mpi in of.items() if version.stdout.startswith(name)]
    compiler = need(mpi.compilers[".c"], mpi.install)
    program = SOURCES / "balance_numbers.py"
    done = run_to_end(mpi.command(3, sys.executable, program, compiler))
    assert done.returncode == 0, done.stderr
    assert done.stdout == (
        "tasks of shape (2,); the plan has 1 tasks; "
        "tasks of type object have no fixed size in bytes; "
        "the sum of sizes is 1, or one is negative; there are 2 elements; "
        "decide must be one of fastest, gathered, by-messages, not 'quickly'; "
        "a receiver is not another rank of the communicator; "
        "rank 0 has a load of -1; loads are at least 0; "
        "no balancer 'alais' (did you mean 'alias'?); there are: auto, alias, sweep, "
        "qwalk, curve, transport, diffusion, integer-diffusion, laplacian; "
        "ranks 0 and 1 share slot 0 of torus:2x2: each rank needs its own\n"
    )
