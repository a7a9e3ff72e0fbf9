# SPDX-License-Identifier: BSD-3-Clause
"""Renumbers MPI_COMM_WORLD in unmodified programs."""

from __future__ import annotations

from pathlib import Path

from topoloom.preload.shim import build_shim
from topoloom.preload.world.wrappers import generate_wrappers


def build_world_library(compiler: Path) -> Path:
    """Return the library that renumbers MPI_COMM_WORLD, for the MPI of `compiler`."""
    return build_shim("world", compiler, generate_wrappers, folders=["mpi/process_map"])
