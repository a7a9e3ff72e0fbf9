# SPDX-License-Identifier: BSD-3-Clause
"""Streams of small items for programs that use mpi4py: arrays in, arrays out."""

from __future__ import annotations

import ctypes
import functools
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from topoloom._core import Error
from topoloom.mpi.library_loader import c_handle, load_library, on_all_ranks

_STOPPED = -2  # TOPOLOOM_STREAM_STOPPED
_AUTO = -1  # TOPOLOOM_STREAM_AUTO
_HANDLER = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int
)
_MOST_BYTES = 2**31 - 1
_NUMBERS = "iufc"  # kinds of dtypes whose values can be compared across types
#: What a handler of any stream has raised, from there to the call that delivers.
_raised = threading.local()
#: C calls their handlers until they are closed.
_open_streams: set[Stream] = set()


class Stream:
    """Items of one type that ranks push to each other, in buckets.

    Making it is collective.
    In a phase ranks push items; it ends when all ranks wait and all items have come.
    In a ``with`` block, an exception abandons the stream: nothing of it is delivered
    any more, and ranks that wait for this one notice by `stall_timeout` only.
    Each comes once, in the order of the pushes from one rank to another. Items are
    delivered in `push`, `progress` and `wait`, of all streams of the process.
    libtopoloom-stream is compiled for mpi4py's MPI when first used, and cached.

    Parameters
    ----------
    comm : mpi4py.MPI.Intracomm
        Of which the stream has a private duplicate.
    dtype
        Of an item, also a structured one. The same on all ranks.
    handler
        Called with arrays of items that have come; shape ``(n,)``, read-only, and gone
        when it returns. It may push. Without it, `pull` and `wait` return them.
    bucket_bytes, memory_bytes, flush_timeout, stall_timeout
        As in ``topoloom_stream.h``: bytes and seconds; 0: the default.
    dimensions
        Of the virtual mesh: 1, direct, to 4; ``"auto"``: chosen for each phase by what
        was pushed in the one before, with buckets and timeout where these are 0.
    alpha, beta
        Seconds of a message and of a byte, by which ``"auto"`` chooses; 0: measured.
    mpicc
        Compiler of mpi4py's MPI; default: the one that mpi4py names, else on PATH.

    Raises
    ------
    topoloom.Error
        If items have no fixed size in bytes, or the library cannot be compiled.
    mpi4py.MPI.Exception
        If an option is wrong; its `why` says what.
    """

    def __init__(
        self,
        comm: Any,
        dtype: DTypeLike,
        handler: Callable[[NDArray[Any]], object] | None = None,
        *,
        bucket_bytes: int = 0,
        memory_bytes: int = 0,
        flush_timeout: float = 0,
        dimensions: int | Literal["auto"] = 1,
        stall_timeout: float = 0,
        alpha: float = 0,
        beta: float = 0,
        mpicc: str | None = None,
    ) -> None:
        from topoloom.preload.streams import build_streams

        self._stream = ctypes.c_void_p()
        self._size = comm.size
        self._dtype = on_all_ranks(comm, lambda: _checked(np.dtype(dtype)))
        self._library = load_library(comm, build_streams, mpicc)
        self._come: list[NDArray[Any]] = []
        self._handle = handler or (lambda items: self._come.append(items.copy()))
        self._callback = _HANDLER(self._take)
        options = _Options(
            bucket_bytes,
            memory_bytes,
            flush_timeout,
            _AUTO if dimensions == "auto" else dimensions,
            None,
            None,
            stall_timeout,
            alpha,
            beta,
        )
        self._check(
            self._library.topoloom_stream_create(
                c_handle(comm),
                ctypes.c_int(self._dtype.itemsize),
                self._callback,
                None,
                ctypes.byref(options),
                ctypes.byref(self._stream),
            )
        )
        _open_streams.add(self)

    def push(self, items: ArrayLike, ranks: ArrayLike) -> None:
        """Push items, each to its rank, or all to one.

        Parameters
        ----------
        items
            Shape ``(n,)``, of the stream's type or of one of the same kind.
        ranks
            Shape ``(n,)``, or one number.

        Raises
        ------
        topoloom.Error
            If there is no such rank, or shapes, types or values do not fit; nothing
            is pushed.
        mpi4py.MPI.Exception
            If this rank waits already; its `why` says so.
        ValueError
            If the stream is closed, for this and all other calls but `close`.
        """
        self._open()
        given = np.atleast_1d(np.asarray(items))
        are_numbers = given.dtype.kind in _NUMBERS and self._dtype.kind in _NUMBERS
        casting: Literal["same_kind", "safe"] = "same_kind" if are_numbers else "safe"
        if given.ndim != 1 or not np.can_cast(given.dtype, self._dtype, casting):
            raise Error(
                f"items of type {given.dtype} and shape {given.shape}; the stream has "
                f"{self._dtype} in one axis"
            )
        given = _cast(given, self._dtype)
        targets = np.asarray(ranks)
        if targets.dtype.kind not in "iu" or targets.shape not in ((), given.shape):
            raise Error(
                f"ranks of type {targets.dtype} and shape {targets.shape} for items of "
                f"shape {given.shape}"
            )
        if targets.size and not 0 <= targets.min() <= targets.max() < self._size:
            low, high = targets.min(), targets.max()
            raise Error(f"ranks {low} to {high}, and there are 0 to {self._size - 1}")
        targets = np.ascontiguousarray(
            np.broadcast_to(targets, given.shape), dtype=np.intc
        )
        self._push(given, targets)

    def pull(self) -> NDArray[Any]:
        """Return what has come since the last call, without waiting; shape ``(n,)``."""
        self.progress()
        return self._taken()

    def flush(self) -> None:
        """Send what waits in buckets."""
        self._check(self._library.topoloom_stream_flush(self._open()))

    def done(self) -> None:
        """Push no more in this phase; a handler may."""
        self._check(self._library.topoloom_stream_done(self._open()))

    def progress(self) -> bool:
        """Deliver and send what can be; whether the phase has ended, said once."""
        ended = ctypes.c_int()
        call = self._library.topoloom_stream_progress
        self._check(call(self._open(), ctypes.byref(ended)))
        return ended.value != 0

    def wait(self) -> NDArray[Any]:
        """Push no more, wait for the end of the phase, and return what `pull` would.

        Raises what a handler has raised; what it has not seen comes to it when `wait`
        is called again.
        """
        self._check(self._library.topoloom_stream_wait(self._open()))
        return self._taken()

    def settings(self) -> tuple[int, int, float]:
        """Return dimensions, bucket bytes and flush timeout in s of the next phase."""
        dimensions, size, timeout = ctypes.c_int(), ctypes.c_int(), ctypes.c_double()
        self._check(
            self._library.topoloom_stream_get_settings(
                self._open(),
                ctypes.byref(dimensions),
                ctypes.byref(size),
                ctypes.byref(timeout),
            )
        )
        return dimensions.value, size.value, timeout.value

    def close(self) -> None:
        """Free the stream. Collective, between two phases."""
        if self._stream:
            call = self._library.topoloom_stream_free
            self._check(call(ctypes.byref(self._stream)))
        _open_streams.discard(self)

    def __enter__(self) -> Stream:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        failure: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # After an error others may be in the middle of the phase.
        if failure is None:
            self.close()
        elif self._stream:
            call = self._library.topoloom_stream_abandon
            self._check(call(ctypes.byref(self._stream)))
            _open_streams.discard(self)

    def _open(self) -> ctypes.c_void_p:
        if not self._stream:
            raise ValueError("the stream is closed")
        return self._stream

    def _push(self, items: NDArray[Any], ranks: NDArray[np.intc]) -> None:
        """Push all, also where a handler fails meanwhile."""
        begin, failure = 0, None
        while begin < items.size:
            pushed = ctypes.c_longlong()
            status = self._library.topoloom_stream_push_many(
                self._open(),
                ctypes.c_void_p(items[begin:].ctypes.data),
                ctypes.c_void_p(ranks[begin:].ctypes.data),
                ctypes.c_longlong(items.size - begin),
                ctypes.byref(pushed),
            )
            begin += pushed.value
            try:
                self._check(status)
            except BaseException as error:
                if status != _STOPPED:
                    raise
                failure = failure or error
        if failure is not None:
            raise failure

    def _take(self, context: int | None, items: int, count: int) -> int:
        memory = (ctypes.c_char * (count * self._dtype.itemsize)).from_address(items)
        array: NDArray[Any] = np.frombuffer(memoryview(memory), self._dtype)
        array.flags.writeable = False
        try:
            self._handle(array)
        except BaseException as error:  # C cannot pass it on
            _raised.failure = error
            return ~count
        return count

    def _taken(self) -> NDArray[Any]:
        come, self._come = self._come, []
        return np.concatenate(come) if come else np.empty(0, self._dtype)

    def _check(self, status: int) -> None:
        from mpi4py import MPI

        failure: BaseException | None = getattr(_raised, "failure", None)
        if status == _STOPPED and failure is not None:
            del _raised.failure
            raise failure
        if status != MPI.SUCCESS:
            self._library.topoloom_stream_error.restype = ctypes.c_char_p
            why = self._library.topoloom_stream_error(ctypes.c_int(status)).decode()
            raise _error_class()(status, why)


