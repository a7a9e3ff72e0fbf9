# SPDX-License-Identifier: BSD-3-Clause
"""One emulated rank per role gives the messages of the whole world."""

from __future__ import annotations

from itertools import product
from math import prod
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, strategies as st

from topoloom.frameworks.pytorch import injected
from topoloom.frameworks.pytorch.fake_world import extrapolate_trace
from topoloom.frameworks.pytorch.process_notes import ProcessNotes, merge_notes
from topoloom.graphs.traces.trace import Trace

Members = tuple[int, ...]


def is_same_trace(one: Trace, other: Trace) -> bool:
    """Return whether two traces have the same calls."""
    return list_counts(one) == list_counts(other)


def list_counts(trace: Trace) -> list[tuple[Any, ...]]:
    profile = trace.profile()
    records = [
        (operation, tuple(profile.communicators[number].tolist()), root, size, calls)
        for _, operation, number, root, size, calls in profile.records.tolist()
    ]
    return sorted(records) + sorted(map(tuple, profile.traffic.tolist()))


class PipelineJob(NamedTuple):
    """A mesh, slowest axis first, with an optionally interleaved pipeline."""

    axes: tuple[tuple[str, int], ...]
    interleaved: bool = False
    calls_in_world: bool = False

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the size of each axis."""
        return tuple(size for _, size in self.axes)

    @property
    def rank_count(self) -> int:
        """Count the ranks."""
        return prod(self.shape)

    def list_groups_along(self, *names: str) -> list[Members]:
        """List the groups along an axis, or along several combined axes."""
        ranks = np.arange(self.rank_count).reshape(self.shape)
        inner = [i for i, (name, _) in enumerate(self.axes) if name in names]
        outer = [i for i in range(len(self.axes)) if i not in inner]
        size = prod(self.shape[i] for i in inner)
        rows = ranks.transpose(*outer, *inner).reshape(-1, size)
        return [tuple(row) for row in rows.tolist()]

    def list_groups(self) -> list[Members]:
        """List Megatron's groups: axes, products of axes, and embedding groups."""
        sets = [("tp",), ("pp",), ("dp",), ("cp",), ("tp", "pp"), ("dp", "cp")]
        found = [one for names in sets for one in self.list_groups_along(*names)]
        ends = [
            (one[0], one[-1]) for one in self.list_groups_along("pp") if len(one) > 1
        ]
        return [tuple(range(self.rank_count)), *found, *ends]

    def find_rank(self, **places: int) -> int:
        """Return the rank at these positions, and at position 0 along other axes."""
        at = [places.get(name, 0) for name, _ in self.axes]
        return int(np.ravel_multi_index(at, self.shape))

    def list_roles(self, **fixed_positions: int) -> list[int]:
        """List one rank per role: both ends of a pipeline and a stage between them."""
        sizes = dict(self.axes)
        stages = {0, min(1, sizes["pp"] - 1), sizes["pp"] - 1}
        # In a cp group of two, the ranks may differ, as the two ends of a pipeline do.
        parts = range(2 if sizes["cp"] == 2 else 1)
        named = product(stages, parts)
        return sorted(
            self.find_rank(pp=pp, cp=cp, **fixed_positions) for pp, cp in named
        )


def make_role_notes(rank: int, job: PipelineJob) -> ProcessNotes:
    """Create the notes of a rank after some steps of 1F1B with ring attention."""
    events: list[dict[str, Any]] = []
    everyone = tuple(range(job.rank_count))

    def record_call(name: str, members: Members, *details: Any) -> None:
        events.append(injected.make_event(name, members, details))
        events[-1]["args"]["Calls"] = 3

    def find_own_group(*names: str) -> Members:
        return next(one for one in job.list_groups_along(*names) if rank in one)

    def exchange_with_neighbors(
        members: Members, size: int, step: int, is_ring: bool = False
    ) -> None:
        """Send to one neighbor of a group and receive from the other."""
        place, count = members.index(rank), len(members)
        group = everyone if job.calls_in_world else members
        for name, key, other in (
            ("send", "Dst Rank", place + step),
            ("recv", "Src Rank", place - step),
        ):
            if is_ring or 0 <= other < count:
                record_call(name, group, size, key, group.index(members[other % count]))

    record_call("allreduce", find_own_group("tp"), 100)
    record_call("reduce_scatter", find_own_group("dp", "cp"), 200)
    record_call(
        "broadcast",
        find_own_group("tp", "pp"),
        8,
        "Root rank",
        len(find_own_group("tp", "pp")) - 1,
    )
    record_call("allreduce", everyone, 16)
    if len(find_own_group("cp")) > 1:
        exchange_with_neighbors(find_own_group("cp"), 40, 1, is_ring=True)
    pipe = find_own_group("pp")
    stage, last = pipe.index(rank), len(pipe) - 1
    if stage == last:
        record_call("allreduce", find_own_group("dp"), 4)
    if last and stage in (0, last):
        record_call("allreduce", (pipe[0], pipe[-1]), 1000)
    exchange_with_neighbors(pipe, 64, 1)
    exchange_with_neighbors(pipe, 48, -1)
    if job.interleaved and last:
        group = everyone if job.calls_in_world else pipe
        first, end = group.index(pipe[0]), group.index(pipe[-1])
        if stage == 0:
            record_call("recv", group, 60, "Src Rank", end)
        if stage == last:
            record_call("send", group, 60, "Dst Rank", first)
    return ProcessNotes(rank, job.rank_count, events, job.list_groups(), {}, "")


