# SPDX-License-Identifier: BSD-3-Clause
"""Loads what is compiled for mpi4py's MPI, on all processes or on none."""

from __future__ import annotations

import ctypes
import functools
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar, cast

from topoloom._core import Error

T = TypeVar("T")


def on_all_ranks(comm: Any, act: Callable[[], T]) -> T:
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


def load_library(
    comm: Any, build: Callable[[Path], Path], mpicc: str | None
) -> ctypes.CDLL:
    """Compile on rank 0 alone, unless others do not see its cache. Collective.

    Raises
    ------
    topoloom.Error
        On all processes, if on any of them the library cannot be compiled, or is for
        another MPI than mpi4py's.
    """
    from mpi4py import MPI

    def built() -> Path:
        return build(_compiler(mpicc))

    own = on_all_ranks(comm, lambda: built() if comm.rank == 0 else None)
    path = comm.bcast(own)
    version = MPI.Get_library_version()
    return on_all_ranks(
        comm, lambda: _library(path if path.exists() else built(), version)
    )


def load_library_once(
    comm: Any, build: Callable[[Path], Path], mpicc: str | None = None
) -> ctypes.CDLL:
    """Load it at the first call on a communicator, since all processes must agree."""
    key = _key(build)
    library: ctypes.CDLL | None = comm.Get_attr(key)
    if library is None:
        library = load_library(comm, build, mpicc)
        comm.Set_attr(key, library)
    return library


def c_handle(of: Any) -> Any:
    """Give a handle of mpi4py, such as a communicator, as C has it."""
    from mpi4py import MPI

    kind: Any = ctypes.c_int if MPI._sizeof(type(of)) == 4 else ctypes.c_void_p
    return kind(kind.from_address(MPI._addressof(of)).value)


@functools.cache
def _key(build: Callable[[Path], Path]) -> int:
    from mpi4py import MPI

    return int(MPI.Comm.Create_keyval())


def _compiler(mpicc: str | None) -> Path:
    import mpi4py

    name = mpicc or mpi4py.get_config().get("mpicc") or "mpicc"
    found = shutil.which(name)
    if found is None:
        raise Error(f"there is no compiler '{name}'; name that of mpi4py's MPI")
    return Path(found)


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
