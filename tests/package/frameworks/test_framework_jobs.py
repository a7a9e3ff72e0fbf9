# SPDX-License-Identifier: BSD-3-Clause
"""Makes jobs by framework name; steps choose among variants of a job."""

from __future__ import annotations

import pytest

from topoloom import Allocation, Error, load_machine
from topoloom.frameworks import DeepSpeedJob, DeviceMeshJob, MegatronJob
from topoloom.frameworks.framework_jobs import make_job, parse_framework
from topoloom.frameworks.training_step import parse_step
from topoloom.tasks import map_axes


def test_the_data_axis_contains_the_remaining_ranks() -> None:
    megatron, old = parse_framework("megatron"), parse_framework("megatron-0.8")
    assert make_job(megatron, {"tp": 2, "pp": 4, "ep": 2}, 64) == MegatronJob(
        tp=2, dp=8, pp=4, ep=2
    )
    assert make_job(old, {"tp": 2}, 8) == MegatronJob(tp=2, dp=4, release=(0, 8))
    deepspeed = make_job(parse_framework("deepspeed"), {"pp": 2, "ep": 2}, 16)
    assert deepspeed == DeepSpeedJob(dp=8, pp=2, ep=2)
    fsdp = make_job(parse_framework("fsdp"), {"replicate": 2, "tp": 4}, 32)
    assert fsdp == DeviceMeshJob(replicate=2, shard=4, tp=4)
    mesh = make_job(parse_framework("jax"), {"tp": 2, "ep": 4}, 16)
    assert mesh == {"tp": 2, "ep": 4, "dp": 2}


def test_only_megatron_without_etp_has_several_variants() -> None:
    open_ = MegatronJob(tp=4, dp=16, ep=4)
    assert [job.axes["etp"] for job in open_.variants()] == [4, 2, 1]
    assert len(MegatronJob(tp=4, dp=16, ep=4, etp=2).variants()) == 1
    assert len(MegatronJob(tp=4, dp=16, ep=4, release=(0, 8)).variants()) == 1
    assert len(MegatronJob(tp=4, dp=16).variants()) == 1
    assert len(DeepSpeedJob(dp=4).variants()) == 1


def test_the_best_variant_is_the_best_of_all_variants() -> None:
    pod = Allocation.whole(load_machine("rails:8:8:1,bandwidth=50GB/s"))
    step = parse_step("qwen3-30b-a3b,sequence=4096,batches=2")
    job = MegatronJob(tp=4, dp=16, ep=8)
    found = map_axes(pod, job, step)
    alone = {
        one.axes["etp"]: map_axes(pod, one, step.traffic(one)).chosen.total
        for one in job.variants()
    }
    best = min(alone, key=lambda etp: alone[etp])
    assert found.axes["etp"] == best
    assert found.chosen.total == alone[best]
    assert found.others == {
        f"etp={etp}": total for etp, total in alone.items() if etp != best
    }
    assert (
        found.default_seconds
        == map_axes(pod, job, step.traffic(job)).orders.given.total
    )


def test_a_best_default_has_no_gain() -> None:
    pod = Allocation.whole(load_machine("dgx-h100-pod"))
    step = parse_step("llama-3.1-405b,sequence=8192,batches=16")
    found = map_axes(pod, MegatronJob(tp=8, cp=2, dp=4, pp=16), step)
    assert found.chosen is found.orders.given
    assert found.chosen.total == found.default_seconds


def test_settings_are_printed_as_flags() -> None:
    job = MegatronJob(tp=2, cp=4, dp=32, pp=4, ep=8, etp=1)
    flags = (
        "--tensor-model-parallel-size 2 --context-parallel-size 4 "
        "--pipeline-model-parallel-size 4 --expert-model-parallel-size 8 "
        "--expert-tensor-parallel-size 1"
    )
    assert job.settings("tp-cp-ep-dp-pp") == [flags]
    assert job.settings("tp-cp-ep-pp-dp") == [f"{flags} --use-tp-pp-dp-mapping"]
    assert job.settings("pp-tp-cp-ep-dp") == [
        flags,
        'initialize_model_parallel(..., order="pp-tp-cp-ep-dp")',
    ]


@pytest.mark.parametrize(
    ("name", "sizes", "world", "message"),
    [
        ("nemo", {}, 8, "no framework 'nemo'; there are: megatron, deepspeed"),
        ("fsdp", {"ep": 2}, 8, "ep is not an axis of fsdp, which has tp"),
        (
            "fsdp",
            {"tp": 3},
            8,
            "ranks must be a multiple of tp = 3, not 8; the",
        ),
        ("jax", {"tp": 0}, 8, "tp must be 1 or more, not 0"),
        ("deepspeed", {"ep": 3}, 8, "dp = 8 is not a multiple of ep = 3"),
        ("megatron", {"ep": 3}, 8, "8 ranks are not a multiple of etp x ep x pp = 3"),
        ("megatron", {}, 0, "ranks must be 1 or more, not 0"),
    ],
)
def test_a_refused_job_has_a_reason(
    name: str, sizes: dict[str, int], world: int, message: str
) -> None:
    with pytest.raises(Error, match=message):
        make_job(parse_framework(name), sizes, world)
