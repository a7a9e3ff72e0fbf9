# SPDX-License-Identifier: BSD-3-Clause
"""Traces of AI jobs are converted to a graph, a mesh and an axis order."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Command

PROGRAM = """HloModule jit_step, num_partitions=8

ENTRY %main (p: f32[1024]) -> f32[1024] {
  %a = f32[1024]{0} all-reduce(%p), channel_id=1, replica_groups=[4,2]<=[8], \
use_global_device_ids=true, to_apply=%add
  ROOT %g = f32[4096]{0} all-gather(%a), channel_id=2, \
replica_groups=[2,4]<=[4,2]T(1,0), dimensions={0}, use_global_device_ids=true
}
"""


def test_a_compiled_program_gives_a_graph_a_mesh_and_an_axis_order(
    topoloom: Command,
) -> None:
    Path("step.hlo").write_text(PROGRAM)
    made = topoloom("pattern", "import", "step.hlo", "-o", "p.npz", "--json").json
    assert (made["ranks"], made["losses"]) == (8, [])
    found = topoloom("ai", "axes", "--graph", "p.npz", "--json").json
    assert found["mesh"] == {"axis1": 2, "axis2": 4}
    assert found["operations"] == [
        {"axes": ["axis1"], "name": "allreduce", "bytes": 4096, "calls": 1, "ranks": 8},
        {"axes": ["axis2"], "name": "allgather", "bytes": 4096, "calls": 1, "ranks": 8},
    ]
    shown = topoloom("ai", "axes", "--graph", "p.npz", "--machine", "torus:2x4")
    assert shown.out.startswith("mesh axis1=2 axis2=4, the fastest first\n")
    assert "8 ranks on 2x4 torus" in shown.out
    kept = ["--collectives", "keep", "-o", "kept.npz", "--json"]
    assert topoloom("pattern", "import", "step.hlo", *kept).json["bytes"] == 0
    assert topoloom("ai", "axes", "--graph", "kept.npz", "--json").json == found


def test_collectives_of_a_trace_are_expanded_to_nccl_messages(
    topoloom: Command,
) -> None:
    Path("step.hlo").write_text(PROGRAM)
    words = ("pattern", "import", "step.hlo", "--collectives", "nccl")
    made = topoloom(*words, "--gpus-per-node", 4, "-o", "p.npz", "--json").json
    # Pairs of GPUs allreduce 4 KiB. Two groups of 4 GPUs, one per node, allgather 4
    # blocks of 4 KiB.
    assert made["bytes"] == 4 * 2 * 4096 + 2 * 4 * 3 * 4096
    found = topoloom("ai", "axes", "--graph", "p.npz", "--json").json
    assert found["mesh"] == {"axis1": 2, "axis2": 4}
    refused = topoloom(*words, "--gpus-per-node", 3)
    assert (refused.status, refused.err) == (
        2,
        "topoloom: 8 ranks are not a multiple of 3 GPUs per node; say how many ranks "
        "share a node\n",
    )
    idle = topoloom("pattern", "import", "step.hlo", "--gpus-per-node", 4)
    assert (idle.status, idle.err.count("add --collectives nccl")) == (2, 1)
    mesh = (
        "ai",
        "axes",
        "--mesh",
        "tp=4,dp=2",
        "--traffic",
        "tp=1MB,dp=1MB",
        "--machine",
    )
    by_nccl = (*mesh, "torus:2x4", "--collectives", "nccl")
    sent = ("--gpus-per-node", 4, "--write-graph", "axes.npz", "-o", "x.json")
    assert topoloom(*by_nccl, *sent).status == 0
    assert topoloom("judge", "axes.npz", "x.json").status == 0
    assert "add --write-graph" in topoloom(*by_nccl).err
    kept = topoloom(*mesh, "torus:2x4", "--collectives", "keep")
    assert (
        kept.err == "topoloom: --collectives keep: the only choice for axes is nccl\n"
    )
    tree = topoloom(
        "pattern", "generate", "nccl-tree", "--ranks", 16, "--bytes", 1600, "--json"
    )
    assert tree.json["bytes"] == 2 * 15 * 1600


def test_an_incomplete_dump_requires_the_partial_option(topoloom: Command) -> None:
    entry = {
        **{"record_id": 4, "pg_id": 0, "process_group": ["0", "default_pg"]},
        **{"profiling_name": "nccl:all_reduce", "state": "completed"},
        **{"input_sizes": [[256]], "input_dtypes": ["Float"]},
        **{"output_sizes": [[256]], "output_dtypes": ["Float"], "is_p2p": False},
    }
    Path("dumps").mkdir()
    for rank in (0, 1):
        dump = {"pg_config": {"0": {"ranks": "[0, 1]"}}, "entries": [entry]}
        Path(f"dumps/trace_{rank}.json").write_text(json.dumps(dump))
    refused = topoloom("pattern", "import", "dumps", "-o", "p.npz")
    assert refused.status == 2
    assert refused.err == (
        "topoloom: dumps: rank 0 lost 4 entries of its ring buffer; rank 1 lost 4 "
        "entries of its ring buffer; --partial uses the readable part\n"
    )
    assert not Path("p.npz").exists()
    used = topoloom("pattern", "import", "dumps", "--partial", "-o", "p.npz")
    assert "missing   rank 0 lost 4 entries of its ring buffer" in used.out
    assert Path("p.npz").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["pattern", "import", "none.hlo"], "none.hlo: No such file or directory"),
        (
            ["pattern", "import", "step.hlo", "--format", "kineto"],
            "step.hlo: is not complete JSON (line 1",
        ),
        (
            ["pattern", "import", "step.hlo", "--format", "hlos"],
            "no graph format 'hlos' (did you mean 'hlo'?)",
        ),
        (
            ["pattern", "import", "cut.hlo"],
            "cut.hlo: the program is truncated: a computation does not end",
        ),
        (
            ["pattern", "import", "m.mtx", "--partial"],
            "m.mtx is a graph, but --partial is for traces",
        ),
        (
            ["pattern", "import", "m.mtx", "--collectives", "nccl"],
            "m.mtx is a graph, but --collectives is for traces",
        ),
        (
            ["pattern", "import", "none.mtx", "--collectives", "nccl"],
            "none.mtx: No such file or directory",
        ),
        (
            ["pattern", "import", "empty"],
            "empty: has no trace of a job, and no .prof file of Open MPI's monitoring",
        ),
        (["pattern", "import", "empty", "--format", "kineto"], "empty: has no files"),
        (
            ["pattern", "import", "step.hlo", "--gpus-per-node", "0"],
            "--gpus-per-node must be 1 or more, not 0",
        ),
        (
            ["pattern", "import", "step.hlo", "--collectives", "bogus"],
            "collectives: 'bogus' is none of expand, keep, drop, nccl",
        ),
        (
            ["pattern", "generate", "stencil2d", "--grid", "2x2", "--partial"],
            "'topoloom pattern generate' has no option '--partial'",
        ),
        (
            ["ai", "axes", "--graph", "step.hlo", "--mesh", "tp=8"],
            "--graph defines the mesh and its traffic; leave out other",
        ),
        (
            ["ai", "axes", "--mesh", "tp=8", "--traffic", "tp=1GB"],
            "--machine is missing",
        ),
    ],
)
def test_invalid_traces_are_refused_in_one_line(
    topoloom: Command, words: list[str], message: str
) -> None:
    Path("step.hlo").write_text(PROGRAM)
    Path("cut.hlo").write_text(PROGRAM[:-3])
    Path("empty").mkdir()
    Path("m.mtx").write_text("%%MatrixMarket matrix coordinate real general\n2 2 0\n")
    found = topoloom(*words, "-o", "x.npz")
    assert found.status == 2
    assert found.err.startswith(f"topoloom: {message}")
    assert found.err.count("\n") == 1
    assert not Path("x.npz").exists()
