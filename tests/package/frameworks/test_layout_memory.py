# SPDX-License-Identifier: BSD-3-Clause
"""Memory of layouts, compared with the estimates of Megatron-Core and Calculon."""

from __future__ import annotations

import sys
import zipfile
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest import mock

import pytest
from hypothesis import given, settings, strategies as st

from ai.megatron_core import WHEELS
from topoloom.frameworks.layout_memory import count_memory, count_rank_weights
from topoloom.frameworks.named_models import MODELS
from topoloom.frameworks.training_layout import LayoutStep, TrainingLayout
from topoloom.frameworks.training_step import TrainingStep
from topoloom.frameworks.transformer_model import Model

#: Brown et al., NeurIPS 2020; the vocabulary is padded.
GPT_3 = Model(96, 12288, 96, 96, 128, 49152, matrices=2, vocabulary=51200, tied=1)

#: Models whose heads have the size of hidden, as Megatron's estimate assumes.
DENSE = [GPT_3, MODELS["Llama 3.1 70B"], MODELS["Llama 3.1 405B"]]


@cache
def load_estimate() -> dict[str, Callable[..., float]]:
    """Run Megatron's file in a package without PyTorch."""
    found = list(WHEELS.glob("megatron_core-0.19.2-*.whl"))
    if not found:
        raise FileNotFoundError("no wheel of Megatron-Core; tools/setup.sh gets it")
    with zipfile.ZipFile(found[0]) as files:
        source = files.read("megatron/training/theoretical_memory_usage.py")
    utils = ModuleType("megatron.training.utils")
    vars(utils).update(is_hybrid_model=None, print_rank_0=print)
    package = ModuleType("megatron.training")
    names: dict[str, Any] = {"__name__": "usage", "__package__": package.__name__}
    modules = {package.__name__: package, utils.__name__: utils}
    with mock.patch.dict(sys.modules, modules):
        exec(compile(source, "usage", "exec"), names)
    return names


def estimate_by_megatron(step: LayoutStep, layout: TrainingLayout) -> dict[str, float]:
    """Compute Megatron's estimate with sequence parallelism, in bytes."""
    model, has_experts = step.step.model, step.step.model.experts > 1
    arguments = SimpleNamespace(
        num_layers=model.layers,
        hidden_size=model.hidden,
        num_attention_heads=model.heads,
        kv_channels=model.head_size,
        group_query_attention=model.kv_heads < model.heads,
        num_query_groups=model.kv_heads,
        ffn_hidden_size=model.dense_ffn or model.ffn,
        swiglu=model.matrices == 3,
        num_experts=model.experts if has_experts else None,
        moe_layer_freq=[0] * model.dense_layers
        + [1] * (model.layers - model.dense_layers),
        moe_ffn_hidden_size=model.ffn,
        moe_shared_expert_intermediate_size=model.shared or None,
        moe_latent_size=None,
        moe_router_topk=model.active,
        add_bias_linear=False,
        mtp_num_layers=model.predicted or None,
        normalization="RMSNorm",
        multi_latent_attention=False,
        padded_vocab_size=model.vocabulary,
        untie_embeddings_and_output_weights=not model.tied,
        use_distributed_optimizer=True,
        seq_length=step.step.sequence,
        micro_batch_size=layout.micro,
        data_parallel_size=layout.dp,
        world_size=layout.ranks,
        tensor_model_parallel_size=layout.tp,
        pipeline_model_parallel_size=layout.pp,
        virtual_pipeline_model_parallel_size=layout.vpp if layout.vpp > 1 else None,
        expert_tensor_parallel_size=layout.etp,
        expert_model_parallel_size=layout.ep,
    )
    usage = load_estimate()
    return {
        "states": usage["compute_weight_and_optimizer_memory"](arguments),
        "activations": usage["compute_activation_memory"](
            arguments, layout.count_micro_batches(step.batch)
        ),
    }


@st.composite
def dense_jobs(draw: st.DrawFn) -> tuple[LayoutStep, TrainingLayout]:
    """Draw a dense model, and a layout whose stages are equal.

    Megatron's estimate of interleaved stages assumes that there are more micro-batches
    than stages.
    """
    model = draw(st.sampled_from(DENSE))
    pp = draw(st.sampled_from([p for p in (1, 2, 4, 6, 8) if model.layers % p == 0]))
    chunks = [v for v in (1, 2, 3) if pp > 1 and model.layers % (pp * v) == 0]
    layout = TrainingLayout(
        tp=draw(st.sampled_from([1, 2, 4, 8])),
        pp=pp,
        vpp=draw(st.sampled_from(chunks or [1])),
        dp=draw(st.sampled_from([1, 2, 8, 64])),
        micro=draw(st.sampled_from([1, 2, 4])),
    )
    sequence = draw(st.sampled_from([2048, 8192, 32768]))
    batch = layout.dp * layout.micro * pp * draw(st.integers(2, 8))
    return LayoutStep(TrainingStep(model, sequence, 1), batch), layout


@given(dense_jobs())
@settings(max_examples=60)
def test_memory_is_within_5_percent_of_the_estimate_of_megatron(
    job: tuple[LayoutStep, TrainingLayout],
) -> None:
    step, layout = job
    step.check(layout)
    found, theirs = count_memory(step, layout), estimate_by_megatron(step, layout)
    assert found.total == pytest.approx(sum(theirs.values()), rel=0.05)
    states = found.total - found.activations
    assert states == pytest.approx(theirs["states"], rel=0.001)


