# SPDX-License-Identifier: BSD-3-Clause
"""Reads the text that ``dumpi2ascii`` of SST writes for each rank.

A call is a line ``MPI_Send entering ...``, lines of its arguments, such as
``int count=8``, and a line ``MPI_Send returning ...``. Members of communicators other
than MPI_COMM_WORLD, and sizes of user datatypes, are not in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, NoReturn

from topoloom._core import Error
from topoloom.graphs.traces.mpi_sizes import (
    DATATYPE_BYTES,
    count_gathered_parts,
    count_scattered_parts,
)
from topoloom.graphs.traces.trace import Trace, check_rank_count
from topoloom.graphs.traces.trace_files import find_rank, read_content
from topoloom.support.files import prefix_errors

HEAD = re.compile(rb"(?:\S[^\n]*\n){0,3}?MPI_\w+ entering at walltime ")
_ENTER = re.compile(r"(MPI_\w+) entering at walltime ")
_ARGUMENT = re.compile(r"\w+ (\w+)(?:\[[0-9]+\])?=(.*)")
_NAMED = re.compile(r"-?[0-9]+ \((.*)\)")
_SENDS = re.compile(r"MPI_I?[bsr]?send(?:recv(?:_replace)?)?", re.IGNORECASE)
_INITS = re.compile(r"MPI_[BSR]?[Ss]end_init")
#: Calls whose bytes are not read.
_NOT_READ = re.compile(r"MPI_(?:Put|Get|Accumulate|Alltoallw)")
#: Collective -> its operation, and the arguments with its count and its datatype.
_COLLECTIVES = {
    "MPI_Barrier": ("barrier", "", ""),
    "MPI_Bcast": ("bcast", "count", "datatype"),
    "MPI_Reduce": ("reduce", "count", "datatype"),
    "MPI_Allreduce": ("allreduce", "count", "datatype"),
    "MPI_Scan": ("scan", "count", "datatype"),
    "MPI_Exscan": ("exscan", "count", "datatype"),
    "MPI_Gather": ("gather", "sendcount", "sendtype"),
    "MPI_Gatherv": ("gatherv", "sendcount", "sendtype"),
    "MPI_Scatter": ("scatter", "recvcount", "recvtype"),
    "MPI_Scatterv": ("scatterv", "recvcount", "recvtype"),
    "MPI_Allgather": ("allgather", "sendcount", "sendtype"),
    "MPI_Allgatherv": ("allgatherv", "recvcounts", "recvtype"),
    "MPI_Alltoall": ("alltoall", "sendcount", "sendtype"),
    "MPI_Alltoallv": ("alltoallv", "sendcounts", "sendtype"),
    "MPI_Reduce_scatter": ("reduce_scatter", "recvcounts", "datatype"),
}


class _Call(NamedTuple):
    line: int
    name: str
    values: dict[str, str]

    def number(self, key: str) -> int:
        """Return an integer argument."""
        try:
            return int(self.values[key].partition(" ")[0])
        except (KeyError, ValueError):
            self.fail(key)

    def numbers(self, key: str) -> list[int]:
        """Return an argument that is a list of integers, or one integer."""
        text = self.values.get(key, "")
        if not re.fullmatch(r"\[?[0-9]{1,18}(?:, [0-9]{1,18})*\]?", text):
            self.fail(key)
        return [int(word) for word in re.findall("[0-9]+", text)]

    def named(self, key: str) -> str:
        """Return the name of a datatype or communicator."""
        match = _NAMED.fullmatch(self.values.get(key, ""))
        return match[1] if match else ""

    def fail(self, key: str) -> NoReturn:
        """Raise `topoloom.Error` for an argument."""
        raise Error(f"line {self.line}: {self.name} has no numeric {key}")


def read_dumpi(files: Sequence[Path]) -> Trace:
    """Read one file per rank; the last number of a file's name is the rank."""
    calls: dict[int, list[_Call]] = {}
    for file in files:
        rank = find_rank(file)
        if rank is None or rank in calls:
            raise Error(f"{file}: end its name with a rank of its own, such as -0003")
        with prefix_errors(file):
            calls[rank] = list(_list_calls(read_content(file).decode(errors="replace")))
    sizes = [
        call.number("size")
        for one in calls.values()
        for call in one
        if call.name == "MPI_Comm_size" and call.named("comm") == "MPI_COMM_WORLD"
    ]
    ranks = max(max(calls) + 1, *sizes, 1)
    check_rank_count(ranks)
    trace = Trace(ranks)
    for rank, one in calls.items():
        trace.seen.add(rank)
        persistent: dict[int, tuple[int, int]] = {}
        for call in one:
            _read_call(trace, rank, call, persistent)
        if not one or one[-1].name != "MPI_Finalize":
            trace.add_loss(f"rank {rank} does not end with MPI_Finalize: probably cut")
    trace.add_missing_ranks()
    return trace