class _Options(ctypes.Structure):
    """Of topoloom_stream.h."""

    _fields_ = (
        ("bucket_bytes", ctypes.c_int),
        ("memory_bytes", ctypes.c_longlong),
        ("flush_timeout", ctypes.c_double),
        ("dimensions", ctypes.c_int),
        ("extents", ctypes.c_void_p),
        ("order", ctypes.c_void_p),
        ("stall_timeout", ctypes.c_double),
        ("alpha", ctypes.c_double),
        ("beta", ctypes.c_double),
    )


def _checked(dtype: np.dtype[Any]) -> np.dtype[Any]:
    if dtype.hasobject or dtype.itemsize == 0:
        raise Error(f"items of type {dtype} have no fixed size in bytes")
    if dtype.itemsize > _MOST_BYTES:
        raise Error(f"items of {dtype.itemsize} B are beyond {_MOST_BYTES} B")
    return dtype


def _cast(given: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Give items of the stream's type, refusing values beyond its range."""
    if np.can_cast(given.dtype, dtype, "safe"):
        return np.ascontiguousarray(given, dtype)
    with np.errstate(over="ignore"):
        cast = np.ascontiguousarray(given, dtype)
    if dtype.kind in "iu":
        is_beyond = cast != given
    else:
        is_beyond = np.isfinite(given) & ~np.isfinite(cast)
    if is_beyond.any():
        raise Error(f"an item of {given[is_beyond][0]} is beyond {dtype}")
    return cast


@functools.cache
def _error_class() -> Any:
    """Make a class of mpi4py's exceptions, which is there once it is imported."""
    from mpi4py import MPI

    class StreamError(MPI.Exception):
        """With `why`, empty where the error is MPI's own."""

        def __new__(cls, status: int, why: str) -> StreamError:
            return super().__new__(cls, status)

        def __init__(self, status: int, why: str) -> None:
            super().__init__(status)
            self.why = why

        def __str__(self) -> str:
            text = MPI.Exception.__str__(self)
            return f"{self.why} ({text})" if self.why else text

    return StreamError
