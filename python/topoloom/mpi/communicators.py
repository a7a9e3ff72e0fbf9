# SPDX-License-Identifier: BSD-3-Clause
"""Communicators of the same processes in another rank order, for mpi4py."""

from __future__ import annotations

import builtins
import ctypes
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topoloom._core import Error
from topoloom.mpi.library_loader import c_handle, load_library, on_all_ranks


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
    ranks, amounts, words = on_all_ranks(
        comm, lambda: _arguments(neighbors, bytes, options)
    )
    return _made(
        comm,
        "reorder",
        mpicc,
        ctypes.c_int(len(ranks)),
        ranks.ctypes.data_as(ctypes.c_void_p),
        amounts.ctypes.data_as(ctypes.c_void_p),
        words,
    )


def remap(comm: Any, ranks: ArrayLike, *, mpicc: str | None = None) -> Any:
    """Return a communicator in which rank i is the process ``ranks[i]``. Collective.

    Parameters
    ----------
    comm : mpi4py.MPI.Intracomm
        Whose processes to number anew.
    ranks
        Each rank of `comm` once, in the new order; shape ``(comm.size,)``. That of
        rank 0 counts; others may give None.
    mpicc
        As of `reorder`.

    Returns
    -------
    mpi4py.MPI.Intracomm
        Of the same processes.

    Raises
    ------
    topoloom.Error
        On all processes, if `ranks` are none of these, or the library cannot be
        compiled, or is for another MPI than mpi4py's.
    """
    order = on_all_ranks(comm, lambda: _permutation(ranks, comm.size, comm.rank == 0))
    return _made(comm, "remap", mpicc, order.ctypes.data_as(ctypes.c_void_p))


def order(comm: Any, options: str | None = None, *, mpicc: str | None = None) -> Any:
    """Return a communicator in an order that suits collectives. Collective.

    Parameters
    ----------
    comm : mpi4py.MPI.Intracomm
        Whose processes to number anew.
    options
        As of ``topoloom_comm_order`` in ``topoloom_mpi.h``, such as
        ``"order=standard|channel-aware,operation=scatter,bytes=65536"``: the order in
        which that scatter takes the least time. Those of rank 0 count; by default they
        are in ``TOPOLOOM_ORDER``.
    mpicc
        As of `reorder`.

    Returns
    -------
    mpi4py.MPI.Intracomm
        Of the same processes.

    Raises
    ------
    topoloom.Error
        On all processes, if the library cannot be compiled, or is for another MPI than
        mpi4py's.
    mpi4py.MPI.Exception
        On all processes, if an option or a file is wrong; rank 0 reports on standard
        error what is.
    """
    words = on_all_ranks(comm, lambda: options.encode() if options else None)
    return _made(comm, "order", mpicc, words)


def _made(comm: Any, name: str, mpicc: str | None, *arguments: Any) -> Any:
    """Call a function of libtopoloom-mpi that makes a communicator."""
    from mpi4py import MPI

    from topoloom.preload.mpi_library import build_reorderer

    library = load_library(comm, build_reorderer, mpicc)
    made = MPI.Intracomm()
    status = getattr(library, f"topoloom_comm_{name}")(
        c_handle(comm), *arguments, ctypes.c_void_p(MPI._addressof(made))
    )
    if status != MPI.SUCCESS:
        raise MPI.Exception(status)
    return made


def _permutation(ranks: ArrayLike, size: int, counts: bool) -> NDArray[np.intc]:
    if not counts:
        return np.empty(0, np.intc)
    given = np.asarray(ranks)
    if given.dtype.kind not in "iu" or given.shape != (size,):
        raise Error(f"ranks must be a list of {size} integers, each rank once")
    if sorted(given.tolist()) != list(range(size)):
        raise Error(f"ranks must name each of 0 to {size - 1} once")
    return np.ascontiguousarray(given, np.intc)


def _arguments(
    neighbors: ArrayLike, bytes: ArrayLike | None, options: str | None
) -> tuple[NDArray[np.intc], NDArray[np.int64], builtins.bytes | None]:
    ranks = np.ascontiguousarray(neighbors, np.intc)
    amounts = np.ascontiguousarray(np.ones_like(ranks) if bytes is None else bytes)
    if ranks.ndim != 1 or amounts.shape != ranks.shape:
        raise Error("neighbors and bytes must be two lists of one length")
    return ranks, amounts.astype(np.int64), options.encode() if options else None
