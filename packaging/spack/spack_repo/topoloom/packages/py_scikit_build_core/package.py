# SPDX-License-Identifier: BSD-3-Clause
from spack_repo.builtin.packages.py_scikit_build_core.package import (
    PyScikitBuildCore as BuiltinPyScikitBuildCore,
)

from spack.package import *


class PyScikitBuildCore(BuiltinPyScikitBuildCore):
    """A newer version than the builtin package had in July 2026 (0.12.2)."""

    version("1.1.2", sha256="7893709119c5ab1be75cd10442383132c9433b9f104dacef5185949efbea7974")
