# SPDX-License-Identifier: BSD-3-Clause
"""Builds the recorder library for an MPI from ``mpi/record`` and generated wrappers."""

from __future__ import annotations

from pathlib import Path

from topoloom.preload.record.wrappers import generate_wrappers
from topoloom.preload.shim import build_shim
from topoloom.support.resources import find_shipped_folder


def build_recorder(compiler: Path) -> Path:
    """Return the recorder library for the MPI of `compiler`, compiled if necessary."""
    table = (find_shipped_folder("mpi/record") / "calls.txt").read_text(
        encoding="utf-8"
    )
    return build_shim(
        "record", compiler, lambda header: generate_wrappers(table, header)
    )
