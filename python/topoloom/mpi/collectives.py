# SPDX-License-Identifier: BSD-3-Clause
"""Collectives of libtopoloom-collective for programs that use mpi4py.

Names and semantics are those of MPI's functions with equal blocks. Buffers are
C-contiguous arrays, or other objects that have the buffer protocol and an element type
known to MPI. ``MPI.IN_PLACE`` is allowed as in MPI; None means no buffer on this rank.
The library is compiled for mpi4py's MPI when a communicator is first used, and cached.
``TOPOLOOM_COLLECTIVES`` sets options as for C programs.

All functions raise `topoloom.Error` if a buffer is unsupported or the library cannot be
compiled, and ``mpi4py.MPI.Exception`` if the MPI collective would fail.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from topoloom._core import Error
from topoloom.mpi.library_loader import convert_to_c_handle, load_library_once


def alltoall(comm: Any, send: Any, receive: Any) -> None:
    """Send block i of `send` to rank i; `receive` has the blocks of all ranks."""
    _call_exchange(comm, "alltoall", send, receive, comm.size, comm.size)


def allgather(comm: Any, send: Any, receive: Any) -> None:
    """Gather every rank's `send` into `receive` on all ranks."""
    _call_exchange(comm, "allgather", send, receive, 1, comm.size)


def gather(comm: Any, send: Any, receive: Any, root: int = 0) -> None:
    """Gather every rank's `send` into `receive` on the root."""
    _call_exchange(comm, "gather", send, receive, 1, comm.size, root)


def scatter(comm: Any, send: Any, receive: Any, root: int = 0) -> None:
    """Send block i of the root's `send` to rank i."""
    _call_exchange(comm, "scatter", send, receive, comm.size, 1, root)


def bcast(comm: Any, buffer: Any, root: int = 0) -> None:
    """Broadcast the root's `buffer` to all ranks."""
    _call_library(comm, "bcast", *_CBuffer(buffer).split(1), ctypes.c_int(root))


def barrier(comm: Any) -> None:
    """Wait for all ranks."""
    _call_library(comm, "barrier")


def allreduce(comm: Any, send: Any, receive: Any, op: Any = None) -> None:
    """Reduce every rank's `send` into `receive` on all; default `op`: ``MPI.SUM``."""
    _call_reduction(comm, "allreduce", send, receive, op)


def reduce(comm: Any, send: Any, receive: Any, op: Any = None, root: int = 0) -> None:
    """Reduce every rank's `send` into `receive` on the root."""
    _call_reduction(comm, "reduce", send, receive, op, root=root)


def reduce_scatter_block(comm: Any, send: Any, receive: Any, op: Any = None) -> None:
    """Reduce every rank's `send`; rank i receives block i of the result."""
    _call_reduction(comm, "reduce_scatter_block", send, receive, op, blocks=comm.size)


def scan(comm: Any, send: Any, receive: Any, op: Any = None) -> None:
    """Reduce the `send` of all ranks up to and including this rank."""
    _call_reduction(comm, "scan", send, receive, op)


def exscan(comm: Any, send: Any, receive: Any, op: Any = None) -> None:
    """Reduce the `send` of all ranks before this rank."""
    _call_reduction(comm, "exscan", send, receive, op)


class _CBuffer:
    """A buffer as C sees it; None and MPI.IN_PLACE have only an address."""

    def __init__(self, buffer: Any) -> None:
        from mpi4py import MPI

        self.size, self.type = 0, MPI.DATATYPE_NULL
        self.dtype: np.dtype[Any] | None = None
        self.is_memory = buffer is not None and buffer is not MPI.IN_PLACE
        if not self.is_memory:
            self.address = ctypes.c_void_p(0 if buffer is None else int(MPI.IN_PLACE))
            return
        try:
            array = np.frombuffer(buffer, np.asarray(buffer).dtype)
            if not array.dtype.isnative:
                raise ValueError("its byte order is not native")
            self.type = MPI.Datatype.fromcode(array.dtype.char)
        except (TypeError, ValueError) as error:
            raise Error(f"not a buffer for MPI: {error}") from None
        self.size, self.dtype = array.size, array.dtype
        self.address = ctypes.c_void_p(array.ctypes.data)

    def split(self, blocks: int) -> tuple[Any, Any, Any]:
        """Return the address, the elements per block, and the MPI datatype."""
        if self.size % blocks:
            raise Error(f"{self.size} elements are not {blocks} equal blocks")
        return (
            self.address,
            ctypes.c_int(self.size // blocks),
            convert_to_c_handle(self.type),
        )


def _call_exchange(
    comm: Any,
    name: str,
    send: Any,
    receive: Any,
    sent: int,
    received: int,
    *root: int,
) -> None:
    blocks = (*_CBuffer(send).split(sent), *_CBuffer(receive).split(received))
    _call_library(comm, name, *blocks, *map(ctypes.c_int, root))


def _call_reduction(
    comm: Any,
    name: str,
    send: Any,
    receive: Any,
    op: Any,
    *,
    blocks: int = 1,
    root: int | None = None,
) -> None:
    from mpi4py import MPI

    source, target = _CBuffer(send), _CBuffer(receive)
    # In place, all blocks are in the receive buffer.
    counted = source if source.is_memory else target
    if (
        source.is_memory
        and target.is_memory
        and (source.dtype, source.size) != (target.dtype, target.size * blocks)
    ):
        raise Error(
            f"the send buffer has {source.size} elements, the receive buffer "
            f"{target.size} or another type"
        )
    _, count, kind = counted.split(blocks)
    roots = () if root is None else (ctypes.c_int(root),)
    by = convert_to_c_handle(MPI.SUM if op is None else op)
    _call_library(comm, name, source.address, target.address, count, kind, by, *roots)


def _call_library(comm: Any, name: str, *arguments: Any) -> None:
    from mpi4py import MPI

    status = getattr(_load_library(comm), f"topoloom_{name}")(
        *arguments, convert_to_c_handle(comm)
    )
    if status != MPI.SUCCESS:
        raise MPI.Exception(status)


def _load_library(comm: Any) -> ctypes.CDLL:
    from topoloom.preload.collectives import build_collective_library

    return load_library_once(comm, build_collective_library)
