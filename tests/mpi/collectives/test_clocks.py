# SPDX-License-Identifier: BSD-3-Clause
"""The clocks of ranks are put beside each other, whatever they show."""

from __future__ import annotations

from pathlib import Path

import pytest
from built_libraries import ROOT, run
from recorded import MPICH, OPEN_MPI_4, PROGRAMS, Mpi, need

SOURCE = PROGRAMS / "collectives/skewed_clocks.c"


@pytest.mark.parametrize("mpi", [OPEN_MPI_4, MPICH], ids=lambda mpi: mpi.name)
@pytest.mark.parametrize("ranks", [2, 5])
def test_clocks_hours_apart_that_drift_agree(
    mpi: Mpi, ranks: int, tmp_path: Path
) -> None:
    program = tmp_path / "clocks"
    room = ROOT / "mpi/trace"
    compiler = need(mpi.compilers[".c"], mpi.install)
    run([compiler, "-w", f"-I{room}", SOURCE, room / "clock.c", "-o", program, "-lm"])
    common, back = map(float, run(mpi.command(ranks, program)).split())
    # Without their drift they would be 0.05 s apart, and more; messages take far less.
    assert common < 0.04
    assert back < 1e-6
