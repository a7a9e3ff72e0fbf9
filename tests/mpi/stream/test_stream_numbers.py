# SPDX-License-Identifier: BSD-3-Clause
"""Programs with mpi4py push and receive arrays through streams."""

from __future__ import annotations

import subprocess
import sys

from mpis import MPICH, MPIS, OPEN_MPI_4, PROGRAMS, need, run_to_end


def test_arrays_arrive_complete_in_order_and_once() -> None:
    ask = "from mpi4py import MPI; print(MPI.Get_library_version())"
    version = subprocess.run(
        [sys.executable, "-c", ask], capture_output=True, text=True, check=True
    )
    of = {"Open MPI v4": OPEN_MPI_4, "Open MPI v5": MPIS[2], "MPICH": MPICH}
    [mpi] = [mpi for name, mpi in of.items() if version.stdout.startswith(name)]
    program = PROGRAMS / "stream" / "streams_numbers.py"
    compiler = need(mpi.compilers[".c"], mpi.install)
    # UCX warns on standard output of messages that are never received.
    command = mpi.command(3, sys.executable, program, compiler)
    done = run_to_end(command, UCX_LOG_LEVEL="error")
    assert done.returncode == 0, done.stderr
    expected = (
        "ranks 3 to 3, but there are 0 to 2; "
        "items of type complex128 and shape (1,); the stream has float64 in one axis; "
        "ranks of type int64 and shape (3,) for items of shape (2,); "
        "rank 2: items of type object have no fixed size in bytes; "
        "an item of 1099511627776 is beyond int32; "
        "an item of 1e+300 is beyond float32; "
        "this rank is done, and the phase has not ended; "
        "the stream is closed; the stream is closed; the stream is closed"
    )
    assert done.stdout.splitlines() == [expected] * 3
