# SPDX-License-Identifier: BSD-3-Clause
"""Redistribution of tasks between ranks, for programs that use mpi4py."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topoloom._core import Error
from topoloom.mpi.library_loader import (
    convert_to_c_handle,
    error_class,
    load_library_once,
    raise_error,
)

_DECIDE = ("fastest", "gathered", "by-messages")  # as in topoloom_balance.h
#: Prevents garbage collection of buffers that MPI still uses.
_active_requests: set[ExchangeRequest] = set()


def balance(
    comm: Any,
    count: int,
    *,
    method: str | None = None,
    machine: str | None = None,
    slot: int = 0,
    decide: str = "fastest",
    message_s: float = 0,
    byte_s: float = 0,
    stall_timeout: float = 0,
    mpicc: str | None = None,
) -> Plan:
    """Compute a redistribution that balances the number of tasks. Collective.

    libtopoloom-balance is compiled for mpi4py's MPI when first used, and cached.

    Parameters
    ----------
    comm : mpi4py.MPI.Intracomm
        The communicator whose ranks exchange tasks.
    count
        Number of tasks of this rank.
    method, machine, message_s, byte_s, stall_timeout
        As in ``topoloom_balance.h``; times in seconds, 0 for the default. Must be equal
        on all ranks.
    slot
        Slot of this rank on the machine; must differ between ranks.
    decide
        ``"fastest"``, ``"gathered"`` or ``"by-messages"``; must be equal on all ranks.
    mpicc
        Compiler of mpi4py's MPI; default: from mpi4py's configuration, else mpicc.

    Raises
    ------
    topoloom.Error
        If `decide` is unknown, or the library cannot be compiled.
    mpi4py.MPI.Exception
        On all ranks, if a load is negative, loads overflow, or an option is invalid. As
        in all calls, `reason` describes the error.
    """
    if decide not in _DECIDE:
        raise Error(f"decide must be one of {', '.join(_DECIDE)}, not '{decide}'")
    library = _load_library(comm, mpicc)
    options = _OptionsStruct(
        method.encode() if method is not None else None,
        machine.encode() if machine is not None else None,
        slot,
        _DECIDE.index(decide),
        message_s,
        byte_s,
        stall_timeout,
    )
    plan = ctypes.c_void_p()
    _check_status(
        library,
        library.topoloom_balance(
            convert_to_c_handle(comm),
            ctypes.c_longlong(count),
            ctypes.byref(options),
            ctypes.byref(plan),
        ),
    )
    return Plan(library, plan)


def plan(
    comm: Any,
    count: int,
    to: ArrayLike,
    tasks_to: ArrayLike,
    *,
    stall_timeout: float = 0,
    mpicc: str | None = None,
) -> Plan:
    """Make a plan from transfers that the program specifies. Collective.

    Parameters
    ----------
    comm, count, stall_timeout, mpicc
        As in `balance`.
    to Receiving ranks, each once and without this rank; shape ``(n,)``. tasks_to Number
    of tasks for each receiver, 0 for none; shape ``(n,)``. The receivers get the last
    tasks of this rank, in the order of `to`.

    Raises
    ------
    topoloom.Error
        If the library cannot be compiled.
    mpi4py.MPI.Exception
        On all ranks, if a rank sends more tasks than it has, or sends to an invalid
        rank.
    """
    library = _load_library(comm, mpicc)
    ranks = np.ascontiguousarray(to, np.intc).ravel()
    tasks = np.ascontiguousarray(tasks_to, np.int64).ravel()
    # The C library fails on all ranks for -1; raising here would make other ranks hang.
    receivers = ranks.size if ranks.size == tasks.size else -1
    options = _OptionsStruct(stall_timeout=stall_timeout)
    created = ctypes.c_void_p()
    _check_status(
        library,
        library.topoloom_plan_create(
            convert_to_c_handle(comm),
            ctypes.c_longlong(count),
            ctypes.c_int(receivers),
            _get_address(ranks),
            _get_address(tasks),
            ctypes.byref(options),
            ctypes.byref(created),
        ),
    )
    return Plan(library, created, is_given=True)


class Plan:
    """Numbers of tasks that this rank sends and receives, from `balance` or `plan`.

    A plan can move several arrays, in the same order on all ranks. It is freed with its
    last reference, which must end before MPI_Finalize. If the communicator is freed
    earlier, call `close` before that.

    Attributes
    ----------
    before, after
        Numbers of tasks of this rank before and after the exchange.
    kept Number of tasks that this rank keeps, namely its first ones. to, tasks_to
        Ranks that receive tasks, and number of tasks per rank; shape ``(n,)``.
    sources, tasks_from
        Ranks that send tasks, ascending, and number of tasks per rank; shape ``(n,)``.
    """

    def __init__(
        self, library: ctypes.CDLL, plan: ctypes.c_void_p, *, is_given: bool = False
    ) -> None:
        self._library, self._plan = library, plan
        fields = _PlanStruct.from_address(plan.value or 0)
        self.before, self.after, self.kept = fields.before, fields.after, fields.kept
        received = self.after - self.kept
        larger = max(self.before, self.after)
        self._capacity = self.before + received if is_given else larger
        self.to = _copy_array(fields.to, fields.to_count, np.intc)
        self.sources = _copy_array(fields.sources, fields.from_count, np.intc)
        self.tasks_to = _copy_array(fields.tasks_to, fields.to_count, np.int64)
        self.tasks_from = _copy_array(fields.tasks_from, fields.from_count, np.int64)

    def exchange(self, tasks: ArrayLike) -> NDArray[Any]:
        """Move tasks of equal size; return the new tasks of this rank. Collective.

        Parameters
        ----------
        tasks
            Array of shape ``(before, ...)``, without Python objects. The type and all
            axes except the first must be equal on all ranks.

        Returns
        -------
        numpy.ndarray
            Array of shape ``(after, ...)``: kept tasks, then received tasks by source.

        Raises
        ------
        topoloom.Error
            If the array is invalid; other ranks then wait for this rank.
        mpi4py.MPI.Exception
            If another rank failed; the exception's attribute `tasks` has the tasks of
            this rank.
        """
        return self.start(tasks).finish()

    def start(self, tasks: ArrayLike) -> ExchangeRequest:
        """Start `exchange`; meanwhile, `kept` of the returned request can be used."""
        given = np.asarray(tasks)
        if given.dtype.hasobject or given.dtype.itemsize == 0:
            raise Error(f"tasks of type {given.dtype} have no fixed size in bytes")
        if given.ndim == 0 or len(given) != self.before:
            raise Error(
                f"tasks of shape {given.shape}; the plan has {self.before} tasks"
            )
        if given.size == 0 and 0 in given.shape[1:]:  # tasks of 0 bytes
            empty = np.empty((self.after, *given.shape[1:]), given.dtype)
            return ExchangeRequest(self, ctypes.c_void_p(), empty)
        memory = np.empty((self._capacity, *given.shape[1:]), given.dtype)
        memory[: self.before] = given
        size = memory.dtype.itemsize * int(np.prod(given.shape[1:]))
        request = ctypes.c_void_p()
        _check_status(
            self._library,
            self._library.topoloom_exchange_start(
                self._plan,
                _get_address(memory),
                ctypes.c_int(size),
                ctypes.c_longlong(self._capacity),
                ctypes.byref(request),
            ),
        )
        return ExchangeRequest(self, request, memory)

    def exchange_sized(
        self, tasks: ArrayLike, sizes: ArrayLike
    ) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Move tasks of different sizes. Collective.

        Sizes are exchanged before the tasks, to allocate memory.

        Parameters
        ----------
        tasks
            Concatenated elements of all tasks; shape ``(n,)``.
        sizes
            Number of elements of each task; shape ``(before,)``.

        Returns
        -------
        tuple
            Elements and sizes of this rank's tasks; sizes have shape ``(after,)``.

        Raises
        ------
        topoloom.Error
            If the arrays are invalid; other ranks then wait for this rank.
        mpi4py.MPI.Exception
            If another rank failed; the exception's attributes `tasks` and `sizes` have
            the tasks of this rank.
        """
        given = np.asarray(tasks)
        lengths = np.asarray(sizes)
        if lengths.shape != (self.before,) or lengths.dtype.kind not in "iu":
            raise Error(
                f"sizes of type {lengths.dtype} and shape {lengths.shape}; there are "
                f"{self.before} tasks"
            )
        if given.dtype.hasobject or given.dtype.itemsize == 0 or given.ndim != 1:
            raise Error(f"tasks of type {given.dtype} and shape {given.shape}")
        if (lengths < 0).any() or lengths.sum() != len(given):
            raise Error(
                f"the sum of sizes is {lengths.sum()}, or one is negative; there are "
                f"{len(given)} elements"
            )
        try:
            after = self.exchange(lengths.astype(np.int64))
        except error_class() as error:  # No element has been sent at this point.
            error.tasks, error.sizes = given, lengths
            raise
        width = given.dtype.itemsize
        received = int(after[self.kept :].sum())
        memory = np.empty(len(given) + received, given.dtype)
        memory[: len(given)] = given
        byte_sizes = np.zeros(self._capacity, np.int64)
        byte_sizes[: self.before] = lengths * width
        held = ctypes.c_longlong()
        status = self._library.topoloom_exchange_sized(
            self._plan,
            _get_address(memory),
            ctypes.c_longlong(memory.nbytes),
            _get_address(byte_sizes),
            ctypes.c_longlong(self._capacity),
            ctypes.byref(held),
        )
        counts = byte_sizes[: held.value] // width
        _check_status(self._library, status, memory[: counts.sum()], counts)
        return memory[: after.sum()], after

    def close(self) -> None:
        """Free the plan."""
        if self._plan:
            self._library.topoloom_plan_free(ctypes.byref(self._plan))

    def __del__(self) -> None:
        self.close()


