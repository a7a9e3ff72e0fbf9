# SPDX-License-Identifier: BSD-3-Clause
"""Compiles and loads libraries for mpi4py's MPI, either on all processes or on none."""

from __future__ import annotations

import ctypes
import functools
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar, cast

from topoloom._core import Error

T = TypeVar("T")


def call_on_all_ranks(comm: Any, act: Callable[[], T]) -> T:
    """Call a function on all processes; if it fails on one, all processes raise."""
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
    """Compile and load a library. Collective.

    Raises
    ------
    topoloom.Error
        On all processes, if one of them cannot compile the library, or the library's
        MPI is not mpi4py's.
    """
    from mpi4py import MPI

    def compile_library() -> Path:
        return build(_find_compiler(mpicc))

    own = call_on_all_ranks(comm, lambda: compile_library() if comm.rank == 0 else None)
    path = comm.bcast(own)
    version = MPI.Get_library_version()
    return call_on_all_ranks(
        comm,
        lambda: _open_library(path if path.exists() else compile_library(), version),
    )


def load_library_once(
    comm: Any, build: Callable[[Path], Path], mpicc: str | None = None
) -> ctypes.CDLL:
    """Load a library when a communicator is first used, in a collective call."""
    key = _create_attribute_key(build)
    library: ctypes.CDLL | None = comm.Get_attr(key)
    if library is None:
        library = load_library(comm, build, mpicc)
        comm.Set_attr(key, library)
    return library


def convert_to_c_handle(handle: Any) -> Any:
    """Convert an mpi4py handle, such as a communicator, to a C handle."""
    from mpi4py import MPI

    kind: Any = ctypes.c_int if MPI._sizeof(type(handle)) == 4 else ctypes.c_void_p
    return kind(kind.from_address(MPI._addressof(handle)).value)


def raise_error(
    library: ctypes.CDLL, name: str, status: int, **attributes: Any
) -> None:
    """If `status` is an error, raise `error_class` with ``topoloom_NAME_error``'s text.

    The arguments `attributes` become attributes of the error.
    """
    from mpi4py import MPI

    if status != MPI.SUCCESS:
        function = getattr(library, f"topoloom_{name}_error")
        function.restype = ctypes.c_char_p
        raise error_class()(
            status, function(ctypes.c_int(status)).decode(), **attributes
        )


@functools.cache
def error_class() -> Any:
    """Make a subclass of mpi4py's exception; a function, because mpi4py is optional."""
    from mpi4py import MPI

    class LibraryError(MPI.Exception):
        """The error of a library call; `reason` is empty if MPI itself failed."""

        def __new__(cls, status: int, *_: Any, **attributes: Any) -> LibraryError:
            return super().__new__(cls, status)

        def __init__(self, status: int, reason: str, **attributes: Any) -> None:
            super().__init__(status)
            self.reason = reason
            vars(self).update(attributes)

        def __str__(self) -> str:
            text = MPI.Exception.__str__(self)
            return f"{self.reason} ({text})" if self.reason else text

    return LibraryError


@functools.cache
def _create_attribute_key(build: Callable[[Path], Path]) -> int:
    from mpi4py import MPI

    return int(MPI.Comm.Create_keyval())


def _find_compiler(mpicc: str | None) -> Path:
    import mpi4py

    name = mpicc or mpi4py.get_config().get("mpicc") or "mpicc"
    found = shutil.which(name)
    if found is None:
        raise Error(f"there is no compiler '{name}'; pass the compiler of mpi4py's MPI")
    return Path(found)


@functools.cache
def _open_library(path: Path, expected: str) -> ctypes.CDLL:
    library = ctypes.CDLL(str(path))
    text, length = ctypes.create_string_buffer(8192), ctypes.c_int()
    library.MPI_Get_library_version(text, ctypes.byref(length))
    if _parse_name_and_version(text.value.decode()) != _parse_name_and_version(
        expected
    ):
        raise Error(
            f"mpi4py runs on {' '.join(_parse_name_and_version(expected))}, but mpicc "
            f"uses {' '.join(_parse_name_and_version(text.value.decode()))}; pass the "
            "right mpicc"
        )
    return library


def _parse_name_and_version(version: str) -> Sequence[str]:
    return version.replace(",", " ").split()[:3]
