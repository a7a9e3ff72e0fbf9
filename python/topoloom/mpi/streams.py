# SPDX-License-Identifier: BSD-3-Clause
"""Aggregated streams of small items between ranks, for mpi4py programs."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from topoloom._core import Error
from topoloom.mpi.library_loader import (
    call_on_all_ranks,
    convert_to_c_handle,
    load_library,
    raise_error,
)

_STOPPED = -2  # TOPOLOOM_STREAM_STOPPED
_AUTO = -1  # TOPOLOOM_STREAM_AUTO
_HANDLER = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int
)
_MAX_BYTES = 2**31 - 1
_NUMBERS = "iufc"  # kinds of dtypes that can be converted to each other
#: Passes a handler's exception through C to the Python caller.
_handler_errors = threading.local()
#: Prevents garbage collection of open streams, because C calls their handlers.
_open_streams: set[Stream] = set()


class Stream:
    """A stream of items of one type between ranks, aggregated in buckets.

    The constructor is collective. A phase ends when all ranks wait and all items are
    delivered. Each item is delivered once; the items of a pair of ranks arrive in push
    order. `push`, `progress` and `wait` deliver the items of all streams of the
    process.

    An exception in a ``with`` block abandons the stream: it stops delivering, and ranks
    that wait for this rank fail after `stall_timeout`. libtopoloom-stream is compiled
    for mpi4py's MPI when first used, and cached.

    Parameters
    ----------
    comm : mpi4py.MPI.Intracomm
        The communicator, which the stream duplicates.
    dtype
        Type of an item, possibly structured; must be equal on all ranks.
    handler
        Called with read-only arrays of received items, shape ``(n,)``, valid until the
        handler returns. The handler can push. Without a handler, `pull` and `wait`
        return the items.
    bucket_bytes, memory_bytes, flush_timeout, stall_timeout
        As in ``topoloom_stream.h``, in bytes and seconds; 0 for the default.
    dimensions
        Number of dimensions of the virtual mesh, from 1 (direct) to 4. ``"auto"``
        chooses the number for each phase from the pushes of the previous phase, and
        likewise `bucket_bytes` and `flush_timeout` if they are 0.
    alpha, beta Seconds per message and per byte for ``"auto"``; if 0, they are
    measured. mpicc
        Compiler of mpi4py's MPI; default: from mpi4py's configuration, else mpicc.

    Raises
    ------
    topoloom.Error
        If items have no fixed size in bytes, or the library cannot be compiled.
    mpi4py.MPI.Exception
        If an option is invalid; `reason` describes the error.
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
        from topoloom.preload.mpi_library import build_stream_library

        self._stream = ctypes.c_void_p()
        self._size = comm.size
        self._dtype = call_on_all_ranks(comm, lambda: _check_item_type(np.dtype(dtype)))
        self._library = load_library(comm, build_stream_library, mpicc)
        self._received: list[NDArray[Any]] = []
        self._handle = handler or (lambda items: self._received.append(items.copy()))
        self._callback = _HANDLER(self._deliver_items)
        options = _OptionsStruct(
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
        self._check_status(
            self._library.topoloom_stream_create(
                convert_to_c_handle(comm),
                ctypes.c_int(self._dtype.itemsize),
                self._callback,
                None,
                ctypes.byref(options),
                ctypes.byref(self._stream),
            )
        )
        _open_streams.add(self)

    def push(self, items: ArrayLike, ranks: ArrayLike) -> None:
        """Push each item to its rank, or all items to one rank.

        Parameters
        ----------
        items
            Array of shape ``(n,)``, of the stream's type or a type of the same kind.
        ranks
            Target ranks of shape ``(n,)``, or one rank.

        Raises
        ------
        topoloom.Error
            If a rank, shape, type or value is invalid; nothing is pushed.
        mpi4py.MPI.Exception
            If this rank has already called `done` in the phase.
        ValueError If the stream is closed; all calls except `close` raise this.
        """
        self._get_open_stream()
        given = np.atleast_1d(np.asarray(items))
        are_numbers = given.dtype.kind in _NUMBERS and self._dtype.kind in _NUMBERS
        casting: Literal["same_kind", "safe"] = "same_kind" if are_numbers else "safe"
        if given.ndim != 1 or not np.can_cast(given.dtype, self._dtype, casting):
            raise Error(
                f"items of type {given.dtype} and shape {given.shape}; the stream has "
                f"{self._dtype} in one axis"
            )
        given = _convert_items(given, self._dtype)
        targets = np.asarray(ranks)
        if targets.dtype.kind not in "iu" or targets.shape not in ((), given.shape):
            raise Error(
                f"ranks of type {targets.dtype} and shape {targets.shape} for items of "
                f"shape {given.shape}"
            )
        if targets.size and not 0 <= targets.min() <= targets.max() < self._size:
            low, high = targets.min(), targets.max()
            raise Error(f"ranks {low} to {high}, but there are 0 to {self._size - 1}")
        targets = np.ascontiguousarray(
            np.broadcast_to(targets, given.shape), dtype=np.intc
        )
        self._push_arrays(given, targets)

    def pull(self) -> NDArray[Any]:
        """Return the items since the last call, without blocking; shape ``(n,)``."""
        self.progress()
        return self._pop_received_items()

    def flush(self) -> None:
        """Send all buckets, even if they are not full."""
        self._check_status(self._library.topoloom_stream_flush(self._get_open_stream()))

    def done(self) -> None:
        """End the pushes of this rank in the phase; handlers can still push."""
        self._check_status(self._library.topoloom_stream_done(self._get_open_stream()))

    def progress(self) -> bool:
        """Make progress; return True if the phase has ended since the last call."""
        ended = ctypes.c_int()
        call = self._library.topoloom_stream_progress
        self._check_status(call(self._get_open_stream(), ctypes.byref(ended)))
        return ended.value != 0

    def wait(self) -> NDArray[Any]:
        """Call `done`, wait for the end of the phase, and return the received items.

        Raises the exception of a handler; call `wait` again for the remaining items.
        """
        self._check_status(self._library.topoloom_stream_wait(self._get_open_stream()))
        return self._pop_received_items()

    def settings(self) -> tuple[int, int, float]:
        """Return the dimensions, bucket bytes and flush seconds for the next phase."""
        dimensions, size, timeout = ctypes.c_int(), ctypes.c_int(), ctypes.c_double()
        self._check_status(
            self._library.topoloom_stream_get_settings(
                self._get_open_stream(),
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
            self._check_status(call(ctypes.byref(self._stream)))
        _open_streams.discard(self)

    def __enter__(self) -> Stream:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        failure: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # After an error, other ranks can still be in the middle of the phase.
        if failure is None:
            self.close()
        elif self._stream:
            call = self._library.topoloom_stream_abandon
            self._check_status(call(ctypes.byref(self._stream)))
            _open_streams.discard(self)

    def _get_open_stream(self) -> ctypes.c_void_p:
        if not self._stream:
            raise ValueError("the stream is closed")
        return self._stream

    def _push_arrays(self, items: NDArray[Any], ranks: NDArray[np.intc]) -> None:
        """Push all items, even if a handler fails; then raise its exception."""
        begin, failure = 0, None
        while begin < items.size:
            pushed = ctypes.c_longlong()
            status = self._library.topoloom_stream_push_many(
                self._get_open_stream(),
                ctypes.c_void_p(items[begin:].ctypes.data),
                ctypes.c_void_p(ranks[begin:].ctypes.data),
                ctypes.c_longlong(items.size - begin),
                ctypes.byref(pushed),
            )
            begin += pushed.value
            try:
                self._check_status(status)
            except BaseException as error:
                if status != _STOPPED:
                    raise
                failure = failure or error
        if failure is not None:
            raise failure

    def _deliver_items(self, context: int | None, items: int, count: int) -> int:
        memory = (ctypes.c_char * (count * self._dtype.itemsize)).from_address(items)
        array: NDArray[Any] = np.frombuffer(memoryview(memory), self._dtype)
        array.flags.writeable = False
        try:
            self._handle(array)
        except BaseException as error:  # C cannot propagate exceptions.
            _handler_errors.failure = error
            return ~count
        return count

    def _pop_received_items(self) -> NDArray[Any]:
        received, self._received = self._received, []
        return np.concatenate(received) if received else np.empty(0, self._dtype)

    def _check_status(self, status: int) -> None:
        failure: BaseException | None = getattr(_handler_errors, "failure", None)
        if status == _STOPPED and failure is not None:
            del _handler_errors.failure
            raise failure
        raise_error(self._library, "stream", status)


class _OptionsStruct(ctypes.Structure):
    """The struct of topoloom_stream.h."""

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


def _check_item_type(dtype: np.dtype[Any]) -> np.dtype[Any]:
    if dtype.hasobject or dtype.itemsize == 0:
        raise Error(f"items of type {dtype} have no fixed size in bytes")
    if dtype.itemsize > _MAX_BYTES:
        raise Error(f"items of {dtype.itemsize} B are beyond {_MAX_BYTES} B")
    return dtype


def _convert_items(given: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Convert items to the stream's type; raise if a value is out of range."""
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
