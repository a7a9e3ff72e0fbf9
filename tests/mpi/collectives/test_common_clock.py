# SPDX-License-Identifier: BSD-3-Clause
"""Clocks of ranks are synchronized despite any offset and drift."""

from __future__ import annotations

from pathlib import Path

import pytest
from built_programs import ROOT, compile_program, run
from mpis import MPICH, OPEN_MPI_4, PROGRAMS, SIMGRID, Mpi, need
from simulated_hosts import hosts_options

from smpi import SETTINGS

SOURCE = PROGRAMS / "collectives/skewed_clocks.c"


def measure_clock_errors(
    mpi: Mpi, ranks: int, drift: float, *options: str, **names: str
) -> tuple[float, float]:
    """Return the errors of the common time and of its inverse, in seconds."""
    folder = ROOT / "mpi/timing"
    compiler = need(mpi.compilers[".c"], mpi.install)
    words = ["-w", f"-I{folder}", *(f"-D{name}={own}" for name, own in names.items())]
    sources = [SOURCE, folder / "clock.c"]
    program = compile_program("clocks", [compiler, *words, *sources, "-lm"])
    common, back = run(mpi.command(ranks, *options, program, drift)).split()
    return float(common), float(back)


@pytest.mark.parametrize("mpi", [OPEN_MPI_4, MPICH], ids=lambda mpi: mpi.name)
def test_clocks_with_offsets_of_hours_are_synchronized(mpi: Mpi) -> None:
    common, back = measure_clock_errors(mpi, 5, 0)
    assert common < 60  # offset: 4 h; messages wait until ranks get a core
    assert back < 1e-6


@pytest.mark.parametrize("ranks", [2, 5])
def test_drifting_clocks_are_synchronized_in_simulated_time(
    ranks: int, tmp_path: Path
) -> None:
    # Rename the replacements: SimGrid's launcher already defines the MPI names.
    own = {"PMPI_Wtime": "own_time", "PMPI_Comm_get_attr": "own_attribute"}
    options = hosts_options(tmp_path, ranks, SETTINGS)
    common, back = measure_clock_errors(
        SIMGRID, ranks, 0.5, *options, SIMULATED="1", **own
    )
    # Without drift correction, the clocks would differ by at least 0.5 s.
    assert common < 1e-3
    assert back < 1e-6
