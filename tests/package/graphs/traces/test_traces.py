# SPDX-License-Identifier: BSD-3-Clause
"""A job gives the same graph, whichever supported format its trace has."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from trace_writers import (
    JobStep,
    MeshJob,
    write_chakra,
    write_flight_recorder,
    write_goal,
    write_hlo,
    write_inspector,
    write_kineto,
)

from topoloom.graphs.axes import Traffic
from topoloom.graphs.phases import edge_rows
from topoloom.graphs.profile import Profile
from topoloom.graphs.traces.mesh import infer_mesh
from topoloom.graphs.traces.trace import Trace
from topoloom.graphs.traces.trace_formats import read_trace
from topoloom.tasks import import_pattern

if TYPE_CHECKING:
    from tests.conftest import Command

WRITERS: dict[str, Callable[[MeshJob, Path], None]] = {
    "hlo, lists": partial(write_hlo, syntax="lists"),
    "hlo, iota": partial(write_hlo, syntax="iota"),
    "hlo, mesh": partial(write_hlo, syntax="mesh"),
    "flight recorder, pickle": write_flight_recorder,
    "flight recorder, JSON": partial(write_flight_recorder, as_pickle=False),
    "flight recorder, gloo": partial(write_flight_recorder, is_gloo=True),
    "kineto": write_kineto,
    "inspector": write_inspector,
    "chakra": write_chakra,
    "goal": write_goal,
}

#: A collective of all ranks, by which the lines of Inspector files are aligned.
WORLD = JobStep("allreduce", (0, 1, 2), 1, 1)


@st.composite
def draw_job(draw: st.DrawFn) -> MeshJob:
    sizes = draw(st.sampled_from([(2, 2, 2), (2, 3, 2), (3, 2, 1), (1, 4, 2)]))
    wide = [axis for axis, size in enumerate(sizes) if size > 1]
    steps = []
    for _ in range(draw(st.integers(1, 4))):
        operation = draw(
            st.sampled_from(
                ["allreduce", "allgather", "reduce_scatter", "alltoall", "send"]
            )
        )
        most = 1 if operation == "send" else len(wide)
        axes = draw(st.sets(st.sampled_from(wide), min_size=1, max_size=most))
        count, times = draw(st.integers(1, 5000)), draw(st.integers(1, 3))
        steps.append(JobStep(operation, tuple(sorted(axes)), count, times))
    return MeshJob(sizes, (WORLD, *steps))


def import_edges(path: Path) -> list[list[int]]:
    return edge_rows(import_pattern(path).graph).tolist()


@given(draw_job())
@settings(max_examples=15)
def test_all_importers_give_the_same_graph_of_a_job(job: MeshJob) -> None:
    expected = np.stack(job.compute_messages(), axis=1).tolist()
    for name, write in WRITERS.items():
        with tempfile.TemporaryDirectory() as folder:
            write(job, Path(folder))
            files = list(Path(folder).iterdir())
            at = files[0] if len(files) == 1 else Path(folder)
            assert import_edges(at) == expected, name


@given(draw_job())
def test_the_mesh_is_found_from_the_groups(job: MeshJob) -> None:
    with tempfile.TemporaryDirectory() as folder:
        write_hlo(job, Path(folder), "iota")
        profile = read_trace(folder).profile
    found = infer_mesh(profile)
    assert np.prod(list(found.mesh.values())) == job.rank_count
    # Each axis of the job is an axis of the mesh, unless it is used only together with
    # another one.
    cuts = np.cumprod([1, *found.mesh.values()]).tolist()
    assert set(cuts) <= set(np.cumprod([1, *job.sizes[::-1]]).tolist())
    for step in job.steps:
        if step.operation not in ("send", "alltoall"):
            in_all = step.operation in ("allreduce", "reduce_scatter")
            size = (
                step.count * 4 * (len(job.list_groups(step.axes)[0]) if in_all else 1)
            )
            assert any(
                one.name == step.operation and one.bytes == size
                for one in found.operations
            )


def test_a_mesh_whose_axes_are_all_used_is_found_completely(tmp_path: Path) -> None:
    steps = (
        JobStep("allreduce", (2,), 256, 3),
        JobStep("allgather", (1,), 64, 1),
        JobStep("alltoall", (0,), 32, 2),
        JobStep("reduce_scatter", (0, 2), 8, 1),
    )
    write_hlo(MeshJob((4, 2, 3), steps), tmp_path, "mesh")
    found = infer_mesh(read_trace(tmp_path).profile)
    assert found.mesh == {"axis1": 3, "axis2": 2, "axis3": 4}
    operations = [tuple(one) for one in found.operations]
    assert operations == [
        (("axis1",), "allreduce", 256 * 4 * 3, 3, 24),
        (("axis1", "axis3"), "reduce_scatter", 8 * 4 * 12, 1, 24),
        (("axis2",), "allgather", 64 * 4, 1, 24),
        (("axis3",), "alltoall", 32 * 4, 2, 24),
    ]
    sent = {"+".join(o["axes"]): o["bytes"] for o in found.document()["traffic"]}
    assert sent["axis1"] == 2 * 2 * 256 * 4 * 3
    assert sent["axis2"] == 64 * 4
    assert sent["axis3"] == 3 * 32 * 4 * 2


def record_uneven_exchange(groups: Sequence[tuple[int, ...]], ranks: int) -> Profile:
    """Exchange different numbers of bytes, also none, between pairs of each group."""
    trace = Trace(ranks)
    for members in groups:
        for rank in members:
            parts = [(rank + 2 * peer) % 3 * 10 for peer in members]
            trace.add_exchange(rank, members, parts)
    return trace.profile()


def test_uneven_exchanges_are_along_the_axis_of_their_groups() -> None:
    groups = [(0, 2, 4, 6), (1, 3, 5, 7), (8, 10, 12, 14), (9, 11, 13, 15)]
    profile = record_uneven_exchange(groups, 16)
    found = infer_mesh(profile)
    sent = np.bincount(profile.traffic[:, 2], profile.traffic[:, 4])
    assert found.mesh == {"axis1": 2, "axis2": 4, "axis3": 2}
    assert found.operations == [(("axis2",), "alltoallv", sent.max(), 1, 16)]
    assert found.left_over == 0
    [traffic] = found.traffic()
    assert traffic == Traffic(("axis2",), "alltoall", int(sent.max()))


def test_operations_of_some_ranks_are_listed_as_such(
    tmp_path: Path, topoloom: Command
) -> None:
    """A permute in the first of four rows, and an allreduce in the second."""
    Path("step.hlo").write_text(
        "HloModule m, num_partitions=16\n\nENTRY e {\n  p0 = f32[1024] parameter(0)\n"
        "  c = f32[1024] collective-permute(p0), channel_id=1, "
        "source_target_pairs={{0,1},{1,2},{2,3},{3,0}}\n"
        "  ROOT r = f32[1024] all-reduce(c), channel_id=2, "
        "use_global_device_ids=true, replica_groups={{4,5,6,7}}\n}\n"
    )
    topoloom("pattern", "import", "step.hlo", "--collectives", "keep", "-o", "p.npz")
    found = topoloom("ai", "axes", "--graph", "p.npz").out
    assert "axis1  ring of 4.0 KiB, 1 time, by 4 of 16 ranks" in found
    assert "axis1  allreduce of 4.0 KiB, 1 time, by 4 of 16 ranks" in found
    document = topoloom("ai", "axes", "--graph", "p.npz", "--json").json
    assert [one["ranks"] for one in document["operations"]] == [4, 4]


def test_groups_that_fit_no_axes_are_reported() -> None:
    """For example, the first and last stages share embedding weights in a group."""
    trace = Trace(16)
    for first in range(0, 16, 2):
        trace.add("allreduce", (first, first + 1), 100)
    for first in range(4):
        for stage in range(3):
            trace.send(first + 4 * stage, first + 4 * stage + 4, 8)
        trace.add("allreduce", (first, first + 12), 30, 2)
    found = infer_mesh(trace.profile())
    assert found.mesh == {"axis1": 2, "axis2": 2, "axis3": 4}
    assert [one.axes for one in found.operations] == [("axis1",), ("axis3",)]
    assert found.left_over == 4 * 2 * 30 * 2


def test_exchanges_of_few_pairs_are_reported(topoloom: Command) -> None:
    """The exchanges follow no axis and have no known groups, as in a stencil."""
    trace = Trace(8)
    for rank in range(8):
        parts = [5 * (peer == rank ^ 1) for peer in range(8)]
        trace.add_exchange(rank, range(8), parts)
        trace.send(rank, rank ^ 1, 2, kind="direct")
    found = infer_mesh(trace.profile())
    assert found.mesh == {"axis1": 8}
    assert (found.operations, found.traffic(), found.left_over) == ([], [], 56)
    trace.profile().save("p.npz")
    words = ["ai", "axes", "--graph", "p.npz"]
    assert "left over  56 B in all, along none" in topoloom(*words).out
    on_machine = topoloom(*words, "--machine", "torus:8")
    assert on_machine.status
    assert "nothing in p.npz sends along axes; use topoloom map" in on_machine.err


@pytest.mark.parametrize("name", [name for name in WRITERS if name != "goal"])
def test_collectives_can_be_saved_with_the_graph(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "job"
    folder.mkdir()
    WRITERS[name](MeshJob((2, 2, 1), (JobStep("allreduce", (0, 1), 4, 2),)), folder)
    made = import_pattern(folder, collectives="keep")
    assert made.graph.edge_count == 0
    made.save(tmp_path / "p.npz")
    again = import_pattern(tmp_path / "p.npz")
    assert again.graph.edge_count == 0
