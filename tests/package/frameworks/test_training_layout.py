# SPDX-License-Identifier: BSD-3-Clause
"""Layouts of training jobs: text, rules, traffic, and the list of those that fit."""

from __future__ import annotations

import re
import zipfile
from itertools import product

import pytest

from ai.megatron_core import WHEELS
from topoloom import Error
from topoloom.frameworks.launch_arguments import (
    LAUNCHED_FRAMEWORKS,
    write_launch_arguments,
)
from topoloom.frameworks.layout_candidates import list_fitting_layouts
from topoloom.frameworks.layout_memory import count_memory
from topoloom.frameworks.layout_overlap import find_hideable_share
from topoloom.frameworks.training_layout import (
    LayoutStep,
    TrainingLayout,
    parse_layout,
)
from topoloom.frameworks.training_step import parse_step

DENSE = "layers=8,hidden=32,heads=8,kv_heads=8,head_size=4,ffn=64,sequence=64"
EXPERTS = f"{DENSE},experts=4,active=2"


def make_step(text: str, batch: int) -> LayoutStep:
    return LayoutStep(parse_step(text), batch)


def count_bytes(step: LayoutStep, layout: TrainingLayout) -> dict[str, int]:
    return {one.name: one.bytes for one in step.count_traffic(layout)}


def test_dp_is_the_rest_of_the_ranks() -> None:
    layout = parse_layout("tp=2,pp=4,vpp=2,micro=2,recompute=full", 32)
    assert layout == TrainingLayout(tp=2, pp=4, vpp=2, dp=4, micro=2, recompute=True)
    assert layout.text == "tp=2,pp=4,vpp=2,dp=4,micro=2,recompute=full"
    assert parse_layout(layout.text, 32) == layout


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("tp=3", "has 3 ranks per replica, expected a divisor of 32"),
        ("tp=2,dp=2", "has 4 ranks, expected 32"),
        ("tq=2", "no size of a layout 'tq'"),
        ("tp=0", "tp must be an integer of 1 or more, not '0'"),
        ("tp=2,tp=4", "gives tp twice"),
        ("recompute=half", "recompute must be full or none, not 'half'"),
    ],
)
def test_wrong_layouts_are_named(text: str, words: str) -> None:
    with pytest.raises(Error, match=re.escape(words)):
        parse_layout(text, 32)


@pytest.mark.parametrize(
    ("layout", "words"),
    [
        (TrainingLayout(dp=3), "dp x micro = 3 does not divide the batch of 16"),
        (TrainingLayout(cp=64), "2 x cp = 128 does not divide the sequence of 64"),
        (TrainingLayout(tp=8, cp=16), "does not divide the 4 tokens of a sequence on"),
        (TrainingLayout(pp=6), "leaves the last stage none of the 8 layers"),
        (TrainingLayout(vpp=2), "vpp is 2, which requires stages"),
        (TrainingLayout(pp=2, vpp=3), "pp x vpp = 6 does not divide the 8 layers"),
        (TrainingLayout(pp=4, vpp=2, micro=8), "pp = 4 divides the 2 micro-batches"),
        (TrainingLayout(ep=2, dp=2), "the model has no experts"),
    ],
)
def test_impossible_layouts_are_refused(layout: TrainingLayout, words: str) -> None:
    with pytest.raises(Error, match=re.escape(words)):
        make_step(DENSE, 16).check(layout)


def test_recomputation_repeats_the_forward_pass() -> None:
    # Dense: 3 gathers and 2 scatters in each half of a layer become 4 and 3. Ring
    # attention sends 3 times, then 4; tokens of experts travel 4 times, then 6.
    step, again = make_step(DENSE, 16), {"recompute": True}
    sizes = {"tp": 2, "cp": 2, "dp": 2}
    once = count_bytes(step, TrainingLayout(**sizes))
    twice = count_bytes(step, TrainingLayout(**sizes, **again))
    assert twice["tp"] / once["tp"] == 7 / 5
    assert twice["cp"] / once["cp"] == 4 / 3
    assert twice["cp+dp"] == once["cp+dp"]
    step = make_step(EXPERTS, 16)
    once = count_bytes(step, TrainingLayout(ep=4, dp=4))
    twice = count_bytes(step, TrainingLayout(ep=4, dp=4, recompute=True))
    assert twice["ep"] / once["ep"] == 6 / 4


