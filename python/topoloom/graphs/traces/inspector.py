# SPDX-License-Identifier: BSD-3-Clause
"""Lines of NCCL's and RCCL's Inspector: what each communicator of a process did.

A line names a communicator and a rank in it. Ranks of the job are those of the
communicator that all processes are in; a process is a host and a process id.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from topoloom._core import Error
from topoloom.graphs.traces.files import content
from topoloom.graphs.traces.trace import Trace
from topoloom.support.files import named

#: NCCL's words; sizes of gathers and scatters are those of one rank's part.
_OPERATIONS = {
    "AllReduce": "allreduce",
    "AllGather": "allgather",
    "ReduceScatter": "reduce_scatter",
    "AlltoAll": "alltoall",
    "Broadcast": "bcast",
    "Reduce": "reduce",
}

Process = tuple[str, int]


class InspectorLine(NamedTuple):
    """What one rank of a communicator did once: a collective, or a message."""

    where: str
    communicator: str
    place: int
    process: Process
    body: dict[str, Any]
    is_message: bool

    @property
    def number(self) -> int:
        """Of the operation among those of its communicator."""
        return int(self.body.get("p2p_sn" if self.is_message else "coll_sn", 0))


def read_inspector(files: Sequence[Path]) -> Trace:
    """Read the files of a job, in any number."""
    lines, sizes, losses = inspector_lines(files)
    members: dict[str, dict[int, Process]] = defaultdict(dict)
    for line in lines:
        other = members[line.communicator].setdefault(line.place, line.process)
        if other != line.process:
            raise Error(
                f"{line.where}: rank {line.place} of communicator {line.communicator} "
                f"is process {other[1]} of {other[0]} and {line.process[1]} of "
                f"{line.process[0]}"
            )
    rank_of = _ranks(members, sizes)
    trace = Trace(len(rank_of))
    trace.losses += losses
    trace.seen |= set(rank_of.values())
    numbers: dict[tuple[str, int, bool], list[int]] = defaultdict(list)
    for line in lines:
        numbers[line.communicator, line.place, line.is_message].append(line.number)
        _read_line(trace, line, members[line.communicator], sizes, rank_of)
    for (communicator, place, _), found in numbers.items():
        if len(set(found)) < max(found) - min(min(found), 1) + 1:
            lost = max(found) - min(min(found), 1) + 1 - len(set(found))
            trace.lose(
                f"rank {place} of communicator {communicator} lost {lost} operations"
            )
    return trace


def inspector_lines(
    files: Sequence[Path],
) -> tuple[list[InspectorLine], dict[str, int], list[str]]:
    """Return the lines of files, sizes of communicators, and what is cut short."""
    lines: list[InspectorLine] = []
    losses: list[str] = []
    sizes: dict[str, int] = {}
    for file in files:
        with named(file):
            lines += _lines(file, content(file), sizes, losses)
    if not lines:
        raise Error(f"{files[0]}: holds no line of the Inspector")
    return lines, sizes, losses


def _lines(
    file: Path, data: bytes, sizes: dict[str, int], losses: list[str]
) -> Iterator[InspectorLine]:
    rows = data.decode(errors="replace").splitlines()
    for number, row in enumerate(rows, start=1):
        if not row.strip():
            continue
        try:
            one = json.loads(row)
            header, about = one["header"], one["metadata"]
            body = one.get("coll_perf") or one.get("p2p_perf")
            line = InspectorLine(
                f"{file}:{number}",
                str(header["id"]),
                int(header["rank"]),
                (str(about["hostname"]), int(about["pid"])),
                body,
                "p2p_perf" in one,
            )
            size = int(header["n_ranks"])
        except (ValueError, KeyError, TypeError, AttributeError):
            if number == len(rows):
                losses.append(f"{file}:{number}: the last line is cut short")
                return
            raise Error(f"{file}:{number}: is not a line of the Inspector") from None
        if sizes.setdefault(line.communicator, size) != size:
            raise Error(f"{line.where}: communicator {line.communicator} changes size")
        if body is not None:
            yield line


def _ranks(
    members: dict[str, dict[int, Process]], sizes: dict[str, int]
) -> dict[Process, int]:
    """Give every process a rank, by the communicator that all of them are in."""
    processes = {one for group in members.values() for one in group.values()}
    for name, group in members.items():
        if set(group.values()) == processes and sizes[name] == len(processes):
            return {process: place for place, process in group.items()}
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
    rank = rank_of[line.process]
    if line.is_message:
        peer = group.get(int(line.body.get("p2p_peer", -1)))
        if word == "Send" and peer is None:
            trace.lose(f"a message of rank {rank} goes to a rank that left nothing")
        elif word == "Send" and peer is not None:
            trace.send(rank, rank_of[peer], size)
        return
    if word not in _OPERATIONS:
        trace.lose(f"'{word}' is not a collective that is known")
        return
    count = sizes[line.communicator]
    if len(group) < count:
        trace.lose(
            f"{count - len(group)} of {count} ranks of communicator "
            f"{line.communicator} left nothing"
        )
        return
    members = [rank_of[group[place]] for place in range(count)]
    operation = _OPERATIONS[word]
    trace.observe(
        rank,
        operation,
        members,
        size * count if operation == "reduce_scatter" else size,
    )
