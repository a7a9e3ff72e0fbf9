# SPDX-License-Identifier: BSD-3-Clause
"""Tasks that ranks hand to each other, for programs that use mpi4py."""

from __future__ import annotations

import ctypes
import functools
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topoloom._core import Error
from topoloom.mpi.library_loader import c_handle, load_library_once

_DECIDE = ("fastest", "gathered", "by-messages")  # as in topoloom_balance.h
#: Their memory is MPI's until they finish.
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
    """Decide who hands how many tasks to whom, so that all have as many. Collective.

    libtopoloom-balance is compiled for mpi4py's MPI when first used, and cached.

    Parameters
    ----------
    comm : mpi4py.MPI.Intracomm
        Whose ranks balance.
    count
        Tasks that this rank has.
    method, machine, message_s, byte_s, stall_timeout
        As in ``topoloom_balance.h``: seconds; 0: the default. The same on all ranks.
    slot
        Of this rank on the machine, of no other one.
    decide
        ``"fastest"``, ``"gathered"`` or ``"by-messages"``. The same on all ranks.
    mpicc
        Compiler of mpi4py's MPI; default: the one that mpi4py names, else on PATH.

    Raises
    ------
    topoloom.Error
        If there is no such way to decide, or the library cannot be compiled.
    mpi4py.MPI.Exception
        On all ranks, if loads are negative or overflow, or an option is wrong; its
        text says why, in this and all other calls.
    """
    if decide not in _DECIDE:
        raise Error(f"decide is one of {', '.join(_DECIDE)}, not '{decide}'")
    library = _library(comm, mpicc)
    options = _Options(
        method.encode() if method is not None else None,
        machine.encode() if machine is not None else None,
        slot,
        _DECIDE.index(decide),
        message_s,
        byte_s,
        stall_timeout,
    )
    plan = ctypes.c_void_p()
    _check(
        library,
        library.topoloom_balance(
            c_handle(comm),
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
    """Make a plan of what this rank hands over, which the program decides. Collective.

    Parameters
    ----------
    comm, count, stall_timeout, mpicc
        As of `balance`.
    to
        Other ranks, each at most once; shape ``(n,)``.
    tasks_to
        How many tasks go to each, of the last ones and in this order; 0 is as if the
        rank was not among `to`; shape ``(n,)``.

    Raises
    ------
    topoloom.Error
        If the library cannot be compiled.
    mpi4py.MPI.Exception
        On all ranks, if one of them gives more than it has, or to no other rank.
    """
    library = _library(comm, mpicc)
    ranks = np.ascontiguousarray(to, np.intc).ravel()
    tasks = np.ascontiguousarray(tasks_to, np.int64).ravel()
    # What has no counterpart is refused in C, where all ranks learn of it.
    receivers = ranks.size if ranks.size == tasks.size else -1
    options = _Options(stall_timeout=stall_timeout)
    made = ctypes.c_void_p()
    _check(
        library,
        library.topoloom_plan_create(
            c_handle(comm),
            ctypes.c_longlong(count),
            ctypes.c_int(receivers),
            _address(ranks),
            _address(tasks),
            ctypes.byref(options),
            ctypes.byref(made),
        ),
    )
    return Plan(library, made, is_given=True)


class Plan:
    """What this rank hands over and is given, from `balance` or `plan`.

    Several arrays may be moved by one plan, on all of its ranks in the same order. It
    is freed with the last reference to it, which is to be before MPI ends; or by
    `close`, where the communicator is freed first.

    Attributes
    ----------
    before, after
        Tasks of this rank.
    kept
        Of those before; they are the first ones.
    to, tasks_to
        Ranks that are handed tasks, and how many; shape ``(n,)``.
    sources, tasks_from
        Ranks whose tasks come, and how many; shape ``(n,)``. They ascend.
    """

    def __init__(
        self, library: ctypes.CDLL, plan: ctypes.c_void_p, *, is_given: bool = False
    ) -> None:
        self._library, self._plan = library, plan
        made = _Plan.from_address(plan.value or 0)
        self.before, self.after, self.kept = made.before, made.after, made.kept
        coming = self.after - self.kept
        larger = max(self.before, self.after)
        self._capacity = self.before + coming if is_given else larger
        self.to = _copied(made.to, made.to_count, np.intc)
        self.sources = _copied(made.sources, made.from_count, np.intc)
        self.tasks_to = _copied(made.tasks_to, made.to_count, np.int64)
        self.tasks_from = _copied(made.tasks_from, made.from_count, np.int64)

    def exchange(self, tasks: ArrayLike) -> NDArray[Any]:
        """Move tasks of one size, and return those that are here then. Collective.

        Parameters
        ----------
        tasks
            Shape ``(before, ...)``, of a type without objects; all but the first axis
            and the type are the same on all ranks.

        Returns
        -------
        numpy.ndarray
            Shape ``(after, ...)``: those kept, then those that come, by source.

        Raises
        ------
        topoloom.Error
            If the array does not suit. Other ranks then wait for this one.
        mpi4py.MPI.Exception
            If another rank could not take part; its `tasks` are those that are here.
        """
        return self.start(tasks).finish()

    def start(self, tasks: ArrayLike) -> ExchangeRequest:
        """Start `exchange`: the program may compute on ``kept`` of it meanwhile."""
        given = np.asarray(tasks)
        if given.dtype.hasobject or given.dtype.itemsize == 0:
            raise Error(f"tasks of type {given.dtype} have no fixed size in bytes")
        if given.ndim == 0 or len(given) != self.before:
            raise Error(f"tasks of shape {given.shape}; there are {self.before}")
        if given.size == 0 and 0 in given.shape[1:]:  # tasks without bytes
            empty = np.empty((self.after, *given.shape[1:]), given.dtype)
            return ExchangeRequest(self, ctypes.c_void_p(), empty)
        memory = np.empty((self._capacity, *given.shape[1:]), given.dtype)
        memory[: self.before] = given
        size = memory.dtype.itemsize * int(np.prod(given.shape[1:]))
        moving = ctypes.c_void_p()
        _check(
            self._library,
            self._library.topoloom_exchange_start(
                self._plan,
                _address(memory),
                ctypes.c_int(size),
                ctypes.c_longlong(self._capacity),
                ctypes.byref(moving),
            ),
        )
        return ExchangeRequest(self, moving, memory)

    def exchange_sized(
        self, tasks: ArrayLike, sizes: ArrayLike
    ) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Move tasks of different sizes. Collective.

        Sizes travel before, so that there is room.

        Parameters
        ----------
        tasks
            Elements of all tasks, one after another; shape ``(n,)``.
        sizes
            Elements of each task; shape ``(before,)``.

        Returns
        -------
        tuple
            `tasks` and `sizes` of those that are here then; shape ``(after,)``.

        Raises
        ------
        topoloom.Error
            If the arrays do not suit. Other ranks then wait for this one.
        mpi4py.MPI.Exception
            If another rank could not take part; its `tasks` and `sizes` are those that
            are here.
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
                f"sizes add up to {lengths.sum()}, or one is negative; there are "
                f"{len(given)} elements"
            )
        try:
            after = self.exchange(lengths.astype(np.int64))
        except _error_class() as error:  # elements have not left yet
            error.tasks, error.sizes = given, lengths
            raise
        width = given.dtype.itemsize
        coming = int(after[self.kept :].sum())
        memory = np.empty(len(given) + coming, given.dtype)
        memory[: len(given)] = given
        measured = np.zeros(self._capacity, np.int64)
        measured[: self.before] = lengths * width
        held = ctypes.c_longlong()
        status = self._library.topoloom_exchange_sized(
            self._plan,
            _address(memory),
            ctypes.c_longlong(memory.nbytes),
            _address(measured),
            ctypes.c_longlong(self._capacity),
            ctypes.byref(held),
        )
        here = measured[: held.value] // width
        _check(self._library, status, memory[: here.sum()], here)
        return memory[: after.sum()], after

    def close(self) -> None:
        """Free the plan."""
        if self._plan:
            self._library.topoloom_plan_free(ctypes.byref(self._plan))

    def __del__(self) -> None:
        self.close()


class ExchangeRequest:
    """Tasks under way, from `Plan.start`.

    Attributes
    ----------
    kept
        Those that stay; shape ``(plan.kept, ...)``. They may be changed.
    """

    def __init__(
        self, plan: Plan, moving: ctypes.c_void_p, memory: NDArray[Any]
    ) -> None:
        self._plan, self._moving, self._memory = plan, moving, memory
        self.kept = memory[: plan.kept]
        _active_requests.add(self)

    def test(self) -> bool:
        """Do what can be done without waiting; whether `finish` will not wait."""
        if not self._moving:
            return True
        done = ctypes.c_int()
        call = self._plan._library.topoloom_exchange_test
        library = self._plan._library
        _check(library, call(self._moving, ctypes.byref(done)))
        return done.value != 0

    def finish(self) -> NDArray[Any]:
        """Wait, and return the tasks that are here; shape ``(plan.after, ...)``.

        Raises
        ------
        mpi4py.MPI.Exception
            As `Plan.exchange`. Further calls return its `tasks`.
        """
        if self._moving:
            held = ctypes.c_longlong()
            call = self._plan._library.topoloom_exchange_finish
            status = call(ctypes.byref(self._moving), ctypes.byref(held))
            _active_requests.discard(self)
            self._memory = self._memory[: held.value]
            _check(self._plan._library, status, self._memory)
        return self._memory


class _Options(ctypes.Structure):
    """Of topoloom_balance.h."""

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


class _Plan(ctypes.Structure):
    """Of topoloom_balance.h."""

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


def _copied(values: Any, count: int, dtype: Any) -> NDArray[Any]:
    return np.array(values[:count], dtype)


def _address(array: NDArray[Any]) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def _check(
    library: ctypes.CDLL,
    status: int,
    tasks: NDArray[Any] | None = None,
    sizes: NDArray[np.int64] | None = None,
) -> None:
    """Raise an error that says why, with the tasks that are here all the same."""
    from mpi4py import MPI

    if status != MPI.SUCCESS:
        library.topoloom_balance_error.restype = ctypes.c_char_p
        why = library.topoloom_balance_error(ctypes.c_int(status)).decode()
        raise _error_class()(status, why, tasks, sizes)


@functools.cache
def _error_class() -> Any:
    """Make a class of mpi4py's exceptions, which is there once it is imported."""
    from mpi4py import MPI

    class BalanceError(MPI.Exception):
        """`why`, and after an exchange the `tasks` and `sizes` that are here."""

        def __new__(cls, status: int, *_: Any) -> BalanceError:
            return super().__new__(cls, status)

        def __init__(
            self,
            status: int,
            why: str,
            tasks: NDArray[Any] | None,
            sizes: NDArray[np.int64] | None,
        ) -> None:
            super().__init__(status)
            self.why, self.tasks, self.sizes = why, tasks, sizes

        def __str__(self) -> str:
            text = MPI.Exception.__str__(self)
            return f"{self.why} ({text})" if self.why else text

    return BalanceError


def _library(comm: Any, mpicc: str | None) -> ctypes.CDLL:
    from topoloom.preload.balance import build_balancing

    return load_library_once(comm, build_balancing, mpicc)
