# SPDX-License-Identifier: BSD-3-Clause
"""Wrong arguments are errors of their communicator, whatever MPI_COMM_WORLD does."""

from __future__ import annotations

from pathlib import Path

import pytest
from built_libraries import run, with_collectives
from recorded import MPIS, PROGRAMS, Mpi

#: What is wrong with a call that all ranks make, by its name in the program.
MISTAKES = {
    "root": "root",
    "op": "operator",
    "op-of-type": "operator",
    "op-of-pairs": "operator",
    "uncommitted": "datatype",
    "bcast-in-place": "buffer",
    "into-in-place": "buffer",
    "gather-in-place": "buffer",
    "scatter-in-place": "buffer",
    # These are none: MPI allows the first, and some libraries the second.
    "freed": "none",
    "same": "none",
}


@pytest.mark.parametrize("mpi", MPIS, ids=lambda mpi: mpi.name)
def test_mistakes_end_no_program(mpi: Mpi, tmp_path: Path) -> None:
    program = with_collectives(mpi, PROGRAMS / "collectives/mistakes.c", tmp_path)
    for name, what in MISTAKES.items():
        assert " ".join([what] * 3) in run(mpi.command(3, program, name)), name