@given(
    model=st.sampled_from(["Qwen3-235B-A22B", "Mixtral 8x22B", "GLM-4.5-Air"]),
    tp=st.sampled_from([1, 2, 4]),
    pp=st.sampled_from([1, 2]),
    ep=st.sampled_from([1, 2, 8]),
    etp=st.sampled_from([1, 2]),
)
def test_states_of_experts_are_those_of_the_estimate_of_megatron(
    model: str, tp: int, pp: int, ep: int, etp: int
) -> None:
    layout = TrainingLayout(tp=tp, pp=pp, ep=ep, etp=etp, dp=32)
    step = LayoutStep(TrainingStep(MODELS[model], 4096, 1), 64)
    found = count_memory(step, layout)
    theirs = estimate_by_megatron(step, layout)["states"]
    assert found.total - found.activations == pytest.approx(theirs, rel=0.001)


def test_a_gated_network_saves_more_than_megatron_estimates() -> None:
    # Megatron counts 4 bytes per element of the network, heads of hidden elements, and
    # masks of dropout. A gate saves 2 more bytes; keys and values have 8 of 64 heads.
    model = MODELS["Qwen3-32B"]
    step = LayoutStep(TrainingStep(replace(model, vocabulary=0), 4096, 1), 8)
    layout = TrainingLayout(tp=8, pp=4, dp=8)
    saved = count_memory(step, layout).activations
    theirs = estimate_by_megatron(step, layout)["activations"]
    layer = 8 * 5120 + 4 * (64 + 8) * 128 + 6 * 25600
    assert saved == 4096 / 8 * 64 / 4 * layer
    assert saved / theirs == pytest.approx(layer / (18 * 5120 + 4 * 25600), rel=0.01)
    assert saved / theirs == pytest.approx(1.19, abs=0.01)


def test_memory_beside_that_of_calculon() -> None:
    # calculon/llm/llm.py, Isaev et al., SC 2023 (caa4b11), models/gpt3-175B.json:
    # tensor_par 8, pipeline_par 8, data_par 8, optimizer_sharding, microbatch_size 1,
    # batch_size 512, activation_recompute attn_only, seq_par_ag_redo.
    weights, optimizer, activations = 5436997632, 4077748224, 10632560640
    model = replace(GPT_3, vocabulary=0)
    step = LayoutStep(TrainingStep(model, 2048, 1), 512)
    found = count_memory(step, TrainingLayout(tp=8, pp=8, dp=8))
    # Calculon also counts biases and norms.
    assert found.weights == pytest.approx(weights, rel=0.001)
    assert found.optimizer == pytest.approx(optimizer, rel=0.001)
    # Calculon adds the layer in work to those that are stored.
    assert found.activations == pytest.approx(activations, rel=0.05)
    # Calculon stores gradients in bf16, and Megatron in fp32.
    assert found.gradients == 2 * found.weights


def test_a_layer_recomputes_from_its_input() -> None:
    model = Model(8, 16, 4, 4, 4, 64, matrices=2)
    step = LayoutStep(TrainingStep(model, 32, 1), 8)
    layout = TrainingLayout(pp=2, dp=2, recompute=True)
    # 2 micro-batches of 32 tokens in 4 layers keep 16 elements of 2 bytes; one layer is
    # in work: 8 x 16 bytes of norms and inputs, 8 x 16 of attention, 2 x 16 of masks,
    # and 4 x 64 of the network.
    kept, working = 2 * 32 * 4 * 16 * 2, 32 * (18 * 16 + 4 * 64)
    assert count_memory(step, layout).activations == kept + working


def test_interleaved_stages_hold_more_chunks() -> None:
    model = Model(16, 16, 4, 4, 4, 64, matrices=2)
    step = LayoutStep(TrainingStep(model, 32, 1), 64)
    plain = count_memory(step, TrainingLayout(pp=4)).activations
    interleaved = count_memory(step, TrainingLayout(pp=4, vpp=2)).activations
    # Narayanan et al., SC 2021: 1 + (p - 1) / (p v).
    assert interleaved / plain == pytest.approx(1 + 3 / 8)


def test_a_last_stage_of_a_large_vocabulary_needs_most() -> None:
    model = Model(2, 16, 4, 4, 4, 64, vocabulary=100_000)
    step = LayoutStep(TrainingStep(model, 32, 1), 2)
    found = count_memory(step, TrainingLayout(pp=2)).activations
    layer = 8 * 16 + 8 * 16 + 6 * 64
    assert found == 32 * (layer + 4 * (16 + 100_000))


def test_context_parallelism_divides_activations_and_the_optimizer() -> None:
    step = LayoutStep(TrainingStep(MODELS["Llama 3.1 8B"], 8192, 1), 64)
    one = count_memory(step, TrainingLayout(dp=2))
    both = count_memory(step, TrainingLayout(dp=2, cp=2))
    assert both.activations == one.activations / 2
    assert both.optimizer == one.optimizer / 2
    assert both.weights == one.weights


def test_uneven_stages_count_as_the_largest() -> None:
    # 126 layers in 16 stages: 15 of 8, and the last of 6.
    model = replace(MODELS["Llama 3.1 405B"], vocabulary=0)
    found = count_rank_weights(model, TrainingLayout(pp=16)).others
    assert found == model.weights / 126 * 8


def test_tokens_of_experts_are_held_once_per_expert() -> None:
    model = Model(1, 16, 4, 4, 4, 8, experts=4, active=2)
    step = LayoutStep(TrainingStep(model, 32, 1), 4)
    found = count_memory(step, TrainingLayout(ep=2, dp=4)).activations
    # Norms, inputs and attention, and for each of 2 experts the input of 16 elements
    # and 3 products of 8.
    assert found == 32 * 2 * (4 * 16 + 4 * 16 + 2 * (16 + 3 * 8))