sizes = st.tuples(*[st.integers(1, most) for most in (2, 5, 3, 4)])
jobs = st.builds(
    lambda order, sizes, *flags: PipelineJob(
        tuple((name, dict(zip(("tp", "pp", "dp", "cp"), sizes, strict=True))[name])
              for name in order), *flags),
    st.permutations(["tp", "pp", "dp", "cp"]), sizes, st.booleans(), st.booleans(),
)  # fmt: skip


@given(jobs, st.data())
def test_one_emulated_rank_per_role_is_enough(
    job: PipelineJob, data: st.DataObject
) -> None:
    everyone = [make_role_notes(rank, job) for rank in range(job.rank_count)]
    others = {
        name: data.draw(st.integers(0, size - 1))
        for name, size in job.axes
        if name in ("tp", "dp")
    }
    few = extrapolate_trace([everyone[rank] for rank in job.list_roles(**others)])
    assert not few.losses
    assert is_same_trace(few, merge_notes(everyone))
    all_emulated = extrapolate_trace(everyone)
    assert not all_emulated.losses
    assert is_same_trace(all_emulated, merge_notes(everyone))


def test_roles_that_were_not_emulated_are_named_with_a_rank_of_each() -> None:
    job = PipelineJob((("tp", 2), ("pp", 4), ("dp", 3), ("cp", 1)))
    every = [make_role_notes(rank, job) for rank in range(job.rank_count)]
    [loss, *_] = extrapolate_trace([every[0], every[9]]).losses
    assert loss == (
        "rank 3 and 11 others: no rank was emulated at their index in groups shaped as "
        "[0, 3, 6, 9]; emulate 3, 6, too"
    )


@pytest.mark.parametrize("size", [3, 4, 7])
def test_no_message_wraps_around_a_pipeline(size: int) -> None:
    """Only one stage is emulated; the pipeline is not extrapolated as a ring."""
    job = PipelineJob((("dp", 2), ("pp", size), ("tp", 1), ("cp", 1)))
    found = extrapolate_trace([make_role_notes(1, job)])
    assert any("emulate 0" in loss for loss in found.losses)
    for _, source, target, _ in found.messages:
        assert abs(source - target) == 1


def test_messages_with_inconsistent_ends_are_named() -> None:
    job = PipelineJob((("dp", 2), ("pp", 4), ("tp", 1), ("cp", 1)))
    every = [make_role_notes(rank, job) for rank in range(4)]
    [sent] = [
        event["args"] for event in every[1].events if event["args"].get("Dst Rank") == 2
    ]
    sent["In msg nelems"] += 1
    [loss] = extrapolate_trace(every).losses
    assert loss == "rank 2 receives 192 bytes from rank 1, which sends 195"


def test_ranks_with_different_calls_get_different_roles() -> None:
    """On the mesh dp, pp, only stage 1 communicates, but not all ranks after 0."""
    job = PipelineJob((("dp", 4), ("pp", 2)))
    world, listed = (
        job.rank_count,
        job.list_groups_along("dp") + job.list_groups_along("pp"),
    )

    def make_notes(rank: int) -> ProcessNotes:
        events = []
        if rank % 2:
            events = [injected.make_event("allreduce", (1, 3, 5, 7), (200,))]
            events[0]["args"]["Calls"] = 1
        return ProcessNotes(rank, world, events, listed, {}, "")

    few = extrapolate_trace([make_notes(0), make_notes(1)])
    assert not few.losses
    assert is_same_trace(few, merge_notes([make_notes(rank) for rank in range(world)]))