def test_interleaved_stages_send_once_per_chunk() -> None:
    step = make_step(DENSE, 16)
    plain = count_bytes(step, TrainingLayout(pp=2, dp=2))
    chunks = count_bytes(step, TrainingLayout(pp=2, vpp=4, dp=2))
    # 8 micro-batches of 64 tokens with 32 elements of 2 bytes, there and back.
    assert plain["pp"] == 2 * 8 * 64 * 32 * 2
    assert chunks["pp"] == 4 * plain["pp"]


def list_valid_layouts(
    step: LayoutStep, ranks: int, bubble: float
) -> list[TrainingLayout]:
    sizes = range(1, ranks + 1)
    valid = []
    for tp, cp, pp, dp in product(*[sizes] * 4):
        if tp * cp * pp * dp != ranks:
            continue
        for vpp, ep, micro in product(sizes, sizes, (1, 2, 4, 8)):
            layout = TrainingLayout(tp, cp, pp, vpp, ep, 1, dp, micro)
            try:
                step.check(layout)
            except Error:
                continue
            if layout.bubble(step.batch) <= bubble:
                valid.append(layout)
    return valid


def test_all_layouts_that_fit_are_found() -> None:
    # For every layout that fits, the list has one with equal axes that sends no more.
    for text in (DENSE, EXPERTS):
        step = make_step(text, 16)
        valid = list_valid_layouts(step, ranks=8, bubble=0.5)
        totals = sorted(count_memory(step, layout).total for layout in valid)
        memory = totals[len(totals) // 2]
        valid = [one for one in valid if count_memory(step, one).total <= memory]
        found = [one for one, _ in list_fitting_layouts(step, 8, memory, 0.5, False)[0]]
        assert set(found) <= set(valid)
        for layout in valid:
            least = count_bytes(step, layout)
            assert any(
                (one.tp, one.cp, one.pp, one.ep)
                == (layout.tp, layout.cp, layout.pp, layout.ep)
                and all(count_bytes(step, one)[key] <= least[key] for key in least)
                and one.micro >= layout.micro
                for one in found
            )


def test_layouts_recompute_only_if_they_do_not_fit_otherwise() -> None:
    step = make_step(DENSE, 8)
    full = list_fitting_layouts(step, 1, 1e9, 0.1, True).layouts
    assert [one.text for one, _ in full] == ["micro=8"]
    needed = count_memory(step, TrainingLayout(recompute=True)).total
    assert not list_fitting_layouts(step, 1, needed, 0.1, False).layouts
    tight = list_fitting_layouts(step, 1, needed, 0.1, True)
    assert [one.text for one, _ in tight.layouts] == ["recompute=full"]


def find_hidden(step: LayoutStep, layout: TrainingLayout) -> dict[str, float]:
    return {
        one.name: find_hideable_share(step, layout, one)
        for one in step.count_traffic(layout)
    }


def test_the_schedule_hides_rings_of_attention_and_all_buckets_but_one() -> None:
    # Without a vocabulary a rank has 67,108,864 + 12 x 4096 x 4096 weights per layer.
    text = "layers=4,hidden=4096,heads=32,kv_heads=32,head_size=128,ffn=16384"
    step = make_step(f"{text},sequence=64", 64)
    layout = TrainingLayout(tp=2, cp=2, dp=4)
    weights = 4 * (4 + 12) * 4096**2 / 2
    hidden = find_hidden(step, layout)
    assert hidden == {
        "tp": 0.0,
        "cp": 1.0,
        "cp+dp": pytest.approx(1 - 40_000_000 / weights),
    }


def test_interleaved_stages_hide_what_follows_the_warm_up() -> None:
    step = make_step(DENSE, 32)
    assert find_hidden(step, TrainingLayout(pp=4))["pp"] == 0.0
    # 2 x 32 passes of a chunk, of which the first stage runs 2 x 3 + 4 to warm up.
    assert find_hidden(step, TrainingLayout(pp=4, vpp=2))["pp"] == 1 - 10 / 64


def test_flags_of_megatron_are_those_of_its_source() -> None:
    (wheel,) = WHEELS.glob("megatron_core-0.19.2-*.whl")
    sources = [
        "megatron/training/arguments.py",
        "megatron/training/config/training_config.py",
        "megatron/core/model_parallel_config.py",
        "megatron/core/transformer/transformer_config.py",
    ]
    with zipfile.ZipFile(wheel) as files:
        source = "\n".join(files.read(name).decode() for name in sources)
    step = make_step(f"{EXPERTS},layers=7", 16)
    written = {
        line.split()[0]
        for layout in (
            TrainingLayout(tp=2, pp=4, ep=2, dp=2, recompute=True),
            TrainingLayout(pp=7, vpp=1),
        )
        for line in write_launch_arguments("megatron", step, layout, 8).lines
    }
    chunks = TrainingLayout(pp=2, vpp=2)
    written |= {
        line.split()[0]
        for line in write_launch_arguments(
            "megatron", make_step(DENSE, 16), chunks, 8
        ).lines
    }
    assert len(written) == 18
    for flag in written:
        field = flag.removeprefix("--").replace("-", "_")
        # Fields of configurations become flags by their names.
        assert f"'{flag}'" in source or re.search(rf"^    {field}:", source, re.M), flag


def test_arguments_of_torchtitan() -> None:
    step = make_step(f"{EXPERTS},layers=7", 16)
    layout = TrainingLayout(tp=2, cp=2, pp=4, ep=4, dp=2, micro=2)
    assert write_launch_arguments("torchtitan", step, layout, 8).lines == [
        "--parallelism.tensor_parallel_degree 2",
        "--parallelism.context_parallel_degree 2",
        "--parallelism.pipeline_parallel_degree 4",
        "--parallelism.data_parallel_shard_degree 2",
        "--parallelism.expert_parallel_degree 4",
        "--parallelism.pipeline_parallel_schedule 1F1B",
        "--parallelism.pipeline_parallel_layers_per_stage 2",
        "--parallelism.pipeline_parallel_first_stage_less_layers 0",
        "--parallelism.pipeline_parallel_last_stage_less_layers 1",
        "--parallelism.num_pp_microbatches 4",
        "--training.max_context_length 64",
        "--training.num_tokens_per_microbatch_per_dp_rank 128",
        "--training.num_tokens_per_train_step 1024",
        "activation-checkpoint:none",
    ]


def test_arguments_of_maxtext_fill_a_domain_first() -> None:
    step = make_step(DENSE, 16)
    layout = TrainingLayout(tp=4, pp=2, vpp=2, dp=4)
    lines = write_launch_arguments("maxtext", step, layout, 8).lines
    values = dict(line.split("=") for line in lines)
    sizes = {
        name: (values[f"ici_{name}_parallelism"], values[f"dcn_{name}_parallelism"])
        for name in ("tensor", "data", "pipeline")
    }
    assert sizes == {"tensor": ("4", "1"), "data": ("2", "2"), "pipeline": ("1", "2")}
    assert values["num_layers_per_pipeline_stage"] == "2"
    assert values["num_pipeline_microbatches"] == "4"
    assert values["per_device_batch_size"] == "0.5"


@pytest.mark.parametrize(
    ("framework", "layout", "words"),
    [
        ("deepspeed", TrainingLayout(cp=2), "DeepSpeed has no ring attention"),
        ("deepspeed", TrainingLayout(pp=2, vpp=2), "does not interleave stages"),
        ("torchtitan", TrainingLayout(tp=2, etp=2), "does not split experts"),
        ("maxtext", TrainingLayout(ep=4, tp=4), "distributes experts over replicas"),
        ("maxtext", TrainingLayout(pp=3), "requires a divisor of the 8 layers"),
        ("nemo", TrainingLayout(), "no framework 'nemo'"),
    ],
)
def test_layouts_that_a_framework_lacks_are_refused(
    framework: str, layout: TrainingLayout, words: str
) -> None:
    with pytest.raises(Error, match=re.escape(words)):
        write_launch_arguments(framework, make_step(EXPERTS, 16), layout, 8)


def test_batches_of_all_frameworks_have_the_same_tokens() -> None:
    step = make_step(DENSE, 64)
    layout = TrainingLayout(tp=2, dp=4, micro=2)
    written = {
        name: write_launch_arguments(name, step, layout, 8).lines
        for name in LAUNCHED_FRAMEWORKS
    }
    assert "--global-batch-size 64" in written["megatron"]
    assert f"--training.num_tokens_per_train_step {64 * 64}" in written["torchtitan"]
    assert '  "train_batch_size": 64,' in written["deepspeed"]
    assert '  "gradient_accumulation_steps": 8,' in written["deepspeed"]
    # 8 devices x 1 sequence x 8 steps.
    assert "per_device_batch_size=1" in written["maxtext"]
    assert "gradient_accumulation_steps=8" in written["maxtext"]
