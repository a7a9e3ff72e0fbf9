# SPDX-License-Identifier: BSD-3-Clause
from spack_repo.builtin.packages.py_click.package import PyClick as BuiltinPyClick

from spack.package import *


class PyClick(BuiltinPyClick):
    """A newer version than the builtin package had in July 2026 (8.3.1)."""

    version("8.5.1", sha256="9bbfada76703fd1d784b83eea012e3e8c6a001a876543ef104fa56aaaeb072b4")

    depends_on("py-flit-core@3.11:3", when="@8.5:", type="build")
