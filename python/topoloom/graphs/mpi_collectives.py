# SPDX-License-Identifier: BSD-3-Clause
"""Expands collectives to the messages that MPI libraries send."""

from __future__ import annotations

import numpy as np

from topoloom import _core
from topoloom._core import Error, Schedule
from topoloom.graphs.messages import Messages, make_messages

#: Names of the recorder's operations, in the order of its ``enum operation``.
OPERATIONS = (
    "barrier",
    "bcast",
    "reduce",
    "allreduce",
    "gather",
    "scatter",
    "allgather",
    "allgatherv",
    "alltoall",
    "reduce_scatter",
    "scan",
    "exscan",
)

#: Operations whose `bytes` is the sum over all ranks.
_TOTAL_BYTES = ("allgatherv", "reduce_scatter")

#: Limit on messages, because each takes 52 bytes of memory.
MAX_PAIRS = 5 * 10**7


def _find_core_name(operation: str) -> str:
    """Return the operation without its ``v``: schedules have blocks of any size."""
    return "allgather" if operation == "allgatherv" else operation


def usual_schedule(operation: str, size: int, bytes: int) -> str:
    """Return the schedule, with options, that MPI libraries use on `size` ranks."""
    if operation not in OPERATIONS:
        raise Error(f"no collective '{operation}'; there are: {', '.join(OPERATIONS)}")
    return _core.usual_schedule(
        _find_core_name(operation), size, bytes, in_all=operation in _TOTAL_BYTES
    )


def expand(operation: str, size: int, bytes: int, root: int = 0) -> Messages:
    """Make the messages of a collective among ranks 0 to ``size - 1``.

    Parameters
    ----------
    operation
        A name from `OPERATIONS`.
    size
        Number of ranks in the communicator.
    bytes
        Bytes of the message (bcast, reduce, allreduce, scan, exscan), of one rank's
        block (gather, scatter, allgather, alltoall), or of all ranks' blocks
        (allgatherv, reduce_scatter).
    root
        Root rank of bcast, reduce, gather and scatter.

    Raises `topoloom.Error` for unknown operations, invalid numbers, or more than
    `MAX_PAIRS` messages.
    """
    if size < 1 or bytes < 0 or not 0 <= root < size:
        raise Error(f"no {operation} with {size} ranks, {bytes} bytes and root {root}")
    schedule = usual_schedule(operation, size, bytes)
    return messages_by_schedule(schedule, operation, size, bytes, root)


def messages_by_schedule(
    name: str, operation: str, size: int, bytes: int, root: int = 0
) -> Messages:
    """Make the messages that a collective sends with the given schedule."""
    pairs = size * (size - 1)
    if name in ("at-once", "pairwise") and pairs > MAX_PAIRS:
        raise Error(
            f"an exchange between all of {size} ranks is {pairs} messages, "
            "too many to expand; keep or drop the collectives instead"
        )
    schedule = Schedule(
        name,
        _find_core_name(operation),
        size,
        0 if operation == "barrier" else bytes,
        root,
        in_all=operation in _TOTAL_BYTES,
    )
    graph = schedule.graph()
    first = np.asarray(graph.first, dtype=np.int64)
    source = np.repeat(np.arange(size), first[1:] - first[:-1])
    return make_messages(source, graph.peer, graph.bytes, graph.messages)
