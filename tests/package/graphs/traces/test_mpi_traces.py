# SPDX-License-Identifier: BSD-3-Clause
"""Traces of SimGrid, Extrae and Score-P have the bytes that the program sent."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import otf2
import pytest

from topoloom import Error
from topoloom.graphs.mpi_collectives import OPERATIONS
from topoloom.graphs.profile import KINDS
from topoloom.graphs.traces.trace_formats import (
    IncompleteTraceError,
    TraceContent,
    read_trace,
)

Messages = set[tuple[str, int, int, int]]
Calls = set[tuple[str, int, int]]


def list_messages(content: TraceContent) -> Messages:
    """Return kind, source, target and bytes."""
    rows = content.profile.traffic.tolist()
    return {
        (KINDS[kind], source, target, size)
        for _, kind, source, target, size, _, _ in rows
    }


def list_calls(content: TraceContent) -> Calls:
    """Return operation, root and bytes."""
    rows = content.profile.records.tolist()
    return {(OPERATIONS[kind], root, size) for _, kind, _, root, size, _ in rows}


#: What smpirun -trace-ti of SimGrid 3.32 wrote for rank 0 of 2; rank 1 is alike.
ACTIONS = """\
{0} init
{0} compute 1.88252
{0} irecv {1} 1 128 0
{0} send {1} 1 128 0
{0} wait {1} {0} 1
{0} isend {1} 2 10 1
{0} recv {1} 2 10 1
{0} sendRecv 33 {1} 33 {1} 2 2
{0} bcast 100 1 0\x20
{0} reduce 100 0 1 0\x20
{0} allreduce 7 0 5\x20
{0} alltoall 16 16 1 1
{0} allgather 5 5 4 4
{0} gather 6 6 0 3 3
{0} scatter 6 6 0 6 6
{0} alltoallv 3 1 2 3 1 2 1 1
{0} allgatherv 1 1 2 0 0
{0} gatherv 2 1 2 1 0 0
{0} scatterv 1 2 2 1 0 0
{0} reducescatter 1 2 0 0
{0} scan 3 0 0\x20
{0} barrier
{0} finalize
"""


def write_simgrid(folder: Path) -> Path:
    for rank in (0, 1):
        file = folder / f"1.5_rank-{rank + 1}.txt"
        file.write_text(ACTIONS.format(rank, 1 - rank))
    main = folder / "t.txt"
    main.write_text("1.5_rank-1.txt\n1.5_rank-2.txt\n")
    return main


def test_simgrid_traces_have_sizes_in_bytes(tmp_path: Path) -> None:
    found = read_trace(write_simgrid(tmp_path))
    pairs = ((0, 1), (1, 0))
    sends = {("send", *pair, size) for pair in pairs for size in (1024, 40, 33)}
    parts = {("direct", 0, 1, 8), ("direct", 1, 0, 4)}
    rooted = {("direct", 0, 1, 16), ("direct", 1, 0, 16)}
    assert list_messages(found) == sends | parts | rooted
    assert list_calls(found) == {
        *(("bcast", 1, 800), ("reduce", 1, 800), ("allreduce", -1, 28)),
        *(("alltoall", -1, 64), ("allgather", -1, 40), ("gather", 0, 12)),
        *(("scatter", 0, 6), ("allgatherv", -1, 24), ("reduce_scatter", -1, 24)),
        *(("scan", -1, 24), ("barrier", -1, 0)),
    }


@pytest.mark.parametrize(
    "change",
    [("finalize", "compute 1"), ("scan", "zzscan"), ("compute", "comm_split 0 1\n0 x")],
)
def test_cut_and_unknown_actions_of_simgrid_are_losses(
    change: tuple[str, str], tmp_path: Path
) -> None:
    main = write_simgrid(tmp_path)
    file = tmp_path / "1.5_rank-2.txt"
    file.write_text(file.read_text().replace(*change))
    with pytest.raises(
        IncompleteTraceError, match=r"probably cut|'zzscan' is not read|split communic"
    ):
        read_trace(main)


@pytest.mark.parametrize("is_link", [False, True])
def test_a_simgrid_trace_reads_no_file_outside_of_its_folder(
    is_link: bool, tmp_path: Path
) -> None:
    folder = tmp_path / "trace"
    folder.mkdir()
    main = write_simgrid(folder)
    first = folder / "1.5_rank-1.txt"
    first.rename(tmp_path / first.name)
    if is_link:
        first.symlink_to(tmp_path / first.name)
    else:
        main.write_text(main.read_text().replace("1.5_rank-1", "../1.5_rank-1"))
    with pytest.raises(Error, match=r"there is no file '.*rank-1\.txt' beside it"):
        read_trace(main)


def write_paraver(folder: Path) -> Path:
    """Write sends, an allreduce of all, and a broadcast in the group of tasks 3, 1."""
    head = "#Paraver (17/01/26 at 16:09):8000_ns:1(3):1:3(1:1,1:1,1:1),2\n"
    lines = ["c:1:1:3:1:2:3", "c:1:2:2:3:1"]
    for task in (1, 2, 3):
        where = f"{task}:1:{task}:1"
        lines += [f"1:{where}:0:10:1", f"2:{where}:5:50000001:1"]
        lines.append(
            f"3:{where}:5:6:{task % 3 + 1}:1:{task % 3 + 1}:1:7:8:{99 + task}:4"
        )
        sizes = "50100001:24:50100002:24:50100004:1"
        lines += [f"2:{where}:20:50000002:10:{sizes}", f"2:{where}:30:50000002:0"]
        if task != 2:
            root = "50100003:1:" if task == 3 else ""
            sizes = f"50100001:{50 * (task == 3)}:50100002:50:{root}50100004:2"
            lines.append(f"2:{where}:40:50000002:7:{sizes}")
    file = folder / "a.prv"
    file.write_text(head + "\n".join(lines) + "\n")
    return file


def test_paraver_traces_have_messages_and_collectives(tmp_path: Path) -> None:
    found = read_trace(write_paraver(tmp_path))
    ring = {("send", task - 1, task % 3, 99 + task) for task in (1, 2, 3)}
    assert list_messages(found) == ring
    assert list_calls(found) == {("allreduce", -1, 24), ("bcast", 0, 50)}
    assert {tuple(group.tolist()) for group in found.profile.communicators} == {
        (0, 1, 2),
        (2, 0),
    }


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("8000_ns:1(3):1:", "8000_ns:1(3):2:"), r"a\.prv:1: 2 applications"),
        (("c:1:2:2:3:1", "c:1:2:3:3:1"), r"a\.prv:3: is not a record"),
        (("50000002:7:", "50000002:99:"), "collectives of unknown kinds"),
        (("50100003:1:", ""), "bcast without a root"),
    ],
)
def test_damaged_paraver_traces_are_refused(
    change: tuple[str, str], message: str, tmp_path: Path
) -> None:
    file = write_paraver(tmp_path)
    file.write_text(file.read_text().replace(*change))
    with pytest.raises(Error, match=message):
        read_trace(file)


def write_otf2(folder: Path) -> Path:
    """Write an archive as Score-P does, with OTF2's own module."""
    none, of_mpi = otf2.CollectiveRoot.NONE, otf2.Paradigm.MPI
    with otf2.writer.open(str(folder / "a"), timer_resolution=1000) as archive:
        known = archive.definitions
        top = known.system_tree_node("machine")
        for rank in range(4):
            group = known.location_group(f"rank {rank}", system_tree_parent=top)
            known.location("thread", group=group)
        places = list(known.locations)
        kinds = otf2.GroupType
        known.group("l", kinds.COMM_LOCATIONS, of_mpi, members=places)
        all_ranks = known.group("w", kinds.COMM_GROUP, of_mpi, members=places)
        odd = known.group("o", kinds.COMM_GROUP, of_mpi, members=[places[3], places[1]])
        world, pair = known.comm("world", all_ranks), known.comm("pair", odd)
        for rank, place in enumerate(places):
            writer, op = archive.event_writer_from_location(place), otf2.CollectiveOp
            writer.mpi_send(1, (rank + 1) % 4, world, 1, 100 + rank)
            if rank in (1, 3):
                writer.mpi_isend(2, 0 if rank == 1 else 1, pair, 2, 7, 5)
            sent = 4 * 50 if rank == 2 else 0
            for at, end in enumerate(
                [
                    (op.ALLREDUCE, world, none, 4 * 24, 4 * 24),
                    (op.BCAST, world, 2, sent, 50),
                    (op.SCAN, world, none, (4 - rank) * 8, (rank + 1) * 8),
                ]
            ):
                writer.mpi_collective_begin(3 + 2 * at)
                writer.mpi_collective_end(4 + 2 * at, *end)
    return folder / "a" / "traces.otf2"


