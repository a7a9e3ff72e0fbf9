# SPDX-License-Identifier: BSD-3-Clause
"""The recorder measures how long each rank is inside MPI calls."""

from __future__ import annotations

from pathlib import Path

import pytest
from mpis import MPIS, PROGRAMS, Mpi, build_program, record_run

from topoloom.graphs.mpi_time import load_mpi_time

#: Rank 0 sleeps this long; the others wait for it. They may enter MPI_Recv late on a
#: loaded host.
PAUSE = 2.0
LEAST_WAIT = 1.9


@pytest.mark.every_mpi
@pytest.mark.parametrize("mpi", MPIS, ids=lambda mpi: mpi.name)
def test_ranks_are_in_mpi_while_they_wait_but_not_while_they_sleep(
    mpi: Mpi, tmp_path: Path
) -> None:
    program = build_program(mpi, PROGRAMS / "unusual" / "times.c")
    profile = record_run(mpi, 3, program, PAUSE, folder=tmp_path)
    sleeper, waiter, two_waiters = (profile.run_seconds - profile.mpi_seconds).tolist()
    assert sleeper >= 0.99 * PAUSE
    assert (profile.mpi_seconds[1:] >= LEAST_WAIT).all()
    # Two threads that wait at the same time count once.
    assert min(waiter, two_waiters) >= 0
    assert profile.mpi_time is not None
    assert profile.mpi_time.share_at_most <= 1 - 0.99 * PAUSE / profile.mpi_time.run
    profile.save(tmp_path / "times.npz")
    assert load_mpi_time(tmp_path / "times.npz") == profile.mpi_time
