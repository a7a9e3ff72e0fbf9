# SPDX-License-Identifier: BSD-3-Clause
"""Missing parts of traces are reported in one line, and ignored only on request."""

from __future__ import annotations

import json
import os
import pickle
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from trace_writers import (
    JobStep,
    MeshJob,
    write_chakra,
    write_flight_recorder,
    write_hlo,
    write_inspector,
    write_kineto,
)

from topoloom import Error
from topoloom.graphs.mpi_collectives import OPERATIONS
from topoloom.graphs.traces.hlo import read_hlo
from topoloom.graphs.traces.replica_groups import parse_groups
from topoloom.graphs.traces.trace_formats import IncompleteTraceError, read_trace

JOB = MeshJob(
    (2, 2, 1), (JobStep("allreduce", (0, 1), 4, 3), JobStep("send", (1,), 8, 1))
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "job"
    made.mkdir()
    return made


def edit_json(file: Path, edit: Callable[[dict], None]) -> None:  # type: ignore[type-arg]
    document = json.loads(file.read_text())
    edit(document)
    file.write_text(json.dumps(document))


def read_losses(folder: Path, message: str) -> list[str]:
    with pytest.raises(IncompleteTraceError, match=message) as refused:
        read_trace(folder)
    assert "\n" not in str(refused.value)
    return read_trace(folder, partial=True).losses


def test_chakra_traces_without_nccl_kernels_are_refused(
    folder: Path,
) -> None:
    write_chakra(MeshJob((2, 2, 1), ()), folder)
    (loss,) = read_losses(folder, "no node communicates")
    assert "NCCL's kernels" in loss


def test_groups_of_gloo_are_checked_against_sizes_of_collectives(folder: Path) -> None:
    job = MeshJob((4, 1, 1), (JobStep("allgather", (0,), 8, 1),))
    write_flight_recorder(job, folder, is_gloo=True)
    assert read_trace(folder).losses == []
    (folder / "nccl_trace_rank_2").unlink()
    losses = read_losses(
        folder, "an allgather of 128 bytes in parts of 32, but 3 ranks"
    )
    assert losses[-1] == "1 of 4 ranks have no trace: 2"


def test_calls_without_details_in_kineto_are_reported_once(folder: Path) -> None:
    for rank in range(2):
        document = {
            "distributedInfo": {"backend": "gloo", "rank": rank, "world_size": 2},
            "traceEvents": [{"name": "gloo:all_reduce"}, {"name": "c10d::allreduce_"}],
        }
        (folder / f"trace_{rank}.json").write_text(json.dumps(document))
    losses = read_losses(folder, "neither sizes nor groups")
    assert len(losses) == 1


def test_a_pickle_that_would_run_code_is_refused(folder: Path) -> None:
    class MaliciousObject:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return os.system, ("touch ran",)

    dump = {"entries": [MaliciousObject()], "pg_config": {}}
    (folder / "nccl_trace_rank_0").write_bytes(pickle.dumps(dump))
    with pytest.raises(Error, match=r"it would load posix\.system, which is refused"):
        read_trace(folder)
    assert not Path("ran").exists()


def test_entries_lost_from_a_ring_buffer_are_counted(folder: Path) -> None:
    write_flight_recorder(JOB, folder, as_pickle=False)
    edit_json(folder / "nccl_trace_rank_1", lambda dump: dump["entries"].pop(0))
    losses = read_losses(folder, "rank 1 lost 1 entries of its ring buffer")
    assert len(losses) == 2
    assert "rank 1 has 2 of 3 calls of allreduce" in losses[1]


def test_ranks_without_traces_are_named(folder: Path) -> None:
    for write in (write_flight_recorder, write_kineto):
        for file in folder.iterdir():
            file.unlink()
        write(JOB, folder)
        next(folder.glob("*2*")).unlink()
        read_losses(folder, "1 of 4 ranks have no trace: 2")
        assert read_trace(folder, partial=True).profile.missing == [2]


def test_uneven_alltoalls_need_split_sizes(folder: Path) -> None:
    job = MeshJob((1, 2, 1), (JobStep("alltoall", (1,), 4, 1),))
    write_flight_recorder(job, folder, as_pickle=False)

    def set_uneven_output(dump: dict) -> None:  # type: ignore[type-arg]
        dump["entries"][0]["output_sizes"] = [[5]]

    edit_json(folder / "nccl_trace_rank_0", set_uneven_output)
    read_losses(folder, "an alltoall has no split sizes, and is not even")


def test_kineto_has_split_sizes(folder: Path) -> None:
    job = MeshJob((1, 2, 1), (JobStep("alltoall", (1,), 4, 1),))
    write_kineto(job, folder)

    def set_input_split(document: dict, text: str = "[3, 5]") -> None:  # type: ignore[type-arg]
        document["traceEvents"][1]["args"]["In split size"] = text

    edit_json(folder / "trace_0.json", set_input_split)
    edit_json(folder / "trace_1.json", lambda one: set_input_split(one, "[8, 0]"))
    profile = read_trace(folder).profile
    assert profile.edges().bytes.tolist() == [5 * 4, 8 * 4]
    edit_json(folder / "trace_0.json", lambda one: set_input_split(one, "[3, ..., 5]"))
    read_losses(folder, "an alltoall has truncated split sizes")


def test_a_missing_bcast_root_is_not_guessed(folder: Path) -> None:
    write_inspector(JOB, folder)
    for file in folder.iterdir():
        file.write_text(file.read_text().replace("AllReduce", "Broadcast"))
    read_losses(folder, "bcast without a root")


def test_inspectors_of_some_hosts_cannot_be_joined(folder: Path) -> None:
    write_inspector(JOB, folder)
    next(folder.glob("h1-*")).unlink()
    with pytest.raises(
        Error, match="ranks cannot be joined: no communicator has all 3"
    ):
        read_trace(folder)


def test_a_process_with_several_gpus_is_named(folder: Path) -> None:
    write_inspector(JOB, folder)
    file = next(folder.glob("h1-pid8*"))
    file.write_text(file.read_text().replace('"pid": 8', '"pid": 7'))
    with pytest.raises(Error, match="process 7 of h1 has several GPUs"):
        read_trace(folder)


def test_gaps_and_cut_lines_of_an_inspector_are_counted(folder: Path) -> None:
    write_inspector(JOB, folder)
    file = next(folder.glob("h0-pid7*"))
    lines = file.read_text().splitlines()
    file.write_text("\n".join([lines[0], *lines[2:], lines[0][:40]]))
    losses = read_losses(folder, "the last line is truncated")
    assert any("lost 1 operations" in one for one in losses)


@pytest.mark.parametrize(
    ("write", "name", "message"),
    [
        (write_chakra, "job.1.et", "is truncated, or not a protocol buffer"),
        (write_kineto, "trace_1.json", r"is not complete JSON \(line 1.*truncated"),
        (
            write_flight_recorder,
            "nccl_trace_rank_1",
            "neither a pickle nor JSON, or is trunc",
        ),
    ],
)
def test_truncated_files_are_named(
    folder: Path, write: Callable[[MeshJob, Path], None], name: str, message: str
) -> None:
    write(JOB, folder)
    file = folder / name
    file.write_bytes(file.read_bytes()[:-5])
    losses = read_losses(folder, f"{file}: ")
    assert re.search(message, losses[0])
    assert read_trace(folder, partial=True).profile.rank_count == JOB.rank_count


def test_a_truncated_program_is_refused(folder: Path) -> None:
    write_hlo(JOB, folder, "lists")
    text = (folder / "step.hlo").read_text()
    with pytest.raises(Error, match="truncated: a computation does not end"):
        read_hlo(text[:-3])
    with pytest.raises(Error, match=r"truncated: there is no computation body\.1"):
        read_hlo(re.sub(r"%body\.1 \(.*\{", "%other (p: f32[]) -> f32[] {", text))
    with pytest.raises(Error, match="does not begin with HloModule"):
        read_hlo(text[5:])


def test_loops_without_a_count_and_branches_are_reported() -> None:
    text = (
        "HloModule m, num_partitions=2\n\n%b (p: f32[4]) -> f32[4] {\n"
        "  ROOT %x = f32[4]{0} all-reduce(%p), channel_id=1, replica_groups={{0,1}}, "
        "use_global_device_ids=true\n}\n\nENTRY %main (p: f32[4]) -> f32[4] {\n"
    )
    loop = "  %w = f32[4]{0} while(%p), condition=%c, body=%b\n}\n"
    branch = "  %w = f32[4]{0} conditional(%p), branch_computations={%b, %b}\n}\n"
    looped, branched = read_hlo(text + loop), read_hlo(text + branch)
    assert "a loop without known_trip_count has collectives" in looped.losses[0]
    assert "a conditional has collectives" in branched.losses[0]
    assert looped.profile().records[:, 4:].tolist() == [[16, 1]]
    assert branched.profile().records[:, 4:].tolist() == [[16, 2]]


@pytest.mark.parametrize(
    ("text", "groups"),
    [
        ("{{0,2},{1,3}}", [[0, 2], [1, 3]]),
        ("{}", [[0, 1, 2, 3]]),
        ("[2,2]<=[4]", [[0, 1], [2, 3]]),
        ("[2,2]<=[2,2]T(1,0)", [[0, 2], [1, 3]]),
        ("mesh['a'=2,'b'=2] {'a'}", [[0, 2], [1, 3]]),
        ("mesh[a=2,b=2] {b,a}", [[0, 2, 1, 3]]),
        ("mesh[a=4] {a:(1)2}", [[0, 2], [1, 3]]),
        ("mesh[a=4] {a:(2)2}", [[0, 1], [2, 3]]),
        ("mesh[a=2,b=2], device_ids=(0,2,1,3) {b}", [[0, 2], [1, 3]]),
        ("mesh[a=2,b=2], device_ids=([2,2]T(1,0)) {b}", [[0, 2], [1, 3]]),
    ],
)
def test_replica_groups_are_read_in_all_syntaxes(
    text: str, groups: list[list[int]]
) -> None:
    assert [group.tolist() for group in parse_groups(text, 4)] == groups


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(0,1)", "cannot read the groups"),
        ("[2,2]<=[5]", "do not fit"),
        ("[2,2]<=[2,2]T(0,0)", "does not order 2 dimensions"),
        ("mesh[a=4] {b}", "axis 'b' of b does not fit the mesh"),
        ("mesh[a=4] {a:(3)2}", "does not fit the mesh"),
        ("mesh[a=2], device_ids=(0,0) {a}", "does not name 2 devices once"),
    ],
)
def test_invalid_replica_groups_have_a_reason(text: str, message: str) -> None:
    with pytest.raises(Error, match=message):
        parse_groups(text, 4)


