# SPDX-License-Identifier: BSD-3-Clause
"""Reads output of the NCCL or RCCL Inspector: operations of each communicator.

Each line names a communicator and a rank in it. A process's rank in the job is its rank
in a communicator of all processes. A process is identified by host and process id, and
has one GPU. Lines of Topoloom's plugin, ``nccl/profiler``, also contain roots, GPUs,
the launcher's ranks, and counts of calls.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from topoloom._core import Error
from topoloom.graphs.traces.trace import Trace
from topoloom.graphs.traces.trace_files import read_content
from topoloom.support.files import prefix_errors

#: Operations by their NCCL names; for gathers and scatters, sizes are those of one
#: rank.
_OPERATIONS = {
    "AllReduce": "allreduce",
    "AllGather": "allgather",
    "ReduceScatter": "reduce_scatter",
    "AlltoAll": "alltoall",
    "Broadcast": "bcast",
    "Reduce": "reduce",
    "Gather": "gather",
    "Scatter": "scatter",
}

_ROOTED = ("bcast", "reduce", "gather", "scatter")

#: Host, process id, and GPU number (-1 if unknown).
Process = tuple[str, int, int]


class InspectorLine(NamedTuple):
    """An operation of a rank in a communicator; the body is empty if there is none."""

    where: str
    communicator: str
    place: int
    process: Process
    body: dict[str, Any]
    is_message: bool
    #: fields of Topoloom's plugin: whether the rank has ended, and how many calls were
    #: lost
    recording: dict[str, Any]
    #: rank in the job, and size of the job, if known
    job: tuple[int, int] | None

    @property
    def number(self) -> int:
        """Sequence number of the operation in its communicator."""
        return int(self.body.get("p2p_sn" if self.is_message else "coll_sn", 0))

    @property
    def calls(self) -> int | None:
        """Number of calls; None if the line is a single call with a sequence number."""
        calls = self.body.get("p2p_calls" if self.is_message else "coll_calls")
        return None if calls is None else int(calls)


def read_inspector(files: Sequence[Path]) -> Trace:
    """Read the Inspector files of a job."""
    lines, sizes, losses = read_inspector_lines(files)
    members: dict[str, dict[int, Process]] = defaultdict(dict)
    for line in lines:
        other = members[line.communicator].setdefault(line.place, line.process)
        if other != line.process:
            raise Error(
                f"{line.where}: rank {line.place} of communicator {line.communicator} "
                f"is process {other[1]} of {other[0]} and {line.process[1]} of "
                f"{line.process[0]}"
            )
    for group in members.values():
        for (host, pid, _), places in Counter(group.values()).items():
            if places > 1:
                raise Error(
                    f"process {pid} of {host} has several GPUs, but lines do not "
                    "contain the GPU; start one process per GPU"
                )
    ranks, rank_of = _assign_ranks(lines, members, sizes)
    trace = Trace(ranks)
    trace.losses += losses
    trace.seen |= set(rank_of.values())
    for line in lines:
        if line.body:
            _read_line(trace, line, members[line.communicator], sizes, rank_of)
    _find_lost_numbers(trace, lines)
    _find_lost_calls(trace, lines, rank_of)
    if ranks > len(trace.seen):
        trace.add_missing_ranks()
    return trace


def _find_lost_numbers(trace: Trace, lines: Sequence[InspectorLine]) -> None:
    numbers: dict[tuple[str, int, bool], list[int]] = defaultdict(list)
    for line in lines:
        if line.body and line.calls is None:
            key = (line.communicator, line.place, line.is_message)
            numbers[key].append(line.number)
    for (communicator, place, _), found in numbers.items():
        if len(set(found)) < max(found) - min(min(found), 1) + 1:
            lost = max(found) - min(min(found), 1) + 1 - len(set(found))
            trace.add_loss(
                f"rank {place} of communicator {communicator} lost {lost} operations"
            )


def _find_lost_calls(
    trace: Trace, lines: Sequence[InspectorLine], rank_of: dict[Process, int]
) -> None:
    """Add unfinished communicators, and calls that the plugin lost, to the losses."""
    begun = {}
    for line in lines:
        if line.recording:
            begun[line.communicator, line.place] = line
            lost = int(line.recording.get("lost_calls", 0))
            if lost:
                trace.add_loss(
                    f"rank {rank_of[line.process]} could not note {lost} calls of "
                    f"communicator {line.communicator}: too many kinds of them, or "
                    "unknown datatypes"
                )
    open_ended = [line for line in begun.values() if not line.recording.get("ended")]
    for line in open_ended:
        trace.add_loss(
            f"rank {rank_of[line.process]} was ended before it wrote what it did on "
            f"communicator {line.communicator}"
        )


def read_inspector_lines(
    files: Sequence[Path], partial: bool = False
) -> tuple[list[InspectorLine], dict[str, int], list[str]]:
    """Return the Inspector's lines, the sizes of communicators, and the losses.

    With `partial`, lines that are not the Inspector's are skipped.
    """
    lines: list[InspectorLine] = []
    losses: list[str] = []
    sizes: dict[str, int] = {}
    for file in files:
        with prefix_errors(file):
            lines += _parse_lines(file, read_content(file), sizes, losses, partial)
    if not lines:
        raise Error(f"{files[0]}: contains no line of the Inspector")
    most: dict[str, int] = {}
    for line in lines:
        most[line.communicator] = max(line.place + 1, most.get(line.communicator, 0))
    for communicator, size in sizes.items():
        sizes[communicator] = size or most.get(communicator, 0)
    return lines, sizes, losses


def _parse_lines(
    file: Path,
    data: bytes,
    sizes: dict[str, int],
    losses: list[str],
    partial: bool,
) -> Iterator[InspectorLine]:
    rows = data.decode(errors="replace").splitlines()
    for number, row in enumerate(rows, start=1):
        if not row.strip():
            continue
        try:
            one = json.loads(row)
            header, about = one["header"], one["metadata"]
            rank, size = about.get("job_rank"), about.get("job_size")
            line = InspectorLine(
                f"{file}:{number}",
                str(header["id"]),
                int(header["rank"]),
                (str(about["hostname"]), int(about["pid"]), about.get("device", -1)),
                one.get("coll_perf") or one.get("p2p_perf") or {},
                "p2p_perf" in one,
                one.get("recording", {}),
                None if rank is None or size is None else (int(rank), int(size)),
            )
            size = int(header["n_ranks"])
            _ = line.number, line.calls  # are numbers
        except (ValueError, KeyError, TypeError, AttributeError):
            if number == len(rows):
                losses.append(f"{file}:{number}: the last line is truncated")
                return
            error = f"{file}:{number}: is not a line of the Inspector"
            if not partial:
                raise Error(error) from None
            losses.append(error)
            continue
        if sizes.setdefault(line.communicator, size) != size:
            raise Error(f"{line.where}: communicator {line.communicator} changes size")
        if line.body or line.recording:
            yield line


def _assign_ranks(
    lines: Sequence[InspectorLine],
    members: dict[str, dict[int, Process]],
    sizes: dict[str, int],
) -> tuple[int, dict[Process, int]]:
    """Return the number of ranks of the job, and the rank of each process.

    Ranks are taken from the launcher, or from a communicator of all processes.
    """
    processes = {one for group in members.values() for one in group.values()}
    given = {line.process: line.job for line in lines if line.job is not None}
    jobs = set(given.values())
    if len(given) == len(jobs) == len(processes) and len({n for _, n in jobs}) == 1:
        return next(iter(jobs))[1], {one: rank for one, (rank, _) in given.items()}
    for name, group in members.items():
        if set(group.values()) == processes and sizes[name] == len(processes):
            return len(group), {one: place for place, one in group.items()}
    raise Error(
        f"ranks cannot be joined: no communicator has all {len(processes)} processes; "
        "files of some hosts are missing, or the job never used all of its ranks at "
        "once"
    )


def _read_line(
    trace: Trace,
    line: InspectorLine,
    group: dict[int, Process],
    sizes: dict[str, int],
    rank_of: dict[Process, int],
) -> None:
    kind = "p2p" if line.is_message else "coll"
    word = str(line.body.get(kind, ""))
    size = int(line.body.get(f"{kind}_msg_size_bytes", 0))
    if size < 0:
        raise Error(f"{line.where}: moves {size} bytes")
    calls = 1 if line.calls is None else line.calls
    rank = rank_of[line.process]
    if line.is_message:
        peer = group.get(int(line.body.get("p2p_peer", -1)))
        if word == "Send" and peer is None:
            trace.add_loss(f"a message of rank {rank} goes to a rank that left nothing")
        elif word == "Send" and peer is not None:
            # The size is the total over several calls, whose sizes may differ.
            larger = size % calls
            trace.send(rank, rank_of[peer], size // calls, calls - larger)
            if larger:
                trace.send(rank, rank_of[peer], size // calls + 1, larger)
        return
    if word not in _OPERATIONS:
        trace.add_loss(f"'{word}' is not a collective that is known")
        return
    count = sizes[line.communicator]
    if len(group) < count:
        trace.add_loss(
            f"{count - len(group)} of {count} ranks of communicator "
            f"{line.communicator} left nothing"
        )
        return
    members = [rank_of[group[place]] for place in range(count)]
    operation = _OPERATIONS[word]
    root = line.body.get("coll_root") if operation in _ROOTED else None
    trace.add_member_calls(
        rank,
        operation,
        members,
        size * count if operation == "reduce_scatter" else size,
        root,
        calls,
    )
