# SPDX-License-Identifier: BSD-3-Clause
"""Creates mpi4py communicators with the same processes in another rank order."""

from __future__ import annotations

import builtins
import ctypes
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topoloom._core import Error
from topoloom.mpi.library_loader import (
    call_on_all_ranks,
    convert_to_c_handle,
    load_library,
)


def reorder(
    comm: Any,
    neighbors: ArrayLike,
    bytes: ArrayLike | None = None,
    *,
    options: str | None = None,
    mpicc: str | None = None,
) -> Any:
    """Return a communicator with the same processes in a better order. Collective.

    libtopoloom-mpi is compiled for mpi4py's MPI when first used, and cached.

    Parameters
    ----------
    comm : mpi4py.MPI.Intracomm
        The communicator to reorder.
    neighbors
        Ranks to which the current rank of this process sends; shape ``(n,)``.
    bytes
        Bytes sent to each neighbor; shape ``(n,)``. Default: 1 byte each.
    options
        Options of ``topoloom_mpi.h``, such as ``"machine=FILE,report=1"``; only the
        value on rank 0 is used.
    mpicc
        Compiler of mpi4py's MPI; default: from mpi4py's configuration, else mpicc.

    Returns
    -------
    mpi4py.MPI.Intracomm
        The new communicator; each process must do the work of its new rank. If no
        better order is found, the order is unchanged. Errors of the search are printed
        on standard error.

    Raises
    ------
    topoloom.Error
        On all processes, if an argument is wrong on one of them, the library cannot
        be compiled, or its MPI is not mpi4py's.
    """
    ranks, amounts, option_text = call_on_all_ranks(
        comm, lambda: _check_neighbors(neighbors, bytes, options)
    )
    return _create_communicator(
        comm,
        "reorder",
        mpicc,
        ctypes.c_int(len(ranks)),
        ranks.ctypes.data_as(ctypes.c_void_p),
        amounts.ctypes.data_as(ctypes.c_void_p),
        option_text,
    )


def remap(comm: Any, ranks: ArrayLike, *, mpicc: str | None = None) -> Any:
    """Return a communicator in which rank i is the process ``ranks[i]``. Collective.

    Parameters
    ----------
    comm : mpi4py.MPI.Intracomm
        The communicator to renumber.
    ranks
        Permutation of the ranks of `comm`; shape ``(comm.size,)``. Only the value on
        rank 0 is used; other ranks can pass None.
    mpicc
        As in `reorder`.

    Returns
    -------
    mpi4py.MPI.Intracomm
        The same processes in the new order.

    Raises
    ------
    topoloom.Error
        On all processes, if `ranks` is not a permutation, the library cannot be
        compiled, or its MPI is not mpi4py's.
    """
    order = call_on_all_ranks(
        comm, lambda: _check_permutation(ranks, comm.size, comm.rank == 0)
    )
    return _create_communicator(
        comm, "remap", mpicc, order.ctypes.data_as(ctypes.c_void_p)
    )


def order(comm: Any, options: str | None = None, *, mpicc: str | None = None) -> Any:
    """Return a communicator in a rank order for collectives. Collective.

    Parameters
    ----------
    comm : mpi4py.MPI.Intracomm
        The communicator to renumber.
    options
        Options of ``topoloom_comm_order`` in ``topoloom_mpi.h``, such as
        ``"order=standard|channel-aware,operation=scatter,bytes=65536"``, which
        minimizes the time of this scatter. Only the value on rank 0 is used; default:
        ``TOPOLOOM_ORDER``.
    mpicc
        As in `reorder`.

    Returns
    -------
    mpi4py.MPI.Intracomm
        The same processes in the new order.

    Raises
    ------
    topoloom.Error
        On all processes, if the library cannot be compiled, or its MPI is not mpi4py's.
    mpi4py.MPI.Exception
        On all processes, if an option or a file is invalid; rank 0 prints the reason on
        standard error.
    """
    option_text = call_on_all_ranks(comm, lambda: options.encode() if options else None)
    return _create_communicator(comm, "order", mpicc, option_text)


def _create_communicator(
    comm: Any, name: str, mpicc: str | None, *arguments: Any
) -> Any:
    """Call a function of libtopoloom-mpi that creates a communicator."""
    from mpi4py import MPI

    from topoloom.preload.mpi_library import build_reorder_library

    library = load_library(comm, build_reorder_library, mpicc)
    created = MPI.Intracomm()
    status = getattr(library, f"topoloom_comm_{name}")(
        convert_to_c_handle(comm), *arguments, ctypes.c_void_p(MPI._addressof(created))
    )
    if status != MPI.SUCCESS:
        raise MPI.Exception(status)
    return created


def _check_permutation(ranks: ArrayLike, size: int, is_root: bool) -> NDArray[np.intc]:
    if not is_root:
        return np.empty(0, np.intc)
    given = np.asarray(ranks)
    if given.dtype.kind not in "iu" or given.shape != (size,):
        raise Error(f"ranks must be a list of {size} integers, each rank once")
    if sorted(given.tolist()) != list(range(size)):
        raise Error(f"ranks must contain each rank from 0 to {size - 1} once")
    return np.ascontiguousarray(given, np.intc)


def _check_neighbors(
    neighbors: ArrayLike, bytes: ArrayLike | None, options: str | None
) -> tuple[NDArray[np.intc], NDArray[np.int64], builtins.bytes | None]:
    ranks = np.ascontiguousarray(neighbors, np.intc)
    amounts = np.ascontiguousarray(np.ones_like(ranks) if bytes is None else bytes)
    if ranks.ndim != 1 or amounts.shape != ranks.shape:
        raise Error("neighbors and bytes must be lists of equal length")
    return ranks, amounts.astype(np.int64), options.encode() if options else None
