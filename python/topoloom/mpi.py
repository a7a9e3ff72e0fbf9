# SPDX-License-Identifier: BSD-3-Clause
"""For programs that use mpi4py: collectives, communicators in a better order."""

from __future__ import annotations

import builtins
import ctypes
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topoloom._core import Error
from topoloom.mpi_collectives import (
    allgather,
    allreduce,
    alltoall,
    barrier,
    bcast,
    exscan,
    gather,
    reduce,
    reduce_scatter_block,
    scan,
    scatter,
)
from topoloom.mpi_library import everywhere, handle, loaded

__all__ = [
    "allgather",
    "allreduce",
    "alltoall",
    "barrier",
    "bcast",
    "exscan",
    "gather",
    "reduce",
    "reduce_scatter_block",
    "reorder",
    "scan",
    "scatter",
]


def reorder(
    comm: Any,
    neighbors: ArrayLike,
    bytes: ArrayLike | None = None,
    *,
    options: str | None = None,
    mpicc: str | None = None,
) -> Any:
    """Return a communicator of the same processes in a better order. Collective.

    libtopoloom-mpi is compiled for mpi4py's MPI when first used, and cached.

    Parameters
    ----------
    comm : mpi4py.MPI.Intracomm
        Whose processes to reorder.
    neighbors
        Ranks to which the rank that this process is now would send; shape ``(n,)``.
    bytes
        How much it would send to each, in bytes; shape ``(n,)``. Default: 1 each.
    options
        As in ``topoloom_mpi.h``, such as ``"machine=FILE,report=1"``; those of rank 0
        count.
    mpicc
        Compiler of mpi4py's MPI; default: the one that mpi4py names, else on PATH.

    Returns
    -------
    mpi4py.MPI.Intracomm
        In it each process does the work of its new rank. Where no better order can be
        found, the order is the old one; what went wrong is reported on standard error.

    Raises
    ------
    topoloom.Error
        On all processes, if on any of them an argument is wrong, or the library cannot
        be compiled, or is for another MPI than mpi4py's.
    """
    from mpi4py import MPI

    from topoloom.preload.reorder import build_reorderer

    ranks, amounts, words = everywhere(
        comm, lambda: _arguments(neighbors, bytes, options)
    )
    library = loaded(comm, build_reorderer, mpicc)
    made = MPI.Intracomm()
    status = library.topoloom_comm_reorder(
        handle(comm),
        ctypes.c_int(len(ranks)),
        ranks.ctypes.data_as(ctypes.c_void_p),
        amounts.ctypes.data_as(ctypes.c_void_p),
        words,
        ctypes.c_void_p(MPI._addressof(made)),
    )
    if status != MPI.SUCCESS:
        raise MPI.Exception(status)
    return made


def _arguments(
    neighbors: ArrayLike, bytes: ArrayLike | None, options: str | None
) -> tuple[NDArray[np.intc], NDArray[np.int64], builtins.bytes | None]:
    ranks = np.ascontiguousarray(neighbors, np.intc)
    amounts = np.ascontiguousarray(np.ones_like(ranks) if bytes is None else bytes)
    if ranks.ndim != 1 or amounts.shape != ranks.shape:
        raise Error("neighbors and bytes must be two lists of one length")
    return ranks, amounts.astype(np.int64), options.encode() if options else None
