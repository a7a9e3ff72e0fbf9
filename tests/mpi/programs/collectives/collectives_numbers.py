# SPDX-License-Identifier: BSD-3-Clause
"""Compares collectives of topoloom.mpi with those of mpi4py; run under mpirun."""

from __future__ import annotations

import sys

import numpy as np
from mpi4py import MPI

import topoloom
from topoloom import mpi

comm = MPI.COMM_WORLD
root = comm.size - 1
full = np.arange(2 * comm.size, dtype=np.float64) + 100.0 * comm.rank
pair = full[:2].copy()


def check_equal_results(
    name: str, send: object, like: np.ndarray, *more: object
) -> None:
    """Compare the data received by all ranks."""
    ours, theirs = np.full_like(like, -1), np.full_like(like, -1)
    getattr(mpi, name)(comm, send, ours, *more)
    getattr(comm, name.capitalize())(send, theirs, *more)
    if name == "exscan" and comm.rank == 0:
        return
    assert np.array_equal(ours, theirs), (name, comm.rank, ours, theirs)


for _ in range(2):
    mpi.barrier(comm)
    check_equal_results("alltoall", full, full)
    check_equal_results("allgather", pair, full)
    check_equal_results("gather", pair, full, root)
    check_equal_results("scatter", full, pair, root)
    for op in (MPI.SUM, MPI.MAX):
        for name in ("allreduce", "scan", "exscan"):
            check_equal_results(name, full, full, op)
        check_equal_results("reduce", full, full, op, root)
        check_equal_results("reduce_scatter_block", full, pair, op)
ours = full.copy()
mpi.allreduce(comm, MPI.IN_PLACE, ours)
assert np.array_equal(ours, comm.allreduce(full))
text = bytearray(b"said" if comm.rank == root else b"????")
mpi.bcast(comm, text, root)
assert text == b"said"
try:
    mpi.alltoall(comm, full[1:], full[1:].copy())
except topoloom.Error as error:
    message = str(error)
code = MPI.SUCCESS
try:
    mpi.bcast(comm, full, comm.size)
except MPI.Exception as error:
    code = error.Get_error_class()
assert code == MPI.ERR_ROOT
sys.stdout.write(f"equal; {message}\n")
