# SPDX-License-Identifier: BSD-3-Clause
"""The clocks of ranks are put beside each other, whatever they show."""

from __future__ import annotations

from pathlib import Path

import pytest
from built_libraries import ROOT, run
from recorded import MPICH, OPEN_MPI_4, PROGRAMS, Mpi, need

SOURCE = PROGRAMS / "collectives/skewed_clocks.c"


@pytest.mark.parametrize("mpi", [OPEN_MPI_4, MPICH], ids=lambda mpi: mpi.name)
@pytest.mark.parametrize(("ranks", "drift"), [(2, 0.5), (5, 0)])
def test_clocks_hours_apart_that_drift_agree(
    mpi: Mpi, ranks: int, drift: float, tmp_path: Path
) -> None:
    program = tmp_path / "clocks"
    room = ROOT / "mpi/timing"
    compiler = need(mpi.compilers[".c"], mpi.install)
    run([compiler, "-w", f"-I{room}", SOURCE, room / "clock.c", "-o", program, "-lm"])
    common, back = map(float, run(mpi.command(ranks, program, drift)).split())
    # If nobody knew of the drift they would be 0.5 s apart; messages take far less.
    assert common < 0.2
    assert back < 1e-6
