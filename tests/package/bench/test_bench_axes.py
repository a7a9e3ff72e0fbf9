# SPDX-License-Identifier: BSD-3-Clause
"""The benchmark of mesh axes: model traffic counted by hand, table and figure."""

from __future__ import annotations

from pathlib import Path

import pytest

from axes.__main__ import line, table
from axes.cases import CASES, Case, measure
from axes.figure import draw
from topoloom.frameworks import MegatronJob
from topoloom.frameworks.training_step import TrainingStep
from topoloom.frameworks.transformer_model import Model
from topoloom.graphs.axes import parse_mesh

TINY = Model(layers=4, hidden=8, heads=4, kv_heads=2, head_size=2, ffn=16)
EXPERTS = Model(4, 8, 4, 2, 2, 16, experts=4, active=2)


def count_bytes_by_axis(model: Model, job: str | MegatronJob) -> dict[str, int]:
    mesh = parse_mesh(job) if isinstance(job, str) else job
    traffic = TrainingStep(model, 32, 3).traffic(mesh)
    return {one.name: one.bytes for one in traffic}


def test_a_dense_model_sends_the_published_bytes() -> None:
    # 32 tokens, each of 8 elements of 2 bytes; 4 layers, 3 micro-batches.
    assert count_bytes_by_axis(TINY, "tp=2") == {"tp": 8 * 512 // 2 * 12}
    # Keys and values of 16 tokens for 2 heads of dimension 2, sent once in the forward
    # and twice in the backward pass.
    assert count_bytes_by_axis(TINY, "cp=2,dp=2")["cp"] == 3 * (2 * 16 * 4 * 2) * 12
    assert count_bytes_by_axis(TINY, "pp=2") == {"pp": 2 * 512 * 3}
    # Weights per layer: 2 x 64 (query, output), 2 x 32 (key, value), 3 x 8 x 16.
    assert count_bytes_by_axis(TINY, "dp=2") == {"dp": 4 * (192 + 384) * 4 // 2}


def test_experts_send_tokens_and_reduce_gradients_in_their_own_groups() -> None:
    """In JAX meshes, ep is an axis of its own, so it multiplies the number of ranks."""
    found = count_bytes_by_axis(EXPERTS, "tp=2,ep=4,dp=2")
    # Each of half of the tokens goes to two experts. Dispatch and combine, in the
    # forward and in the backward pass.
    assert found["ep"] == 4 * 2 * 256 * 3 // 4 * 12
    assert found["tp"] == 4 * 512 // 2 * 12
    # Half of the attention weights, and the router's 8 x 4.
    assert found["ep+dp"] == round(4 * (192 / 2 + 32) * 4 * 7 / 8)
    assert found["tp+dp"] == round(4 * (4 * 384) * 4 / 4 * 3 / 4)


def test_experts_of_megatron_are_split_over_etp_and_copied_over_edp() -> None:
    # The same 16 ranks form two meshes: tp=2 and dp=8 for attention; etp, ep=4 and edp
    # for experts.
    folded = count_bytes_by_axis(EXPERTS, MegatronJob(tp=2, dp=8, ep=4, etp=1))
    assert folded["ep"] == 4 * 2 * 256 * 3 // 4 * 12
    assert "etp" not in folded
    # Gradients of 4 bytes are scattered, weights of 2 bytes gathered.
    assert folded["dp"] == round(6 * (192 / 2 + 32) * 4 * 7 / 8)
    assert folded["edp"] == round(6 * (4 * 384) * 4 / 4 * 3 / 4)
    split = count_bytes_by_axis(EXPERTS, MegatronJob(tp=2, dp=8, ep=4))
    assert split["ep"] == folded["ep"]
    # Each received token is sent to the other half of its expert, and the result back.
    assert split["etp"] == 4 * 2 * 256 * 12
    assert split["edp"] == round(6 * (4 * 384) * 4 / 8 / 2)


def test_every_job_fits_its_machine_and_its_names_are_valid_in_megatron() -> None:
    for case in CASES:
        ranks = 1
        for size in parse_mesh(case.mesh).values():
            ranks *= size
        assert ranks <= case.allocation().slot_count
        if isinstance(case.job, MegatronJob):
            assert case.job.ranks == ranks
            assert case.job.layouts()


@pytest.mark.parametrize(
    ("mesh", "experts"), [("tp=2,ep=8", None), ("tp=2,dp=8", "ep=4,etp=1")]
)
def test_each_job_has_a_table_row_and_a_figure(
    tmp_path: Path, mesh: str, experts: str | None
) -> None:
    case = Case(
        *("tpu-v4-cube", "Qwen3-30B-A3B", mesh, experts, 4096, 2),
        *(frozenset({1, 2}), "2 chips lost"),
    )
    result = measure(case, 0.01)
    assert result.gain(result.orders.best) >= result.gain(result.orders.nested) >= 0
    assert "tpu-v4-cube, 2 chips lost" in line(result)
    header, rule, row = table([result]).splitlines()
    assert header.count("|") == rule.count("|") == row.count("|")
    assert mesh in row
    draw([result], tmp_path / "axes.svg")
    assert (tmp_path / "axes.svg").stat().st_size > 1000
