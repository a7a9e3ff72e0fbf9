# SPDX-License-Identifier: BSD-3-Clause
"""Training steps by model name: bytes along each axis, as the frameworks send them."""

from __future__ import annotations

import ast
import warnings
import zipfile

import pytest
from hypothesis import given, settings, strategies as st

from ai.megatron_core import RELEASES, WHEELS
from topoloom import Error
from topoloom.frameworks import DeepSpeedJob, DeviceMeshJob, MegatronJob
from topoloom.frameworks.job import Job
from topoloom.frameworks.named_models import MODELS
from topoloom.frameworks.traffic_rules import DataTypes, find_traffic_rules
from topoloom.frameworks.training_step import TrainingStep, parse_step

#: Two layers, each of 192 attention weights and 384 feed-forward weights.
DENSE = "layers=2,hidden=8,heads=4,kv_heads=2,head_size=2,ffn=16,sequence=32,batches=3"
EXPERTS = f"{DENSE},experts=4,active=2"
WEIGHTS = 2 * (192 + 384)


def list_called_names(
    release: str, module: str, owner: str, function: str
) -> list[str]:
    """List the names of the functions that a method of a class calls."""
    (wheel,) = WHEELS.glob(f"megatron_core-{release}-*.whl")
    with zipfile.ZipFile(wheel) as files:
        source = files.read(f"megatron/core/{module}.py")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(source)
    (called,) = [
        method
        for one in tree.body
        if isinstance(one, ast.ClassDef) and one.name == owner
        for method in one.body
        if isinstance(method, ast.FunctionDef) and method.name == function
    ]
    return [
        ast.unparse(one.func) for one in ast.walk(called) if isinstance(one, ast.Call)
    ]


def count_bytes(text: str, job: Job | dict[str, int]) -> dict[str, int]:
    return {one.name: one.bytes for one in parse_step(text).traffic(job)}


def test_a_step_is_a_model_name_or_its_dimensions() -> None:
    step = parse_step("Qwen3-30B-A3B,batches=2,layers=24,gradients=bf16")
    assert (step.sequence, step.batches, step.model.layers) == (4096, 2, 24)
    assert step.types == {"gradients": "bf16"}
    assert step.model.experts == MODELS["Qwen3-30B-A3B"].experts
    own = parse_step("layers=2,hidden=8,heads=4,kv_heads=2,head_size=2,ffn=16")
    assert own.model.experts == 1


@pytest.mark.parametrize(
    ("text", "job", "passes"),
    [
        # Megatron: 3 gathers and 2 scatters of attention, and of feed-forward.
        (DENSE, MegatronJob(tp=2), 10),
        (EXPERTS, MegatronJob(tp=2), 5),
        (DENSE, DeviceMeshJob(tp=2), 8),
        (DENSE, {"tp": 2}, 8),
        # AutoTP: allreduces after the output and the down projection; in the backward
        # pass, of query, key, value, gate and up.
        (DENSE, DeepSpeedJob(tp=2), 14),
        (DENSE, DeepSpeedJob(tp=2, pp=2), 4),
    ],
)
def test_tensor_parallelism_sends_the_collectives_of_the_framework(
    text: str, job: Job | dict[str, int], passes: int
) -> None:
    """`passes` over 2 layers, of which a stage of two has one."""
    activations = 32 * 8 * 2 // 2  # half of 32 tokens of 8 elements of 2 bytes
    layers = 2
    assert count_bytes(text, job)["tp"] == passes * activations * layers * 3


def test_fp8_halves_what_is_gathered_and_nothing_else() -> None:
    job = MegatronJob(tp=2, cp=2, pp=2)
    bf16, fp8 = (
        count_bytes(f"{DENSE},activations={name}", job) for name in ("bf16", "fp8")
    )
    assert fp8["tp"] / bf16["tp"] == (6 + 2 * 4) / (2 * 6 + 2 * 4)
    assert {**fp8, "tp": 0} == {**bf16, "tp": 0}


@pytest.mark.parametrize(
    ("job", "types", "bytes_per_weight"),
    [
        (MegatronJob(dp=4), "", 4 + 2),
        (MegatronJob(dp=4), ",gradients=bf16", 2 + 2),
        (MegatronJob(dp=4), ",parameters=fp8", 4 + 1),
        (DeepSpeedJob(dp=4), "", 2 * 2 + 2),
        ({"dp": 4}, "", 2 + 2),
        ({"dp": 4}, ",gradients=fp32,parameters=fp32", 4 + 4),
    ],
)
def test_gradients_have_the_data_type_of_the_framework(
    job: Job | dict[str, int], types: str, bytes_per_weight: int
) -> None:
    assert count_bytes(DENSE + types, job) == {"dp": bytes_per_weight * WEIGHTS * 3 / 4}