class ExchangeRequest:
    """The request of a started exchange, from `Plan.start`.

    Attributes
    ----------
    kept
        Kept tasks of this rank, which the program can change; shape ``(plan.kept,
        ...)``.
    """

    def __init__(
        self, plan: Plan, request: ctypes.c_void_p, memory: NDArray[Any]
    ) -> None:
        self._plan, self._request, self._memory = plan, request, memory
        self.kept = memory[: plan.kept]
        _active_requests.add(self)

    def test(self) -> bool:
        """Make progress without blocking; return whether `finish` will not block."""
        if not self._request:
            return True
        done = ctypes.c_int()
        call = self._plan._library.topoloom_exchange_test
        status = call(self._request, ctypes.byref(done))
        _check_status(self._plan._library, status)
        return done.value != 0

    def finish(self) -> NDArray[Any]:
        """Complete the exchange; return this rank's tasks, shape ``(plan.after, ...)``.

        Raises
        ------
        mpi4py.MPI.Exception
            For the same reasons as `Plan.exchange`. Further calls return its `tasks`.
        """
        if self._request:
            held = ctypes.c_longlong()
            call = self._plan._library.topoloom_exchange_finish
            status = call(ctypes.byref(self._request), ctypes.byref(held))
            _active_requests.discard(self)
            self._memory = self._memory[: held.value]
            _check_status(self._plan._library, status, self._memory)
        return self._memory


