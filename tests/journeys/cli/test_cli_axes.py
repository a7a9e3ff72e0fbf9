# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom ai axes` converts a mesh with traffic to orders, placements and graphs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from topoloom import load_graph, load_placement
from topoloom.graphs import load_phases

if TYPE_CHECKING:
    from tests.conftest import Command

CUBE = ["--machine", "tpu-v4-cube", "--mesh", "dp=4,ep=8,tp=2"]
TRAFFIC = ["--traffic", "tp=1GB,ep=4GB,dp+ep=500MB"]
AXES = ["ai", "axes", *CUBE, *TRAFFIC]
MEGATRON = [
    *("ai", "axes", "--machine", "tpu-v4-cube", "--framework", "megatron"),
    *("--ranks", "64", "--tp", "2", "--pp", "2", "--ep", "4", "--etp", "1"),
    *("--traffic", "tp=1GB,ep=4GB,pp=1GB,dp=500MB,edp=1GB"),
]


def test_the_table_shows_three_orders(topoloom: Command) -> None:
    found = topoloom(*AXES)
    assert found.err == ""
    lines = found.out.splitlines()
    assert lines[0] == "64 ranks on 4x4x4 torus: seconds per step"
    assert lines[2].split()[-5:] == ["tp", "ep", "dp+ep", "all", "gain"]
    assert any(line.split()[:2] == ["default", "dp-ep4-tp-ep2"] for line in lines)


def test_json_has_the_orders_of_the_table(topoloom: Command) -> None:
    found = topoloom(*AXES, "--json").json
    assert found["mesh"] == {"dp": 4, "ep": 8, "tp": 2}
    # JAX gives tp half of a dimension, and ep the rest of it and another dimension.
    assert found["default"]["order"] == "dp-ep4-tp-ep2"
    assert found["allow_split_physical_axes"]
    assert found["default"]["gain_percent"] == 0
    assert found["best"]["seconds"] <= found["named"]["seconds"]
    assert found["best"]["gain_percent"] >= found["named"]["gain_percent"] >= 0
    jax = found["best"]["jax"]
    assert (len(jax), len(jax[0]), len(jax[0][0])) == (4, 8, 2)
    flat = [device for plane in jax for row in plane for device in row]
    assert flat == found["best"]["ranks"]
    assert sorted(flat) == list(range(64))
    for order in ("default", "named", "best"):
        parts = found[order]["traffic"]
        assert [part["axes"] for part in parts] == [["tp"], ["ep"], ["dp", "ep"]]
        total = sum(part["seconds"] for part in parts)
        assert total == pytest.approx(found[order]["seconds"])


def test_an_order_of_axes_can_be_piped(topoloom: Command) -> None:
    all_of_it = topoloom(*AXES, "--json").json
    assert json.loads(topoloom(*AXES, "--to", "jax").out) == all_of_it["best"]["jax"]
    ranks = [int(line) for line in topoloom(*AXES, "--to", "ranks").out.split()]
    assert ranks == all_of_it["best"]["ranks"]


def test_other_commands_read_the_written_placement_and_pattern(
    topoloom: Command,
) -> None:
    found = topoloom(*AXES, "--write-graph", "p.npz", "-o", "x.json", "--json").json
    placed = load_placement("x.json")
    assert placed.objective == "time"
    assert placed.values["objective"] == found["best"]["seconds"]
    assert placed.placement.slots.tolist() == found["best"]["ranks"]
    assert len(load_phases("p.npz")) == 3
    judged = topoloom("judge", "p.npz", "x.json", "--json").json
    assert judged["congestion_max"] == placed.values["congestion_max"]
    assert topoloom("export", "x.json", "--to", "list").status == 0


def test_a_megatron_job_is_ordered_by_its_order_names(topoloom: Command) -> None:
    found = topoloom(*MEGATRON, "--json").json
    assert found["mesh"] == {
        **{"tp": 2, "cp": 1, "dp": 16, "pp": 2},
        **{"etp": 1, "ep": 4, "edp": 8},
    }
    assert found["default"]["order"] == "tp-cp-ep-dp-pp"
    seconds = [found[one]["seconds"] for one in ("best", "named", "default")]
    assert seconds == sorted(seconds)
    for one in ("default", "named", "best"):
        assert sorted(found[one]["order"].split("-")) == ["cp", "dp", "ep", "pp", "tp"]
    assert sorted(found["best"]["ranks"]) == list(range(64))
    assert "jax" not in found["best"]
    name = topoloom(*MEGATRON, "--to", "name").out
    assert name == found["named"]["order"] + "\n"
    ranks = topoloom(*MEGATRON, "--to", "ranks").out.split()
    assert [int(rank) for rank in ranks] == found["best"]["ranks"]
    lines = topoloom(*MEGATRON).out.splitlines()
    assert any(line.split()[:2] == ["best", "name"] for line in lines)