@pytest.mark.parametrize(
    ("attributes", "groups"),
    [
        # Groups of replicas, separately for each partition; device = replica * 2 +
        # partition.
        ("replica_groups={{0,1}}", [[0, 2], [1, 3]]),
        # Groups of replicas, each with all of its partitions.
        ("channel_id=1, replica_groups={{0},{1}}", [[0, 1], [2, 3]]),
        ("channel_id=1, replica_groups={{0,1}}", [[0, 1, 2, 3]]),
        # Groups of devices.
        (
            "channel_id=1, replica_groups={{0,3}}, use_global_device_ids=true",
            [[0, 3]],
        ),
    ],
)
def test_the_kind_of_groups_follows_from_attributes(
    attributes: str, groups: list[list[int]]
) -> None:
    text = (
        "HloModule m, replica_count=2, num_partitions=2\n\n"
        "ENTRY %main (p: f32[4]) -> f32[4] {\n"
        f"  ROOT %x = f32[4]{{0}} all-reduce(%p), {attributes}, to_apply=%add\n}}\n"
    )
    made = read_hlo(text).profile()
    assert sorted(group.tolist() for group in made.communicators) == groups


def test_sizes_of_asynchronous_operations_are_read() -> None:
    text = (
        "HloModule m, num_partitions=4\n\n"
        "%wrapped (p: f32[8]) -> f32[2] {\n"
        "  ROOT %r = f32[2]{0} reduce-scatter(%p), channel_id=3, "
        "replica_groups=[1,4]<=[4], use_global_device_ids=true\n}\n\n"
        "ENTRY %main (p: bf16[4]) -> f32[4] {\n"
        "  %g = (bf16[4]{0}, bf16[16]{0}) all-gather-start(%p), channel_id=1, "
        "replica_groups=[1,4]<=[4], use_global_device_ids=true\n"
        "  %g2 = bf16[16]{0} all-gather-done(%g)\n"
        "  %s = (f32[8]{0}, f32[8]{0}, u32[], u32[]) collective-permute-start(%p), "
        "source_target_pairs={{0,1}}, channel_id=2\n"
        "  %a = ((f32[8]{0}), f32[2]{0}) async-start(%p), calls=%wrapped\n"
        "  %d = f32[2]{0} async-done(%a), calls=%wrapped\n}\n"
    )
    profile = read_hlo(text).profile()
    named = {
        OPERATIONS[operation]: size
        for operation, size in profile.records[:, [1, 4]].tolist()
    }
    assert named == {"allgather": 8, "reduce_scatter": 32}
    assert profile.records[:, 5].tolist() == [1, 1]
    assert profile.point_to_point().bytes.tolist() == [32]


