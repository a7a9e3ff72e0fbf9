# SPDX-License-Identifier: BSD-3-Clause
"""libtopoloom-balance for the MPI of mpi4py."""

from __future__ import annotations

from pathlib import Path

from topoloom.preload.shim import build_library
from topoloom.support.resources import find_shipped, need_core_library


def build_balancing(compiler: Path) -> Path:
    """Return libtopoloom-balance for the MPI of `compiler`, compiled if necessary.

    Raises `topoloom.Error` if the compiler fails, or this installation has no
    libtopoloom.
    """
    capi = find_shipped("core/topoloom/capi")
    return build_library(
        "balance",
        compiler,
        folders=["mpi/errors"],
        libraries=[need_core_library()],
        headers=[capi / name for name in ("topoloom.h", "topoloom_balancers.h")],
    )
