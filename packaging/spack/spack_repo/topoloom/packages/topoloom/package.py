# SPDX-License-Identifier: BSD-3-Clause
from pathlib import Path

from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import *


class Topoloom(CMakePackage):
    """Libraries that place MPI ranks: libtopoloom, and libtopoloom-mpi for one MPI."""

    # The checkout with this recipe.
    git = f"file://{Path(__file__).parents[6]}"
    license("BSD-3-Clause")

    version("main", branch="main")
    version("0.1.0", tag="v0.1.0")

    variant("mpi", default=True, description="Build libtopoloom-mpi")
    variant("fortran", default=True, when="+mpi", description="Build the Fortran modules")

    depends_on("c", type="build", when="+mpi")
    depends_on("cxx", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("cmake@3.22:", type="build")
    depends_on("mpi@3:", when="+mpi")

    def cmake_args(self):
        args = [self.define_from_variant("TOPOLOOM_MPI", "mpi")]
        if self.spec.satisfies("+mpi~fortran"):
            args.append(self.define("CMAKE_Fortran_COMPILER", "NOTFOUND"))
        return args