def test_framework_settings_are_printed_and_free_settings_searched(
    topoloom: Command,
) -> None:
    words = ["ai", "axes", "--machine", "rails:8:8:1,bandwidth=50GB/s", "--ranks", "64"]
    step = ["--train", "qwen3-30b-a3b,batches=2"]
    found = topoloom(*words, "--framework", "megatron", "--tp", "4", "--ep", "8", *step)
    assert any(
        line.split()[:2] == ["instead", "etp=4:"] for line in found.out.split("\n")
    )
    assert "--tensor-model-parallel-size 4 --expert-model-parallel-size 8" in found.out
    one = topoloom(
        *words, "--framework", "fsdp", "--tp", "8", *step, "--to", "settings"
    )
    assert one.out == (
        "init_device_mesh('cuda', (8, 8), mesh_dim_names=('shard', 'tp'))\n"
    )
    job = ["--framework", "deepspeed", "--pp", "2", "--ep", "4"]
    document = topoloom(*words, *job, *step, "--json").json
    assert document["framework"] == "deepspeed"
    assert document["mesh"] == {"tp": 1, "dp": 32, "pp": 2, "ep": 4, "edp": 8}
    assert any("MoE(ep_size=4)" in one for one in document["settings"])
    mesh = topoloom(*words, "--framework", "jax", "--tp", "4", *step, "--json").json
    assert mesh["mesh"] == {"tp": 4, "dp": 16}


def test_a_named_order_uses_slots_in_allocation_order(topoloom: Command) -> None:
    files = ["--write-graph", "p.npz", "-o", "m.json"]
    found = topoloom(*MEGATRON, "--json").json
    topoloom(*MEGATRON, *files, "--to", "name")
    placed = load_placement("m.json")
    assert placed.placement.slots.tolist() == list(range(64))
    assert placed.values["objective"] == pytest.approx(found["named"]["seconds"])
    topoloom(*MEGATRON, *files)
    placed = load_placement("m.json")
    assert placed.placement.slots.tolist() == found["best"]["ranks"]
    judged = topoloom("judge", "p.npz", "m.json", "--json").json
    assert judged["congestion_max"] == placed.values["congestion_max"]


def test_a_ragged_allocation_leaves_slots_idle(topoloom: Command) -> None:
    nodes = [n for n in range(32) if n not in (3, 17, 30)]
    Path("a.txt").write_text("".join(f"{n}\n" for n in nodes))
    words = ["--machine", "rails:8:4:1,bandwidth=50GB/s,bandwidth.nvlink=450GB/s"]
    found = topoloom(
        *["ai", "axes", *words, "-a", "a.txt", "--mesh", "tp=4,dp=4"],
        *["--traffic", "tp=1GB,dp=100MB", "--json"],
    ).json
    devices = found["best"]["ranks"]
    assert len(set(devices)) == 16
    for group in range(4):
        domains = {nodes[d] // 8 for d in devices[4 * group : 4 * group + 4]}
        assert len(domains) == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            [*CUBE[:2], "--mesh", "tp=8,dp=16", *TRAFFIC],
            "no axis of the mesh 'ep'; there are: tp, dp",
        ),
        (
            [*CUBE[:2], "--mesh", "tp=8,dp=16", "--traffic", "tp=1GB"],
            "the mesh tp=8,dp=16 has 128 ranks, but the allocation has only 64 slots; "
            "tp=4 or dp=8 fits",
        ),
        (
            [*CUBE, *TRAFFIC, "--to", "name"],
            "--to name requires a job of --framework; use --to jax for a mesh",
        ),
        (
            [*CUBE[:2], *TRAFFIC, "--framework", "nemo", "--ranks", "8"],
            "no framework 'nemo'; there are: megatron, deepspeed, fsdp, jax; mega",
        ),
        (
            [*MEGATRON[2:], "--to", "jax"],
            "--to jax is for meshes; write --to ranks for a framework's job",
        ),
        (
            [*MEGATRON[2:-2], "--traffic", "dp+ep=1GB"],
            "no groups along dp+ep: a group is along tp, cp, dp, pp or etp, ep, edp",
        ),
        (
            [*MEGATRON[2:6], "--tp", "2", "--ranks", "128", "--traffic", "tp=1GB"],
            "the mesh tp=2,cp=1,dp=64,pp=1 has 128 ranks, but the allocation has",
        ),
        (
            [*CUBE, *TRAFFIC, "--framework", "jax", "--ranks", "64"],
            "--mesh and --framework are mutually exclusive; write --tp, --pp",
        ),
        (
            [*CUBE, *TRAFFIC, "--tp", "2"],
            "--tp requires --framework, such as megatron",
        ),
        (
            [*CUBE[:2], *TRAFFIC],
            "name the axes: --mesh tp=8,dp=16, or --framework and --ranks",
        ),
        (
            [*CUBE[:2], *TRAFFIC, "--framework", "fsdp"],
            "fsdp requires --ranks",
        ),
        (
            CUBE,
            "the traffic is missing; add --traffic, such as tp=1GB, or --train MODEL",
        ),
        ([*CUBE, *TRAFFIC, "--to", "jaxx"], "no order format 'jaxx' (did you mean"),
        (
            [*CUBE, *TRAFFIC, "--to", "jax", "--json"],
            "--to and --json are mutually exclusive",
        ),
    ],
)
def test_invalid_axes_input_is_refused_in_one_line(
    topoloom: Command, words: list[str], message: str
) -> None:
    found = topoloom("ai", "axes", *words, "-o", "x.json")
    assert found.status == 2
    assert found.out == ""
    assert found.err.startswith(f"topoloom: {message}")
    assert found.err.count("\n") == 1
    assert not Path("x.json").exists()