def _list_calls(text: str) -> Iterator[_Call]:
    call: _Call | None = None
    for number, line in enumerate(text.splitlines(), 1):
        if match := _ENTER.match(line):
            call = _Call(number, match[1], {})
        elif call and line.startswith(f"{call.name} returning"):
            yield call
            call = None
        elif call and (match := _ARGUMENT.fullmatch(line)):
            call.values[match[1]] = match[2]


def _read_call(
    trace: Trace, rank: int, call: _Call, persistent: dict[int, tuple[int, int]]
) -> None:
    if _SENDS.fullmatch(call.name) or _INITS.fullmatch(call.name):
        part = "send" if "sendcount" in call.values else ""
        target = call.number("dest")
        bytes = _find_bytes(trace, call, f"{part}count", f"{part or 'data'}type")
        if target < 0 or bytes is None or not _is_world(trace, call):
            return
        if _INITS.fullmatch(call.name):
            persistent[call.number("request")] = (target, bytes)
        else:
            trace.send(rank, target, bytes)
    elif call.name in ("MPI_Start", "MPI_Startall"):
        key = "request" if call.name == "MPI_Start" else "requests"
        for request in call.numbers(key):
            if request in persistent:
                trace.send(rank, *persistent[request])
    elif call.name in _COLLECTIVES:
        _read_collective(trace, rank, call)
    elif _NOT_READ.fullmatch(call.name):
        trace.add_loss(f"{call.name} is not read")


def _is_world(trace: Trace, call: _Call) -> bool:
    if call.named("comm") in ("MPI_COMM_WORLD", "MPI_COMM_SELF"):
        return call.named("comm") == "MPI_COMM_WORLD"
    trace.add_loss("calls on communicators whose members are not in the text left out")
    return False


def _find_bytes(trace: Trace, call: _Call, key: str, kind: str) -> int | None:
    size = DATATYPE_BYTES.get(call.named(kind))
    if size is None:
        trace.add_loss("calls with datatypes of unknown size left out")
        return None
    return sum(call.numbers(key)) * size


def _read_collective(trace: Trace, rank: int, call: _Call) -> None:
    operation, key, kind = _COLLECTIVES[call.name]
    if not _is_world(trace, call):
        return
    members = range(trace.ranks)
    if operation == "barrier":
        trace.add_member_calls(rank, operation, members, 0)
        return
    bytes = _find_bytes(trace, call, key, kind)
    if bytes is None:
        return
    root = call.number("root") if "root" in call.values else None
    if root is not None and not 0 <= root < trace.ranks:
        call.fail("root")
    if operation == "alltoallv":
        parts = call.numbers(key)
        if len(parts) != trace.ranks:
            call.fail(key)
        size = bytes // max(1, sum(parts))
        trace.add_exchange(rank, members, [part * size for part in parts])
    elif operation == "gatherv" and root is not None:
        count_gathered_parts(trace, rank, members, root, bytes)
    elif operation == "scatterv" and root is not None:
        count_scattered_parts(trace, rank, members, root, bytes)
    else:
        trace.add_member_calls(rank, operation, members, bytes, root)