class _OptionsStruct(ctypes.Structure):
    """The struct of topoloom_balance.h."""

    _fields_ = (
        ("method", ctypes.c_char_p),
        ("machine", ctypes.c_char_p),
        ("slot", ctypes.c_int),
        ("decide", ctypes.c_int),
        ("message_s", ctypes.c_double),
        ("byte_s", ctypes.c_double),
        ("stall_timeout", ctypes.c_double),
        ("reserve_capacity", ctypes.c_int),
    )


class _PlanStruct(ctypes.Structure):
    """The struct of topoloom_balance.h."""

    _fields_ = (
        ("before", ctypes.c_longlong),
        ("after", ctypes.c_longlong),
        ("kept", ctypes.c_longlong),
        ("to_count", ctypes.c_int),
        ("from_count", ctypes.c_int),
        ("to", ctypes.POINTER(ctypes.c_int)),
        ("sources", ctypes.POINTER(ctypes.c_int)),
        ("tasks_to", ctypes.POINTER(ctypes.c_longlong)),
        ("tasks_from", ctypes.POINTER(ctypes.c_longlong)),
    )


def _copy_array(values: Any, count: int, dtype: Any) -> NDArray[Any]:
    return np.array(values[:count], dtype)


def _get_address(array: NDArray[Any]) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def _check_status(
    library: ctypes.CDLL,
    status: int,
    tasks: NDArray[Any] | None = None,
    sizes: NDArray[np.int64] | None = None,
) -> None:
    """Raise the error of a call; `tasks` and `sizes` become its attributes."""
    raise_error(library, "balance", status, tasks=tasks, sizes=sizes)


def _load_library(comm: Any, mpicc: str | None) -> ctypes.CDLL:
    from topoloom.preload.mpi_library import build_balance_library

    return load_library_once(comm, build_balance_library, mpicc)