def test_scheduler_requests_contain_the_segments_of_the_axes(
    topoloom: Command,
) -> None:
    words = ["ai", "axes", "--mesh", "tp=4,ep=8,dp=8", "--machine", "nvl72-row"]
    words += ["--traffic", "tp=9GB,ep=4GB,dp=1GB"]
    done = topoloom(*words, "--to", "slurm")
    assert done.status == 0, done.err
    assert "# segments of 1 host: " in done.out
    assert "\n#SBATCH --nodes=64\n" in done.out
    assert "\n#SBATCH --segment=16\n" in done.out
    refused = topoloom(*words, "--to", "kai", "-o", "x.json")
    assert refused.status == 2
    assert "--to kai writes a request for hosts that are not" in refused.err


def test_a_scheduler_request_works_on_a_machine_with_a_failed_node(
    topoloom: Command,
) -> None:
    mesh = ["--mesh", "tp=4,dp=8", "--traffic", "tp=9GB,dp=1GB"]
    machine = ["-m", "tree:4:4+down:0+node:4"]
    done = topoloom("ai", "axes", *mesh, *machine, "--to", "slurm")
    assert done.err == ""
    assert "#SBATCH --segment=4" in done.out.splitlines()
    few = topoloom("ai", "axes", *mesh, *machine, "-a", "n[1-7]", "--to", "slurm")
    assert "the job needs 8 hosts, but the machine has only 7" in few.err


def test_bytes_are_printed_without_seconds(topoloom: Command) -> None:
    words = ["ai", "axes", "--mesh", "tp=4,dp=8", "--traffic", "tp=9GB,dp=1GB"]
    plain = topoloom(*words, "-m", "tree:4:4+node:4").out
    assert plain.splitlines()[0].endswith("bytes on the busiest link per step")
    assert plain.splitlines()[-1].split() == ["idle", "32", "of", "64", "slots"]
    fast = topoloom(*words, "-m", "tree:4:4,bandwidth=1GB/s+node:4").out.splitlines()[0]
    assert fast.endswith("seconds per step")


def test_nccl_patterns_use_the_gpus_per_node_of_the_machine(topoloom: Command) -> None:
    words = ["ai", "axes", "--mesh", "tp=4,dp=4", "--traffic", "tp=9GB,dp=1GB", "-m",
             "nvl72-row", "--collectives", "nccl", "--write-graph"]  # fmt: skip
    topoloom(*words, "plain.npz")
    topoloom(*words, "said.npz", "--gpus-per-node", 4)
    assert load_graph("plain.npz") == load_graph("said.npz")
    refused = topoloom(*words, "other.npz", "--gpus-per-node", 8)
    assert refused.status == 2
    assert "--gpus-per-node is 8, but hosts of the machine have 4" in refused.err
    assert not Path("other.npz").exists()
