# SPDX-License-Identifier: BSD-3-Clause
"""libtopoloom-mpi can be built, installed and linked by CMake and pkg-config."""

from __future__ import annotations

import subprocess
from pathlib import Path

from built_libraries import configure_and_build, installed
from built_programs import run
from mpis import MPICH, OPEN_MPI_4, PROGRAMS, Mpi, need
from reordered import read_messages, read_number, run_under_switches

CONSUMER = """\
cmake_minimum_required(VERSION 3.22)
project(consumer LANGUAGES C CXX Fortran)
find_package(MPI REQUIRED COMPONENTS CXX)
find_package(topoloom-mpi REQUIRED)
add_executable(c_program {programs}/reorder_pairs.c)
target_link_libraries(c_program topoloom::mpi)
add_executable(cxx_program {programs}/reorder_pairs.cpp)
target_link_libraries(cxx_program topoloom::mpi MPI::MPI_CXX)
add_executable(fortran_program {programs}/reorder_f08.F90)
target_compile_definitions(fortran_program PRIVATE MODULE)
target_link_libraries(fortran_program topoloom::mpi_fortran)
add_executable(verifying_program {programs}/verify.c)
target_link_libraries(verifying_program topoloom::mpi)
"""

CXX_CONSUMER = """\
cmake_minimum_required(VERSION 3.22)
project(consumer LANGUAGES CXX)
find_package(topoloom-mpi 0.1 REQUIRED)
add_executable(cxx_program {programs}/reorder_pairs.cpp)
target_link_libraries(cxx_program topoloom::mpi)
"""


def check_program(mpi: Mpi, program: Path) -> None:
    done = run_under_switches(mpi, (2, 2), [program])
    assert read_number(done, "moved") > 0


def test_cmake_finds_the_library(tmp_path: Path) -> None:
    mpi = MPICH
    (tmp_path / "CMakeLists.txt").write_text(CONSUMER.format(programs=PROGRAMS))
    build, prefix = tmp_path / "build", installed(mpi)
    configure_and_build(tmp_path, build, mpi, f"-DCMAKE_PREFIX_PATH={prefix}")
    for program in ("c_program", "cxx_program", "fortran_program"):
        check_program(mpi, build / program)
    alone = tmp_path / "alone"
    alone.mkdir()
    (alone / "CMakeLists.txt").write_text(CXX_CONSUMER.format(programs=PROGRAMS))
    configure_and_build(alone, alone, mpi, f"-DCMAKE_PREFIX_PATH={prefix}")
    check_program(mpi, alone / "cxx_program")
    other = need(OPEN_MPI_4.compilers[".cpp"], OPEN_MPI_4.install)
    of_another = f"-DMPI_CXX_COMPILER={other}"
    words = ["cmake", "-S", alone, "-B", tmp_path / "another", of_another]
    done = subprocess.run(
        [*words, f"-DCMAKE_PREFIX_PATH={prefix}"],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode != 0
    line = "it was built for MPICH, and this program is for Open MPI: set"
    assert line in " ".join(done.stderr.split())
    plan = tmp_path / "plan"
    plan.write_text("# rank host slot cpus gpu nic\n0 away 0 - - -\n1 away 1 - - -\n")
    output = run(mpi.command(2, build / "verifying_program", plan))
    assert output.count("planned on away") == 2


def test_pkg_config_finds_the_library(tmp_path: Path) -> None:
    mpi = OPEN_MPI_4
    prefix, program = installed(mpi), tmp_path / "program"
    for source, package in (
        ("reorder_f90.F90", "topoloom-mpi-fortran"),
        ("reorder_pairs.cpp", "topoloom-mpi"),
        ("reorder_pairs.c", "topoloom-mpi"),
    ):
        words = ["pkg-config", "--cflags", "--libs", package]
        flags = run(words, PKG_CONFIG_PATH=f"{prefix}/lib/pkgconfig").split()
        compiler = need(mpi.compilers[Path(source).suffix], mpi.install)
        run([compiler, "-DMODULE", PROGRAMS / source, "-o", program, *flags])
        check_program(mpi, program)
    done = run_under_switches(mpi, (2, 2), [program, "wrong"])
    assert read_number(done, "moved") == 0
    assert read_messages(done) == [
        "topoloom: not reordered: rank 3 has a peer outside the communicator, "
        "or negative bytes"
    ]
