# SPDX-License-Identifier: BSD-3-Clause
"""Reads time-independent traces of SimGrid, as ``smpirun -trace-ti`` writes them.

A file lists the files of the ranks, whose lines are a rank, an action and its numbers:
``0 send 1 0 1024 6``. Actions name no communicator: collectives are those of all ranks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from topoloom._core import Error
from topoloom.graphs.traces.mpi_sizes import (
    DATATYPE_BYTES,
    count_gathered_parts,
    count_scattered_parts,
)
from topoloom.graphs.traces.trace import Trace, check_rank_count
from topoloom.graphs.traces.trace_files import read_content
from topoloom.support.files import exists, prefix_errors
from topoloom.support.plain_text import is_number

#: Datatypes in the order of SimGrid's numbers.
_DATATYPES = [
    "MPI_DOUBLE",
    "MPI_INT",
    "MPI_CHAR",
    "MPI_SHORT",
    "MPI_LONG",
    "MPI_FLOAT",
    "MPI_BYTE",
    "MPI_LONG_LONG",
    "MPI_SIGNED_CHAR",
    "MPI_UNSIGNED_CHAR",
    "MPI_UNSIGNED_SHORT",
    "MPI_UNSIGNED",
    "MPI_UNSIGNED_LONG",
    "MPI_UNSIGNED_LONG_LONG",
    "MPI_LONG_DOUBLE",
]
#: Actions that send nothing, or whose sender counts them.
_SILENT = [
    "init",
    "finalize",
    "compute",
    "sleep",
    "wait",
    "waitall",
    "test",
    "recv",
    "irecv",
    "probe",
    "location",
    "comm_size",
    "comm_dup",
]
#: Ranks for each one with actions above which memory for the others is not reserved.
_MOST_MISSING = 1000
LINE = re.compile(rb"\s*[0-9]+[ \t]+(?:init|compute)\b", re.IGNORECASE)


def lists_rank_files(head: bytes) -> bool:
    """Return whether a text lists the files of ranks, as the trace's main file does."""
    lines = head.split(b"\n")[:-1] or [head]
    return all(
        re.fullmatch(rb"\S+[-_]\w*[0-9]+\.txt\s*", line) for line in lines if line
    ) and any(lines)


def read_simgrid_ti(files: Sequence[Path]) -> Trace:
    """Read the main file of a trace, or the files of its ranks."""
    parts = [part for file in files for part in _list_rank_files(file)]
    seen = {action.rank for action in _iterate_actions(parts)}
    if not seen:
        raise Error(f"{files[0]}: has no actions of ranks")
    ranks = max(seen) + 1
    check_rank_count(ranks)
    if ranks > _MOST_MISSING * len(seen):
        raise Error(
            f"{files[0]}: has actions of {len(seen)} ranks, but names rank "
            f"{ranks - 1:,}; give the files of all ranks"
        )
    trace = Trace(ranks)
    trace.seen |= seen
    last: dict[int, str] = {}
    for action in _iterate_actions(parts):
        last[action.rank] = action.words[0].lower()
        try:
            _read_action(trace, action.rank, action.words)
        except (ValueError, IndexError, OverflowError):
            what = " ".join(action.words)[:20]
            raise Error(
                f"{action.where()}: '{what}' has missing or odd numbers"
            ) from None
    for rank, name in last.items():
        if name != "finalize":
            trace.add_loss(f"rank {rank} does not end with finalize: probably cut")
    trace.add_missing_ranks()
    return trace


class _Action(NamedTuple):
    """A line of a trace: the words after the rank."""

    file: Path
    line: int
    rank: int
    words: list[str]

    def where(self) -> str:
        return f"{self.file}:{self.line}"


def _iterate_actions(parts: Sequence[Path]) -> Iterator[_Action]:
    """Yield the actions of all ranks; a list of them would fill memory."""
    for file in parts:
        with prefix_errors(file):
            text = read_content(file).decode(errors="replace")
            for number, line in enumerate(text.splitlines(), 1):
                words = line.split()
                if not words or words[0].startswith("#"):
                    continue
                if len(words) < 2 or not re.fullmatch("[0-9]{1,7}", words[0]):
                    raise Error(
                        f"line {number}: expected a rank and an action, such as '0 "
                        f"send 1 0 1024', not '{line[:20]}'"
                    )
                yield _Action(file, number, int(words[0]), words[1:])


def _list_rank_files(file: Path) -> Iterator[Path]:
    content = read_content(file)
    if not lists_rank_files(content[:4096]):
        yield file
        return
    for name in content.decode(errors="replace").split():
        yield _find_rank_file(file, name)


