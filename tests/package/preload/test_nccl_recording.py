# SPDX-License-Identifier: BSD-3-Clause
"""The NCCL plugin counts the events of the NCCL stub."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st
from nccl_stub import (
    BYTES,
    FUNCTIONS,
    ROOTED,
    NcclCollective,
    NcclMessage,
    StubScript,
    compile_stub,
    count_recorded_collectives,
    count_recorded_messages,
    run_script,
)

from topoloom import Error
from topoloom.graphs.npz import load_npz
from topoloom.graphs.phases import edge_rows
from topoloom.graphs.traces.trace_formats import IncompleteTraceError, read_trace

ALL = NcclCollective(0, 4, 7, 1, 0, 1)
#: Functions that NCCL reports as collectives since interface version 5.
NEW = (8, 9, 10)


@pytest.fixture(scope="module")
def stub_program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_stub(tmp_path_factory.mktemp("stub"))


@st.composite
def draw_script(draw: st.DrawFn, version: int) -> StubScript:
    """Draw a job; only its first communicator contains all ranks."""
    ranks = draw(st.integers(3, 5))
    everyone = tuple(range(ranks))
    parts = st.lists(
        st.sampled_from(everyone), min_size=2, max_size=ranks - 1, unique=True
    ).map(tuple)
    communicators = (everyone, *draw(st.lists(parts, max_size=2)))
    functions = [one for one in FUNCTIONS if version >= 5 or one not in NEW]
    hows = ["plan", "graph", *(["copy", "symmetric"] if version >= 5 else [])]
    types = len(BYTES) if version > 1 else 10
    steps: list[NcclCollective | NcclMessage] = [ALL]
    for _ in range(draw(st.integers(1, 6))):
        number = draw(st.integers(0, len(communicators) - 1))
        places = st.integers(0, len(communicators[number]) - 1)
        datatype = draw(st.integers(0, types - 1))
        count, times = draw(st.integers(1, 2**33)), draw(st.integers(1, 4))
        if draw(st.booleans()):
            pair = draw(st.lists(places, min_size=2, max_size=2, unique=True))
            steps.append(NcclMessage(number, *pair, datatype, count, times))
        else:
            function = draw(st.sampled_from(functions))
            root = draw(places) if FUNCTIONS[function] in ROOTED else 0
            how = draw(st.sampled_from(hows))
            steps.append(
                NcclCollective(number, function, datatype, count, root, times, how)
            )
    return StubScript(communicators, tuple(steps))


@pytest.mark.parametrize("version", range(1, 8))
@given(data=st.data())
@settings(max_examples=5)
def test_every_call_of_sixteen_threads_is_counted(
    stub_program: Path, version: int, data: st.DataObject
) -> None:
    script = data.draw(draw_script(version))
    end = data.draw(st.sampled_from(["finalize", "exit", "terminate"]))
    given = data.draw(st.booleans())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run_script(
            stub_program,
            folder,
            script,
            version,
            threads=16,
            ending=end,
            ranks_from_launcher=given,
        )
        profile, losses = read_trace(folder)
    assert losses == []
    assert profile.rank_count == len(script.communicators[0])
    assert count_recorded_collectives(profile) == script.count_collectives(16)
    assert count_recorded_messages(profile) == script.count_messages(16)


def test_ranks_that_share_a_process_are_distinguished_by_gpu(
    stub_program: Path, tmp_path: Path
) -> None:
    script = StubScript(((0, 1, 2, 3), (3, 1)), (ALL, NcclMessage(1, 0, 1, 6, 100, 3)))
    run_script(stub_program, tmp_path, script, 6, threads=2, per_process=2)
    assert len(list(tmp_path.iterdir())) == 2
    profile, _ = read_trace(tmp_path)
    assert count_recorded_messages(profile) == script.count_messages(2)
    assert count_recorded_collectives(profile) == script.count_collectives(2)


def test_rank_variables_of_the_launcher_replace_a_world_communicator(
    stub_program: Path, tmp_path: Path
) -> None:
    script = StubScript(((2, 0), (1, 3)), (NcclMessage(0, 0, 1, 0, 5, 1), ALL))
    run_script(stub_program, tmp_path, script, 5, ranks_from_launcher=True)
    profile, _ = read_trace(tmp_path)
    assert profile.rank_count == 4
    assert count_recorded_messages(profile) == script.count_messages(1)


def test_unconnected_ranks_are_refused(stub_program: Path, tmp_path: Path) -> None:
    run_script(stub_program, tmp_path, StubScript(((0, 1), (2, 3)), (ALL,)), 6)
    with pytest.raises(Error, match="ranks cannot be joined: no communicator has all"):
        read_trace(tmp_path)


def test_event_kinds_beyond_the_table_are_reported_as_lost(
    stub_program: Path, tmp_path: Path
) -> None:
    sizes = [NcclCollective(0, 4, 7, 1 + n, 0, 1) for n in range(3500)]
    run_script(stub_program, tmp_path, StubScript(((0, 1),), tuple(sizes)), 6)
    with pytest.raises(
        IncompleteTraceError, match=r"rank 0 could not note [0-9]+ calls"
    ):
        read_trace(tmp_path)
    profile, losses = read_trace(tmp_path, partial=True)
    lost = int(losses[0].partition("note ")[2].partition(" ")[0])
    assert 0 < lost < 1000
    assert sum(count_recorded_collectives(profile).values()) == 3500 - lost


def test_a_rank_that_was_killed_is_reported(stub_program: Path, tmp_path: Path) -> None:
    run_script(
        stub_program, tmp_path, StubScript(((0, 1, 2),), (ALL,)), 7, ending="kill"
    )
    losses = read_trace(tmp_path, partial=True).losses
    assert any(one.startswith("rank 0 was ended before it wrote") for one in losses)


def run_record(
    program: Path, folder: Path, script: StubScript, *words: str, **more: str
) -> str:
    """Run the command; return its status, and the other lines than its report."""
    recording = [
        Path(sys.prefix) / "bin" / "topoloom",
        "record",
        "--nccl",
        "-o",
        "p.npz",
    ]
    options = ["--collectives", "keep", *words]
    done = subprocess.run(
        [*recording, *options, "--", program, "6", "2", "1", "finalize"],
        input=script.format_text(),
        capture_output=True,
        text=True,
        cwd=folder,
        env=os.environ | more,
        timeout=600,
        check=False,
    )
    report = [line for line in done.stderr.splitlines() if line.startswith("  ")]
    assert not done.returncode or not report
    rest = done.stderr.replace("".join(f"{line}\n" for line in report), "")
    return f"{done.returncode}\n{rest}"


def test_record_writes_only_the_profile(stub_program: Path, tmp_path: Path) -> None:
    script = StubScript(((0, 1, 2),), (ALL, NcclMessage(0, 2, 0, 6, 7, 5)))
    assert run_record(stub_program, tmp_path, script) == "0\n"
    assert [one.name for one in tmp_path.iterdir()] == ["p.npz"]
    graph, _ = load_npz(tmp_path / "p.npz")
    assert edge_rows(graph).tolist() == [[2, 0, 2 * 5 * 14, 10]]


def test_record_expands_collectives_like_nccl(
    stub_program: Path, tmp_path: Path
) -> None:
    script = StubScript(((0, 1, 2, 3),), (NcclCollective(0, 2, 7, 1000, 0, 3),))
    by_nccl = ["--collectives", "nccl", "--gpus-per-node", "2"]
    assert run_record(stub_program, tmp_path, script, *by_nccl) == "0\n"
    graph, _ = load_npz(tmp_path / "p.npz")
    assert graph.total_bytes == 2 * 3 * 4 * 3 * 4000  # 4 parts, each sent to 3 ranks


def test_another_plugin_for_nccl_is_replaced_and_named(
    stub_program: Path, tmp_path: Path
) -> None:
    script = StubScript(((0, 1),), (ALL,))
    output = run_record(
        stub_program, tmp_path, script, NCCL_PROFILER_PLUGIN="inspector"
    )
    line = "topoloom: NCCL_PROFILER_PLUGIN=inspector: replaced by Topoloom's plugin"
    assert output == f"0\n{line}\n"


def test_errors_of_nccl_recording_are_one_line(
    stub_program: Path, tmp_path: Path
) -> None:
    script = StubScript(((0, 1),), (ALL,))
    output = run_record(stub_program, tmp_path, script, CC="no-such-compiler")
    assert output.startswith("2\ntopoloom: no C compiler ('no-such-compiler' of CC")
    output = run_record(Path("true"), tmp_path, script)
    assert output.startswith(
        "1\ntopoloom: nothing was recorded (exit status 0): no pro"
    )
    output = run_record(stub_program, tmp_path, script, "--mpicc", "mpicc")
    assert output == (
        "2\ntopoloom: --mpicc is for MPI programs, not for --nccl; leave it out\n"
    )
    assert list(tmp_path.iterdir()) == []
    output = run_record(stub_program, tmp_path, StubScript(((0, 1), (2, 3)), (ALL,)))
    assert output.startswith("2\ntopoloom: ranks cannot be joined: no communicator has")
    kept = [one for one in tmp_path.iterdir() if one.name in output]
    assert len(kept) == 1
    assert len(list(kept[0].glob("*.jsonl"))) == 4
    assert output.count("\n") == 2
