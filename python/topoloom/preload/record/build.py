# SPDX-License-Identifier: BSD-3-Clause
"""The recorder for an MPI: ``mpi/record`` and the wrappers made for its calls."""

from __future__ import annotations

from pathlib import Path

from topoloom.preload.record.wrappers import wrappers
from topoloom.preload.shim import build_shim
from topoloom.support.resources import find_shipped


def build_recorder(compiler: Path) -> Path:
    """Return the recorder's library for the MPI of `compiler`, compiled if need be."""
    table = (find_shipped("mpi/record") / "calls.txt").read_text()
    return build_shim("record", compiler, lambda header: wrappers(table, header))