PROGRAM = """HloModule m, num_partitions=4

ENTRY %main (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  LINE
}
"""


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "%r = f32[8]{0} collective-permute(%p), channel_id=1, "
            "source_target_pairs={{0,1},{0,2}}",
            "names a device twice",
        ),
        (
            "%r = pred[7]{0} all-gather(%p), channel_id=1, replica_groups={{0,1,2,3}}, "
            "use_global_device_ids=true, dimensions={0}",
            "an allgather of 7 bytes has 4 devices",
        ),
        (
            "%r = bf16[-5]{0} all-reduce(%p), channel_id=1, "
            "replica_groups={{0,1,2,3}}, use_global_device_ids=true, to_apply=%add",
            "has a negative dimension",
        ),
        (
            "%r = f32[99999999999999999999]{0} all-reduce(%p), channel_id=1, "
            "replica_groups={{0,1,2,3}}, use_global_device_ids=true, to_apply=%add",
            "the sum of bytes or calls is 2\\^63 or more",
        ),
    ],
)
def test_programs_unlike_those_of_xla_are_refused(
    folder: Path, line: str, message: str
) -> None:
    file = folder / "m.hlo"
    file.write_text(PROGRAM.replace("LINE", line))
    with pytest.raises(Error, match=message):
        read_trace(file)


def test_negative_sizes_name_their_file(folder: Path) -> None:
    write_inspector(JOB, folder)
    file = next(folder.glob("h0-pid7*"))
    text = re.sub(r'("coll_msg_size_bytes": )[0-9]+', r"\1-4096", file.read_text())
    file.write_text(text)
    with pytest.raises(
        Error, match=f"{re.escape(str(file))}:[0-9]+: moves -4096 bytes"
    ):
        read_trace(folder)
