# SPDX-License-Identifier: BSD-3-Clause
"""Renumbers MPI_COMM_WORLD inside unmodified programs."""

from __future__ import annotations

from pathlib import Path

from topoloom.preload.shim import build_shim
from topoloom.preload.world.wrappers import wrappers


def build_world(compiler: Path) -> Path:
    """Return the library that renumbers, for the MPI of `compiler`."""
    return build_shim("world", compiler, wrappers, folders=["mpi/process_map"])
