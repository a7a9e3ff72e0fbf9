# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom ai layouts` compares layouts of a training job."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.conftest import Command

POD = ("-m", "rails:8:4:2,bandwidth=50GB/s,bandwidth.nvlink=450GB/s")
JOB = (*POD, "--ranks", "32", "--batch", "64", "--gpu-memory", "72GB")
MODEL = "llama-3.1-8b,sequence=8192"


def test_the_table_ranks_layouts(topoloom: Command) -> None:
    found = topoloom("ai", "layouts", MODEL, "tp=8", "tp=2,pp=2", "pp=4", *JOB)
    lines = found.out.splitlines()
    assert lines[0].startswith("32 GPUs on rail cluster of 64 GPUs")
    assert lines[2].split() == [
        *("layout", "memory", "tp", "pp", "dp", "all", "exposed", "bubble")
    ]
    rows = [line.split() for line in lines[4:7]]
    assert sorted(row[0] for row in rows) == [
        *("pp=4,dp=8", "tp=2,pp=2,dp=8", "tp=8,dp=4")
    ]
    times = [float(row[6]) for row in rows]
    assert times == sorted(times)


def test_all_layouts_that_fit_include_the_named_ones(topoloom: Command) -> None:
    named = topoloom("ai", "layouts", MODEL, "tp=2,pp=2", *JOB, "--json").json
    found = topoloom("ai", "layouts", MODEL, *JOB, "--json").json
    assert found["gpus"] == 32
    assert found["layouts"][0]["seconds"] <= named["layouts"][0]["seconds"]
    for one in found["layouts"]:
        assert one["memory"]["total"] <= 72 * 10**9
        assert one["bubble"] <= 0.1
        assert one["recompute"] == "none"
        sums = [part["seconds"] for part in one["traffic"]]
        assert abs(sum(sums) - one["seconds"]) < 1e-9
        assert one["exposed_seconds"] <= one["seconds"] + 1e-12


def test_arguments_are_printed_alone(topoloom: Command) -> None:
    layouts = ("ai", "layouts", MODEL, "tp=2,pp=2", *JOB)
    found = topoloom(*layouts, "--to", "megatron")
    assert "--tensor-model-parallel-size 2" in found.out.splitlines()
    found = topoloom(*layouts, "--to", "deepspeed")
    assert json.loads(found.out)["train_batch_size"] == 64
    assert "in Python: PipelineModule(topology=" in found.err


def test_a_configuration_file_is_a_model(topoloom: Command) -> None:
    sizes = {
        "num_hidden_layers": 8,
        "hidden_size": 1024,
        "num_attention_heads": 8,
        "intermediate_size": 4096,
        "vocab_size": 1000,
    }
    Path("config.json").write_text(json.dumps(sizes))
    found = topoloom("ai", "layouts", "config.json,sequence=1024", *JOB, "--json").json
    assert found["sequence"] == 1024


def test_memory_too_small_for_any_layout_is_one_line(topoloom: Command) -> None:
    words = ("--ranks", "32", "--batch", "64", "--gpu-memory", "1GB")
    found = topoloom("ai", "layouts", MODEL, *POD, *words)
    assert found.status == 2
    assert "--gpu-memory of 953.7 MiB is too little for every layout" in found.err
    assert found.err.count("\n") == 1
