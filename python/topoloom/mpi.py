# SPDX-License-Identifier: BSD-3-Clause
"""For programs that use mpi4py: communicators in a better order."""

from __future__ import annotations

import builtins
import ctypes
import functools
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topoloom._core import Error

T = TypeVar("T")


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

    ranks, amounts, words = _everywhere(
        comm, lambda: _arguments(neighbors, bytes, options)
    )
    library = _loaded(comm, mpicc, MPI.Get_library_version())
    handle = ctypes.c_int if MPI._sizeof(MPI.Comm) == 4 else ctypes.c_void_p
    made = MPI.Intracomm()
    status = library.topoloom_comm_reorder(
        handle.from_address(MPI._addressof(comm)),
        ctypes.c_int(len(ranks)),
        ranks.ctypes.data_as(ctypes.c_void_p),
        amounts.ctypes.data_as(ctypes.c_void_p),
        words,
        ctypes.c_void_p(MPI._addressof(made)),
    )
    if status != MPI.SUCCESS:
        raise MPI.Exception(status)
    return made


def _everywhere(comm: Any, act: Callable[[], T]) -> T:
    """Do the same on all processes; if one fails, all fail, as others would wait."""
    from mpi4py import MPI

    failure, result = "", None
    try:
        result = act()
    except Exception as error:
        failure = f"rank {comm.rank}: {error or type(error).__name__}"
    failure = comm.allreduce(failure, MPI.MAX)
    if failure:
        raise Error(failure)
    return cast(T, result)


def _arguments(
    neighbors: ArrayLike, bytes: ArrayLike | None, options: str | None
) -> tuple[NDArray[np.intc], NDArray[np.int64], builtins.bytes | None]:
    ranks = np.ascontiguousarray(neighbors, np.intc)
    amounts = np.ascontiguousarray(np.ones_like(ranks) if bytes is None else bytes)
    if ranks.ndim != 1 or amounts.shape != ranks.shape:
        raise Error("neighbors and bytes must be two lists of one length")
    return ranks, amounts.astype(np.int64), options.encode() if options else None


def _loaded(comm: Any, mpicc: str | None, version: str) -> ctypes.CDLL:
    """Compile on rank 0 alone, unless others do not see its cache."""
    own = _everywhere(comm, lambda: _build(mpicc) if comm.rank == 0 else None)
    path = comm.bcast(own)
    return _everywhere(
        comm, lambda: _library(path if path.exists() else _build(mpicc), version)
    )


def _build(mpicc: str | None) -> Path:
    import mpi4py

    from topoloom.preload.reorder import build_reorderer

    name = mpicc or mpi4py.get_config().get("mpicc") or "mpicc"
    found = shutil.which(name)
    if found is None:
        raise Error(f"there is no compiler '{name}'; name that of mpi4py's MPI")
    return build_reorderer(Path(found))


@functools.cache
def _library(path: Path, expected: str) -> ctypes.CDLL:
    library = ctypes.CDLL(str(path))
    text, length = ctypes.create_string_buffer(8192), ctypes.c_int()
    library.MPI_Get_library_version(text, ctypes.byref(length))
    if _first_words(text.value.decode()) != _first_words(expected):
        raise Error(
            f"mpi4py runs on {' '.join(_first_words(expected))}, but mpicc is of "
            f"{' '.join(_first_words(text.value.decode()))}; name the right mpicc"
        )
    return library


def _first_words(version: str) -> Sequence[str]:
    return version.replace(",", " ").split()[:3]
