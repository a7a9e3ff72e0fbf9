# SPDX-License-Identifier: BSD-3-Clause
"""Reads traces of Paraver (``.prv``) of MPI programs, as Extrae writes them.

Records are lines of numbers: ``1:`` states, ``2:`` events, ``3:`` messages, ``c:``
communicators. The sizes, root and communicator of a collective are events.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from topoloom._core import Error
from topoloom.graphs.traces.mpi_sizes import (
    count_gathered_parts,
    count_scattered_parts,
)
from topoloom.graphs.traces.trace import Trace, check_rank_count
from topoloom.graphs.traces.trace_files import read_content
from topoloom.support.files import prefix_errors

_COLLECTIVE, _SENT, _RECEIVED, _IS_ROOT, _COMMUNICATOR = (
    *(50000002, 50100001, 50100002),
    *(50100003, 50100004),
)
#: Values of the event of collectives in Extrae, also of the nonblocking ones.
_OPERATIONS = {
    7: "bcast",
    8: "barrier",
    9: "reduce",
    10: "allreduce",
    11: "alltoall",
    12: "alltoallv",
    13: "gather",
    14: "gatherv",
    15: "scatter",
    16: "scatterv",
    17: "allgather",
    18: "allgatherv",
    30: "scan",
    80: "reduce_scatter",
}
HEADER = re.compile(rb"#Paraver \(")
_TASKS = re.compile(r"([0-9]+)\(")


def read_paraver(files: Sequence[Path]) -> Trace:
    """Read the ``.prv`` file of one application."""
    traces = [file for file in files if file.name.partition(".prv")[1]] or list(files)
    if len(traces) > 1:
        raise Error(f"{traces[1]}: give one .prv file, of one run")
    with prefix_errors(traces[0]):
        return _read_lines(
            read_content(traces[0]).decode(errors="replace").splitlines()
        )


def _read_lines(lines: Sequence[str]) -> Trace:
    if not lines:
        raise Error("the file is empty")
    trace = Trace(_count_tasks(lines[0]))
    communicators: dict[int, tuple[int, ...]] = {}
    calls: list[tuple[int, dict[int, int]]] = []
    for number, line in enumerate(lines[1:], 2):
        kind, _, rest = line.partition(":")
        if kind not in ("2", "3", "c"):
            continue
        words = rest.split(":")
        try:
            numbers = [int(word) for word in words]
            if kind == "3":
                _read_message(trace, numbers)
            elif kind == "c":
                members = tuple(task - 1 for task in numbers[3 : 3 + numbers[2]])
                if len(members) != numbers[2] or not members:
                    raise ValueError
                communicators[numbers[1]] = members
            else:
                calls += _list_collectives(trace, numbers)
        except (ValueError, IndexError):
            raise Error(f"line {number}: is not a record of Paraver") from None
    _count_collectives(trace, calls, communicators)
    trace.add_missing_ranks()
    return trace


def _count_tasks(header: str) -> int:
    """Return the number of tasks of the only application."""
    # "#Paraver (date):ftime:nodes(cpus,...):applications:tasks(threads:node,...),comms"
    parts = re.fullmatch(
        r"#Paraver \([^)]*\):[0-9]+(?:_ns)?:[0-9]+(?:\([0-9,]*\))?:([0-9]+):(.*)",
        header,
    )
    tasks = parts and _TASKS.match(parts[2])
    if not parts or not tasks:
        raise Error("line 1: is not the header of a Paraver trace")
    if parts[1] != "1":
        raise Error(f"line 1: {parts[1]} applications; traces of one are read")
    check_rank_count(int(tasks[1]))
    return int(tasks[1])


def _read_message(trace: Trace, numbers: Sequence[int]) -> None:
    # cpu, application, task, thread and two times of sender and receiver, size, tag
    sender, receiver, size = numbers[2] - 1, numbers[8] - 1, numbers[12]
    trace.seen |= {sender, receiver}
    trace.send(sender, receiver, size)


def _list_collectives(
    trace: Trace, numbers: Sequence[int]
) -> Iterator[tuple[int, dict[int, int]]]:
    # cpu, application, task, thread, time, then types and values
    rank = numbers[2] - 1
    if not 0 <= rank < trace.ranks or len(numbers) % 2 == 0:
        raise ValueError
    trace.seen.add(rank)
    values = dict(zip(numbers[5::2], numbers[6::2], strict=True))
    if values.get(_COLLECTIVE):
        yield rank, values


def _count_collectives(
    trace: Trace,
    calls: Sequence[tuple[int, dict[int, int]]],
    communicators: dict[int, tuple[int, ...]],
) -> None:
    """Count the calls; the root of the n-th rooted call of a group is its n-th root."""
    roots: dict[tuple[int, ...], list[int]] = {}
    for rank, values in calls:
        members = communicators.get(values.get(_COMMUNICATOR, 0), ())
        if values.get(_IS_ROOT) and rank in members:
            roots.setdefault(members, []).append(rank)
    at: dict[tuple[int, tuple[int, ...]], int] = {}
    for rank, values in calls:
        operation = _OPERATIONS.get(values[_COLLECTIVE])
        members = communicators.get(values.get(_COMMUNICATOR, 0), ())
        if operation is None or rank not in members:
            trace.add_loss("collectives of unknown kinds or communicators left out")
            continue
        root = None
        if operation.removesuffix("v") in ("bcast", "reduce", "gather", "scatter"):
            turn = at[rank, members] = at.get((rank, members), -1) + 1
            listed = roots.get(members, [])
            if turn >= len(listed):
                trace.add_loss(f"{operation} without a root")
                continue
            root = listed[turn]
        sent, received = values.get(_SENT, 0), values.get(_RECEIVED, 0)
        _count_collective(trace, rank, members, operation, root, sent, received)


def _count_collective(
    trace: Trace,
    rank: int,
    members: tuple[int, ...],
    operation: str,
    root: int | None,
    sent: int,
    received: int,
) -> None:
    """Count a call; Extrae's sizes are those of the buffers of one call."""
    size = len(members)
    if operation == "gatherv" and root is not None:
        count_gathered_parts(trace, rank, members, root, sent)
    elif operation == "scatterv" and root is not None:
        count_scattered_parts(trace, rank, members, root, received)
    elif operation == "alltoallv":
        trace.add_even_exchange(rank, members, sent, received=received)
    else:
        bytes = sent
        if operation in ("scatter", "allgatherv"):
            bytes = received
        elif operation in ("bcast", "reduce", "allreduce"):
            bytes = max(sent, received)
        place = None if root is None else members.index(root)
        if size > 1:
            trace.add_member_calls(rank, operation, members, bytes, place)