def test_shards_gather_weights_twice_and_scatter_gradients_once() -> None:
    job = DeviceMeshJob(replicate=2, shard=4)
    shard = 3 * (2 + 2 + 4) * WEIGHTS * 3 // 4
    assert count_bytes(DENSE, job) == {
        "shard": shard,
        "replicate": 3 * 2 * 4 * (WEIGHTS // 4) // 2,
    }


def test_pipelines_gather_shards_once_per_step() -> None:
    job = DeviceMeshJob(replicate=2, shard=4, pp=2)
    found = count_bytes(DENSE, job)
    assert found["shard"] == (2 + 4) * (WEIGHTS // 2) * 3 // 4
    assert found["replicate"] == 2 * 4 * (WEIGHTS // 8) // 2


@pytest.mark.parametrize(("tp", "heads"), [(1, 4), (2, 2), (4, 1), (8, 1), (16, 1)])
def test_context_parallelism_sends_whole_heads(tp: int, heads: int) -> None:
    """94 layers with 4 heads of keys and values, as Qwen3-235B-A22B."""
    found = count_bytes("qwen3-235b-a22b,batches=1", MegatronJob(tp=tp, cp=2, dp=2))
    # Keys and values of 2,048 tokens of 128 elements of 2 bytes; three times.
    assert found["cp"] == 94 * 3 * 2 * (2048 * heads * 128 * 2)


def test_ranks_that_share_a_key_head_gather_queries_keys_and_values() -> None:
    step = "qwen3-235b-a22b,batches=1,vocabulary=0"
    four, eight = (count_bytes(step, MegatronJob(tp=tp))["tp"] for tp in (4, 8))
    part = 94 * 4096 * 2  # tokens of all layers, elements of 2 bytes
    assert four == 5 * part * 4096 * 3 // 4
    assert eight == (5 * 4096 + 2 * (64 + 2 * 4) * 128) * part * 7 // 8


@pytest.mark.parametrize("release", RELEASES)
def test_collectives_of_a_layer_part_are_those_of_the_megatron_source(
    release: str,
) -> None:
    """A part is a column-parallel and a row-parallel product, forward and backward."""
    column = ("layers", "LinearWithGradAccumulationAndAsyncCommunication")
    row = ("mappings", "_ReduceScatterToSequenceParallelRegion")
    names = [
        name
        for module, owner in (column, row)
        for function in ("forward", "backward")
        for name in list_called_names(
            release, f"tensor_parallel/{module}", owner, function
        )
    ]
    rules = find_traffic_rules(MegatronJob(tp=2))
    assert rules.attention == rules.feed_forward
    assert sum("gather" in name for name in names) == rules.attention.gathers
    assert sum("reduce_scatter" in name for name in names) == rules.attention.scatters


@given(
    tp=st.sampled_from([1, 2, 4, 8]),
    cp=st.sampled_from([1, 2, 4]),
    dp=st.sampled_from([2, 4, 8]),
    pp=st.sampled_from([1, 2, 47]),
    types=st.builds(
        DataTypes,
        *(st.sampled_from(("fp32", "bf16", "fp16")) for _ in DataTypes._fields),
    ),
)
@settings(max_examples=10)
def test_bytes_are_proportional_to_their_data_type(
    tp: int, cp: int, dp: int, pp: int, types: DataTypes
) -> None:
    """Activations scale tp, cp, ep and pp; gradients and weights add up."""
    job = MegatronJob(tp=tp, cp=cp, dp=dp, pp=pp)
    # The loss, which is summed in fp32, comes with the vocabulary.
    step = parse_step("qwen3-235b-a22b,batches=2,vocabulary=0")
    usual, found = (
        {one.name: one.bytes for one in TrainingStep(*step[:3], chosen).traffic(job)}
        for chosen in ({}, types._asdict())
    )
    assert usual.keys() == found.keys()
    for name, bytes in usual.items():
        is_weights = "dp" in name or name == "cp+edp"
        factor = types.activation_bytes / 2
        if is_weights:
            factor = (types.gradient_bytes + types.parameter_bytes) / 6
        assert found[name] == pytest.approx(bytes * factor, abs=1), name


def test_releases_of_megatron_before_0_16_refuse_to_split_key_heads() -> None:
    step = parse_step("qwen3-235b-a22b")
    with pytest.raises(Error, match="does not divide the 4 heads of keys and values"):
        step.traffic(MegatronJob(tp=8, release=(0, 15)))
    own = parse_step("layers=2,hidden=8,heads=12,kv_heads=4,head_size=2,ffn=16")
    with pytest.raises(Error, match="or be a multiple of them"):
        own.traffic(MegatronJob(tp=6))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("gpt", "no model 'gpt'"),
        ("qwen3-30b-a3b,layer=2", "no dimension 'layer'"),
        ("qwen3-30b-a3b,batches=0", "batches must be an integer of 1 or more, not '0'"),
        (
            "qwen3-30b-a3b,gradients=fp8",
            "gradients must be one of fp32, bf16, fp16, not 'fp8'",
        ),
        (
            "qwen3-30b-a3b,parameters=",
            "parameters must be one of fp32, bf16, fp16, fp8, not ''",
        ),
        ("layers=2", "lacks hidden, heads, kv_heads, head_size, ffn; or name one"),
    ],
)
def test_a_refused_step_has_a_reason(text: str, message: str) -> None:
    with pytest.raises(Error, match=message):
        parse_step(text)


@pytest.mark.parametrize(
    ("text", "axes", "message"),
    [
        ("llama-3.1-405b", {"ep": 8}, "ep is 8, but the model has no experts"),
        ("qwen3-30b-a3b", {"ep": 256}, "ep is 256, but the model has 128 experts per"),
        ("llama-3.1-70b", {"tp": 128}, "tp is 128, which does not divide the 64 att"),
        ("llama-3.1-70b", {"pp": 128}, "pp is 128, but the model has 80 layers"),
        ("llama-3.1-70b,sequence=8191", {"cp": 5}, "cp is 5, which does not divide"),
    ],
)
def test_sizes_that_do_not_divide_a_model_are_refused(
    text: str, axes: dict[str, int], message: str
) -> None:
    with pytest.raises(Error, match=message):
        parse_step(text).traffic(axes)
