# SPDX-License-Identifier: BSD-3-Clause
"""Reads OTF2 archives of MPI programs, as Score-P writes them.

OTF2's Python module reads the archive: ``pip install otf2``. Score-P's sizes of a
collective are those of all messages that a rank would send if each went directly, which
includes that to itself unless the buffer is MPI_IN_PLACE. The archive does not tell
which: sizes that are a multiple of the ranks are taken as those without MPI_IN_PLACE.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from topoloom._core import Error
from topoloom.graphs.traces.mpi_sizes import (
    count_gathered_parts,
    count_scattered_parts,
)
from topoloom.graphs.traces.trace import Trace, check_rank_count
from topoloom.support.optional_imports import import_optional

#: OTF2's operations that make and free communicators and windows, and send nothing.
_HANDLES = [
    "CREATE_HANDLE",
    "DESTROY_HANDLE",
    "ALLOCATE",
    "DEALLOCATE",
    "CREATE_HANDLE_AND_ALLOCATE",
    "DESTROY_HANDLE_AND_DEALLOCATE",
]
_ENDS = ("MpiCollectiveEnd", "NonBlockingCollectiveComplete")
_SENDS = ("MpiSend", "MpiIsend")
#: Nonblocking collectives, of which Score-P before version 8 notes only the calls.
_NONBLOCKING = frozenset(
    f"MPI_I{name}"
    for name in [
        "allgather",
        "allgatherv",
        "allreduce",
        "alltoall",
        "alltoallv",
        "alltoallw",
        "barrier",
        "bcast",
        "exscan",
        "gather",
        "gatherv",
        "reduce",
        "reduce_scatter",
        "reduce_scatter_block",
        "scan",
        "scatter",
        "scatterv",
    ]
)


def read_otf2(files: Sequence[Path]) -> Trace:
    """Read the archive that belongs to an anchor file, ``traces.otf2``."""
    anchors = [file for file in files if file.suffix == ".otf2"]
    if len(anchors) != 1:
        raise Error(f"{files[0]}: give one anchor file, such as traces.otf2")
    otf2 = import_optional("otf2", "reading traces of OTF2")
    errors = otf2.error.Error, import_module("_otf2").Error
    try:
        with otf2.reader.open(str(anchors[0])) as archive:
            return _read_archive(archive, otf2)
    except errors as error:
        raise Error(f"{anchors[0]}: OTF2 cannot read it: {str(error)[:80]}") from None


def _read_archive(archive: Any, otf2: Any) -> Trace:
    rank_of = _number_ranks(archive.definitions.groups, otf2)
    trace = Trace(len(rank_of))
    communicators: dict[int, tuple[int, ...]] = {}
    calls = completed = other = 0
    for location, event in archive.events:
        kind = type(event).__name__
        calls += kind == "Enter" and event.region.name in _NONBLOCKING
        other += kind in ("RmaPut", "RmaGet", "RmaAtomic")
        if kind not in (*_SENDS, *_ENDS, "ProgramBegin"):
            continue
        rank = rank_of.get(location.group)
        if rank is None:
            trace.add_loss("messages of threads that are no MPI ranks are left out")
            continue
        trace.seen.add(rank)
        if kind == "ProgramBegin":
            continue
        members = _list_members(event.communicator, rank_of, communicators, rank)
        if not members:
            trace.add_loss("messages between two groups (intercommunicators) left out")
        elif kind in _SENDS:
            trace.send(rank, members[event.receiver], event.msg_length)
        else:
            completed += kind == "NonBlockingCollectiveComplete"
            _read_collective(trace, rank, members, event)
    if calls and not completed:
        trace.add_loss(f"{calls} nonblocking collectives have no sizes")
    if other:
        trace.add_loss(f"{other} one-sided operations are left out")
    if trace.missing and trace.seen:
        trace.add_missing_ranks()
    return trace


def _number_ranks(groups: Any, otf2: Any) -> dict[Any, int]:
    """Map the processes of MPI to their ranks in MPI_COMM_WORLD."""
    for group in groups:
        if (group.group_type, group.paradigm) == (
            otf2.GroupType.COMM_LOCATIONS,
            otf2.Paradigm.MPI,
        ):
            check_rank_count(len(group.members))
            return {one.group: rank for rank, one in enumerate(group.members)}
    raise Error("the archive is of no MPI program")


def _list_members(
    communicator: Any,
    rank_of: Mapping[Any, int],
    known: dict[int, tuple[int, ...]],
    own: int,
) -> tuple[int, ...]:
    """List the ranks of a communicator; () for an intercommunicator."""
    if id(communicator) not in known:
        group = getattr(communicator, "group", None)
        if group is None or not group.members:
            known[id(communicator)] = ()
            if group is not None and group.group_type.name == "COMM_SELF":
                return (own,)
        else:
            ranks = tuple(rank_of[one.group] for one in group.members)
            known[id(communicator)] = ranks
    return known[id(communicator)]


def _read_collective(
    trace: Trace, rank: int, members: tuple[int, ...], event: Any
) -> None:
    name = str(event.collective_op).rpartition(".")[2]
    sent, received = event.size_sent, event.size_received
    size, own = len(members), members.index(rank)
    if name in _HANDLES or size < 2:
        return
    root = _find_root(event.root, size)
    if name in ("GATHERV", "SCATTERV") and root is not None:
        if name == "GATHERV":
            count_gathered_parts(trace, rank, members, members[root], sent)
        else:
            count_scattered_parts(trace, rank, members, members[root], received)
        return
    if name in ("ALLTOALL", "ALLTOALLV", "ALLTOALLW"):
        trace.add_even_exchange(rank, members, sent, received=received)
        return
    operation = "reduce_scatter" if name == "REDUCE_SCATTER_BLOCK" else name.lower()
    bytes = _find_bytes(name, size, own, root, sent, received)
    if bytes is None:
        trace.add_loss(f"{operation} with unknown sizes")
        return
    trace.add_member_calls(rank, operation, members, bytes, root)


def _find_root(root: Any, size: int) -> int | None:
    number = getattr(root, "value", root)
    return int(number) if int(number) < size else None


def _find_bytes(
    name: str, size: int, own: int, root: int | None, sent: int, received: int
) -> int | None:
    """Find the bytes that `Trace.add_member_calls` expects; None if unknown.

    With MPI_IN_PLACE, Score-P counts no message of a rank to itself.
    """
    total = sent + received
    if name == "BARRIER":
        return 0
    if name in ("BCAST", "SCATTER"):
        return received or (sent // (size - 1) if own == root else 0)
    if name in ("REDUCE", "GATHER"):
        return sent or (received // (size - 1) if own == root else 0)
    if name in ("ALLREDUCE", "ALLGATHER"):
        return _divide(received, size) or _divide(received, size - 1)
    if name == "ALLGATHERV":
        return received
    if name in ("REDUCE_SCATTER", "REDUCE_SCATTER_BLOCK"):
        return sent
    if name == "SCAN":
        return _divide(total, size + 1) or _divide(total, size - 1)
    return _divide(total, size - 1) if name == "EXSCAN" else None


def _divide(bytes: int, parts: int) -> int | None:
    return None if bytes % parts else bytes // parts
