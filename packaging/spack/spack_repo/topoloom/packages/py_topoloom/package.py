# SPDX-License-Identifier: BSD-3-Clause
from pathlib import Path

from spack_repo.builtin.build_systems.python import PythonPackage

from spack.package import *


class PyTopoloom(PythonPackage):
    """Decides which rank of an MPI program runs on which core."""

    # The checkout with this recipe.
    git = f"file://{Path(__file__).parents[6]}"
    license("BSD-3-Clause")

    version("main", branch="main")
    version("0.1.0", tag="v0.1.0")

    variant("report", default=True, description="Figures and the HTML page")
    variant("bound", default=False, description="Lower bounds by linear programs")

    depends_on("cxx", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("ninja", type="build")
    depends_on("python@3.10:", type=("build", "run"))
    depends_on("py-scikit-build-core@1.1:", type="build")
    depends_on("py-nanobind@2.4:", type="build")
    depends_on("py-numpy@1.24:", type=("build", "run"))

    # The command line.
    depends_on("py-click@8.5:", type="run")
    depends_on("py-rich@13:", type="run")
    depends_on("py-defusedxml@0.7.1:", type="run")
    depends_on("py-pyyaml@6:", type="run")
    depends_on("py-tomli@2:", type="run", when="^python@:3.10")

    depends_on("py-jinja2@3.1:", type="run", when="+report")
    depends_on("py-matplotlib@3.7:", type="run", when="+report")
    depends_on("py-scipy@1.10:", type="run", when="+bound")
