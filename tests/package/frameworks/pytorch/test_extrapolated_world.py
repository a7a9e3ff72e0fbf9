# SPDX-License-Identifier: BSD-3-Clause
"""The messages of a whole world are extrapolated from a few emulated ranks."""

from __future__ import annotations

import json
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from topoloom._core import Error
from topoloom.frameworks.device_mesh import DeviceMeshJob
from topoloom.frameworks.pytorch import injected
from topoloom.frameworks.pytorch.fake_world import extrapolate_trace
from topoloom.frameworks.pytorch.process_notes import (
    ProcessNotes,
    merge_notes,
    read_notes,
)
from topoloom.graphs.axes import Traffic
from topoloom.graphs.layouts import layout_graph
from topoloom.graphs.mpi_collectives import OPERATIONS
from topoloom.graphs.phases import edge_rows
from topoloom.graphs.profile import Profile
from topoloom.graphs.traces.trace import Trace

PART = 1 << 19


def list_groups(axis: int, shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    """List the groups along an axis of a mesh; the mesh's last axis is the fastest."""
    ranks = np.arange(prod(shape)).reshape(shape)
    rows = np.moveaxis(ranks, axis, -1).reshape(-1, shape[axis])
    return [tuple(row) for row in rows.tolist()]


def make_notes(rank: int, shape: tuple[int, ...], stages: int) -> ProcessNotes:
    """Create the notes of one rank of a mesh with a pipeline along axis 0."""
    world = prod(shape)
    by_axis = [list_groups(axis, shape) for axis in range(len(shape))]
    events: list[dict[str, Any]] = []

    def record_call(
        name: str, members: tuple[int, ...], details: tuple[Any, ...]
    ) -> None:
        events.append(injected.make_event(name, members, details))
        events[-1]["args"]["Calls"] = 3

    for groups in by_axis[1:]:
        own = next(members for members in groups if rank in members)
        record_call("_allgather_base", own, (PART,))
        record_call("broadcast", own, (8, "Root rank", len(own) - 1))
    record_call("allreduce", tuple(range(world)), (16,))
    stage, apart = rank // (world // stages), world // stages
    everyone = tuple(range(world))
    if stage < stages - 1:
        record_call("send", everyone, (64, "Dst Rank", rank + apart))
        record_call("recv", everyone, (48, "Src Rank", rank + apart))
    if stage > 0:
        record_call("recv", everyone, (64, "Src Rank", rank - apart))
        record_call("send", everyone, (48, "Dst Rank", rank - apart))
    listed = [everyone, *(one for groups in by_axis for one in groups)]
    return ProcessNotes(rank, world, events, listed, {}, "")


def is_same_trace(one: Trace, other: Trace) -> bool:
    """Return whether two traces have the same calls."""
    return list_counts(one.profile()) == list_counts(other.profile())


def list_counts(profile: Profile) -> list[tuple[Any, ...]]:
    records = [
        (operation, tuple(profile.communicators[number].tolist()), root, size, calls)
        for _, operation, number, root, size, calls in profile.records.tolist()
    ]
    return sorted(records) + sorted(map(tuple, profile.traffic.tolist()))


@given(st.lists(st.integers(1, 4), min_size=2, max_size=4).map(tuple))
def test_one_emulated_rank_per_stage_is_enough(shape: tuple[int, ...]) -> None:
    world, stages = prod(shape), shape[0]
    everyone = [make_notes(rank, shape, stages) for rank in range(world)]
    few = extrapolate_trace(everyone[:: world // stages])
    assert not few.losses
    assert is_same_trace(few, merge_notes(everyone))
    assert is_same_trace(extrapolate_trace(everyone), few)


def test_a_world_of_1024_ranks_sends_the_messages_of_its_axes() -> None:
    """An FSDP job: rings along axes replicate, shard and tp, a chain along pp.

    The pattern `ring` sends in both directions along an axis, but the recorded calls
    send in only one.
    """
    job = DeviceMeshJob(replicate=4, shard=8, tp=8, pp=4)
    shape = (4, 4, 8, 8)
    found = extrapolate_trace(
        [make_notes(stage * 256, shape, 4) for stage in range(4)]
    ).profile()
    sizes = {"replicate": 4, "shard": 8, "tp": 8}
    traffic = [
        Traffic((axis,), "ring", 3 * PART * (ranks - 1))
        for axis, ranks in sizes.items()
    ]
    graph, _ = layout_graph(job.layouts()[0], traffic)
    expected = sum_bytes_by_pair(graph)
    allgather = OPERATIONS.index("allgather")
    gathers = found.records[found.records[:, 1] == allgather]
    assert len(gathers) == 256 + 128 + 128
    only = Profile(1024, found.traffic[:0], gathers, found.communicators)
    assert sum_bytes_by_pair(only.graph()) == expected
    apart = found.traffic[:, 3] - found.traffic[:, 2]
    assert len(apart) == 2 * 768
    assert set(np.abs(apart).tolist()) == {256}


def sum_bytes_by_pair(graph: Any) -> dict[tuple[int, int], int]:
    """Add up the bytes between each pair of ranks, over both directions."""
    sums: dict[tuple[int, int], int] = {}
    for source, target, size, _ in edge_rows(graph).tolist():
        pair = min(source, target), max(source, target)
        sums[pair] = sums.get(pair, 0) + size
    return sums


def test_inconsistent_emulated_ranks_are_reported() -> None:
    few = [make_notes(rank, (2, 4), 2) for rank in (0, 4)]
    every = [one["args"] for one in few[1].events]
    [args] = [one for one in every if one["Collective name"] == "allreduce"]
    args["Calls"] = 5
    [loss] = extrapolate_trace(few).losses
    assert "rank 0 has 3 of 5 calls of allreduce with 16 bytes in a group of 8" in loss


def test_worlds_of_different_sizes_are_refused() -> None:
    two = [make_notes(0, (2, 2), 2), make_notes(0, (2, 3), 2)]
    for join in (merge_notes, extrapolate_trace):
        with pytest.raises(Error, match="worlds of"):
            join(two)


def make_recorder_notes(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> injected.Notes:
    monkeypatch.setenv(injected.FOLDER, str(folder))
    return injected.Notes({"rank": 1, "world": 4, "torch": "2.15"})


def test_notes_are_up_to_date_while_the_process_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counts survive even if the process is killed."""
    made = make_recorder_notes(tmp_path, monkeypatch)
    event = injected.make_event("send", (2, 1), (40, "Dst Rank", 0))
    made.add_group([1, 2])
    for _ in range(70000):
        made.count(("send", 40), lambda: event)
    [file] = tmp_path.glob("*.calls")
    with file.open("a") as torn:
        torn.write('{"name": "record_par')
    [noted] = read_notes(tmp_path)
    assert noted.groups == [(1, 2)]
    assert noted.events[0]["args"]["Dst Rank"] == 2
    assert noted.events[0]["args"]["Calls"] == 70000
    file.write_text(json.dumps({"rank": 1}) + "\n")
    with pytest.raises(Error, match="damaged"):
        read_notes(tmp_path)


def test_too_many_different_calls_are_dropped_and_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(injected, "MAX_CALLS", 512)
    made = make_recorder_notes(tmp_path, monkeypatch)
    for size in range(520):
        event = injected.make_event("allreduce", (0, 1), (size,))
        for _ in range(2):
            made.count((size,), lambda event=event: event)
    [noted] = read_notes(tmp_path)
    assert len(noted.events) == 511
    assert {event["args"]["Calls"] for event in noted.events} == {2}
    assert noted.lost == {"calls after 511 others": 18}