def test_otf2_archives_have_messages_of_communicators(tmp_path: Path) -> None:
    found = read_trace(write_otf2(tmp_path))
    ring = {("send", rank, (rank + 1) % 4, 100 + rank) for rank in range(4)}
    assert list_messages(found) == ring | {("send", 1, 3, 7), ("send", 3, 1, 7)}
    assert list_calls(found) == {
        ("allreduce", -1, 24),
        ("bcast", 2, 50),
        ("scan", -1, 8),
    }
    assert np.all(found.profile.records[:, 5] == 1)


def format_call(name: str, **values: object) -> str:
    """Return a call as dumpi2ascii prints it."""
    kinds = {"comm": "MPI_Comm", "datatype": "MPI_Datatype", "sendtype": "MPI_Datatype"}
    lines = [f"{kinds.get(key, 'int')} {key}={value}" for key, value in values.items()]
    time = "at walltime 12.000000001, cputime 1.000000000 seconds in thread 0."
    return "\n".join([f"{name} entering {time}", *lines, f"{name} returning {time}\n"])


def write_dumpi(folder: Path, other: str = "") -> Path:
    """Write the calls of two ranks: sends of all kinds, and two collectives."""
    world, real = "2 (MPI_COMM_WORLD)", "11 (MPI_DOUBLE)"
    for rank in (0, 1):
        to = {"dest": 1 - rank, "tag": 3, "comm": world}
        calls = [
            format_call("MPI_Comm_size", comm=world, size=2),
            format_call("MPI_Isend", count=4, datatype=real, **to, request=9),
            format_call("MPI_Send", count=5, datatype=real, dest=-1, tag=3, comm=world),
            format_call("MPI_Send_init", count=6, datatype=real, **to, request=7),
            *2 * [format_call("MPI_Start", request=7)],
            format_call("MPI_Allreduce", count=3, datatype=real, comm=world),
            format_call(
                "MPI_Alltoallv",
                **{"sendcounts[2]": f"[{rank}, 2]"},
                sendtype=real,
                comm=world,
            ),
            other,
            format_call("MPI_Finalize"),
        ]
        (folder / f"dumpi-000{rank}.txt").write_text("".join(calls))
    return folder


def test_dumpi_texts_have_sends_and_collectives(tmp_path: Path) -> None:
    found = read_trace(write_dumpi(tmp_path))
    sends = {("send", 0, 1, 32), ("send", 1, 0, 32)}
    again = {("send", 0, 1, 96), ("send", 1, 0, 96)}
    uneven = {("direct", 0, 1, 16), ("direct", 1, 0, 8)}
    assert list_messages(found) == sends | again | uneven
    assert list_calls(found) == {("allreduce", -1, 24)}


def test_dumpi_texts_without_needed_parts_are_losses(tmp_path: Path) -> None:
    kind, comm = "28 (user-defined-datatype)", "5 (user-defined-comm)"
    other = format_call("MPI_Bcast", count=1, datatype=kind, root=0, comm=comm)
    with pytest.raises(IncompleteTraceError, match="members are not in the text"):
        read_trace(write_dumpi(tmp_path, other))
    with pytest.raises(IncompleteTraceError, match="1 of 2 ranks have no trace"):
        read_trace(write_dumpi(tmp_path) / "dumpi-0000.txt")