def _find_rank_file(main: Path, name: str) -> Path:
    """Find a file of a rank: SimGrid names it as seen from the directory of the run.

    A trace of somebody else must not make us read any file, so it is beside the main
    file or below it.
    """
    home = main.parent.resolve()
    for path in (main.parent / name, Path(name)):
        if exists(path) and path.resolve().is_relative_to(home):
            return path
    raise Error(f"{main}: there is no file '{name[:60]}' beside it or below it")


def _read_action(trace: Trace, rank: int, words: list[str]) -> None:
    name, numbers = words[0].lower(), words[1:]
    if name in _SILENT:
        return
    if name == "comm_split":
        trace.add_loss("collectives of split communicators count as those of all ranks")
        return
    if name not in _ACTIONS:
        trace.add_loss(f"the action '{name[:20]}' is not read")
        return
    _ACTIONS[name](trace, rank, numbers)


def _count(word: str) -> int:
    """Return a number of elements, which can be ``1e6``."""
    return int(word) if is_number(word) else int(float(word))


def _size(numbers: Sequence[str], at: int) -> int:
    """Return the bytes of the datatype at a position; by default MPI_BYTE."""
    if at >= len(numbers):
        return 1
    return DATATYPE_BYTES[_DATATYPES[_index(numbers[at])]]


def _index(word: str) -> int:
    if not is_number(word) or len(word) > 9:
        raise ValueError
    return int(word)


def _send(trace: Trace, rank: int, numbers: Sequence[str]) -> None:
    target, _tag, count = numbers[:3]
    trace.send(rank, int(target), _count(count) * _size(numbers, 3))


def _send_and_receive(trace: Trace, rank: int, numbers: Sequence[str]) -> None:
    count, target = numbers[:2]
    trace.send(rank, int(target), _count(count) * _size(numbers, 4))


def _collective(
    operation: str, datatype: int, root: int | None = None
) -> Callable[[Trace, int, Sequence[str]], None]:
    """Make a reader: the positions of the datatype and of the root are given."""

    def read(trace: Trace, rank: int, numbers: Sequence[str]) -> None:
        count = _count(numbers[0]) if operation != "barrier" else 0
        where = None
        if root is not None:
            where = _index(numbers[root]) if root < len(numbers) else 0
            if where >= trace.ranks:
                raise ValueError
        bytes = count * _size(numbers, datatype)
        trace.add_member_calls(rank, operation, range(trace.ranks), bytes, where)

    return read


def _parts(numbers: Sequence[str], first: int, ranks: int) -> list[int]:
    return [_count(numbers[first + at]) for at in range(ranks)]


def _allgatherv(trace: Trace, rank: int, numbers: Sequence[str]) -> None:
    total = sum(_parts(numbers, 1, trace.ranks)) * _size(numbers, trace.ranks + 2)
    trace.add_member_calls(rank, "allgatherv", range(trace.ranks), total)


def _alltoallv(trace: Trace, rank: int, numbers: Sequence[str]) -> None:
    size = _size(numbers, 2 * trace.ranks + 2)
    parts = [part * size for part in _parts(numbers, 1, trace.ranks)]
    trace.add_exchange(rank, range(trace.ranks), parts)


def _gatherv(trace: Trace, rank: int, numbers: Sequence[str]) -> None:
    sent = _count(numbers[0]) * _size(numbers, trace.ranks + 2)
    root = int(numbers[trace.ranks + 1])
    count_gathered_parts(trace, rank, range(trace.ranks), root, sent)


def _scatterv(trace: Trace, rank: int, numbers: Sequence[str]) -> None:
    received = _count(numbers[trace.ranks]) * _size(numbers, trace.ranks + 3)
    root = int(numbers[trace.ranks + 1])
    count_scattered_parts(trace, rank, range(trace.ranks), root, received)


def _reduce_scatter(trace: Trace, rank: int, numbers: Sequence[str]) -> None:
    total = sum(_parts(numbers, 0, trace.ranks)) * _size(numbers, trace.ranks + 1)
    trace.add_member_calls(rank, "reduce_scatter", range(trace.ranks), total)


_ACTIONS: dict[str, Callable[[Trace, int, Sequence[str]], None]] = {
    "send": _send,
    "isend": _send,
    "sendrecv": _send_and_receive,
    "barrier": _collective("barrier", 0),
    "bcast": _collective("bcast", 2, 1),
    "reduce": _collective("reduce", 3, 2),
    "allreduce": _collective("allreduce", 2),
    "alltoall": _collective("alltoall", 2),
    "allgather": _collective("allgather", 2),
    "gather": _collective("gather", 3, 2),
    "scatter": _collective("scatter", 3, 2),
    "scan": _collective("scan", 2),
    "exscan": _collective("exscan", 2),
    "allgatherv": _allgatherv,
    "alltoallv": _alltoallv,
    "gatherv": _gatherv,
    "scatterv": _scatterv,
    "reducescatter": _reduce_scatter,
}
