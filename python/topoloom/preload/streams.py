# SPDX-License-Identifier: BSD-3-Clause
"""libtopoloom-stream for the MPI of mpi4py."""

from __future__ import annotations

from pathlib import Path

from topoloom.preload.shim import build_library


def build_streams(compiler: Path) -> Path:
    """Return libtopoloom-stream for the MPI of `compiler`, compiled if necessary.

    Raises `topoloom.Error` if the compiler fails.
    """
    return build_library("stream", compiler, folders=["mpi/errors"])
