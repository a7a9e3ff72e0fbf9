# SPDX-License-Identifier: BSD-3-Clause
"""For programs that use mpi4py: communicators in a better order."""

from __future__ import annotations

import ctypes
import functools
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from topoloom._core import Error


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
        found, the order is the old one; what went wrong stands on standard error.

    Raises
    ------
    topoloom.Error
        If the library cannot be compiled, or is for another MPI than mpi4py's.
    """
    from mpi4py import MPI

    ranks = np.ascontiguousarray(neighbors, np.intc)
    amounts = np.ascontiguousarray(np.ones_like(ranks) if bytes is None else bytes)
    if ranks.ndim != 1 or amounts.shape != ranks.shape:
        raise Error("neighbors and bytes must be two lists of one length")
    amounts = amounts.astype(np.int64)
    library = _library(_built(comm, mpicc), MPI.Get_library_version())
    handle = ctypes.c_int if MPI._sizeof(MPI.Comm) == 4 else ctypes.c_void_p
    made = MPI.Intracomm()
    status = library.topoloom_comm_reorder(
        handle.from_address(MPI._addressof(comm)),
        ctypes.c_int(len(ranks)),
        ranks.ctypes.data_as(ctypes.c_void_p),
        amounts.ctypes.data_as(ctypes.c_void_p),
        None if options is None else options.encode(),
        ctypes.c_void_p(MPI._addressof(made)),
    )
    if status != MPI.SUCCESS:
        raise MPI.Exception(status)
    return made


def _built(comm: Any, mpicc: str | None) -> Path:
    """Compile on rank 0 alone, unless others do not see its cache."""
    failure, library = None, None
    if comm.rank == 0:
        try:
            library = _build(mpicc)
        except Error as error:
            failure = str(error)
    failure, library = comm.bcast((failure, library))
    if failure is not None:
        raise Error(failure)
    assert library is not None
    return library if library.exists() else _build(mpicc)


def _build(mpicc: str | None) -> Path:
    import mpi4py

    from topoloom.reorder import build_reorderer

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
