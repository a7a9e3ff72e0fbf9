# SPDX-License-Identifier: BSD-3-Clause
"""Models by name or config.json: published numbers of weights, and bad files."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from topoloom import Error
from topoloom.frameworks import MegatronJob
from topoloom.frameworks.model_config import read_model_config
from topoloom.frameworks.named_models import MODELS
from topoloom.frameworks.training_step import parse_step
from topoloom.frameworks.transformer_model import Model

#: Billions of weights that the models' authors publish; of Llama 4, those of the text
#: part; of Kimi K2 and GLM, those of the published files without token prediction.
PUBLISHED = {
    "Llama 3.1 8B": 8.03,
    "Llama 3.1 70B": 70.55,
    "Llama 3.1 405B": 405.85,
    "Llama 4 Scout": 107.77,
    "Llama 4 Maverick": 400.71,
    "Qwen3-32B": 32.8,
    "Qwen3-30B-A3B": 30.5,
    "Qwen3-235B-A22B": 235.1,
    "DeepSeek-V3": 671,
    "DeepSeek-R1": 671,
    "Kimi K2": 1026.4,
    "GLM-4.5": 352.8,
    "GLM-4.5-Air": 106.9,
    "gpt-oss-20b": 20.91,
    "gpt-oss-120b": 116.83,
    "Mixtral 8x7B": 46.7,
    "Mixtral 8x22B": 140.6,
}

LLAMA = {
    "model_type": "llama",
    "num_hidden_layers": 80,
    "hidden_size": 8192,
    "num_attention_heads": 64,
    "num_key_value_heads": 8,
    "intermediate_size": 28672,
    "vocab_size": 128256,
    "tie_word_embeddings": False,
}
QWEN = {
    "model_type": "qwen3_moe",
    "num_hidden_layers": 48,
    "hidden_size": 2048,
    "num_attention_heads": 32,
    "num_key_value_heads": 4,
    "head_dim": 128,
    "intermediate_size": 6144,
    "moe_intermediate_size": 768,
    "num_experts": 128,
    "num_experts_per_tok": 8,
    "decoder_sparse_step": 1,
    "mlp_only_layers": [],
    "vocab_size": 151936,
    "tie_word_embeddings": False,
}
DEEPSEEK = {
    "model_type": "deepseek_v3",
    "num_hidden_layers": 61,
    "hidden_size": 7168,
    "num_attention_heads": 128,
    "num_key_value_heads": 128,
    "q_lora_rank": 1536,
    "kv_lora_rank": 512,
    "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64,
    "v_head_dim": 128,
    "intermediate_size": 18432,
    "moe_intermediate_size": 2048,
    "n_routed_experts": 256,
    "n_shared_experts": 1,
    "num_experts_per_tok": 8,
    "first_k_dense_replace": 3,
    "moe_layer_freq": 1,
    "num_nextn_predict_layers": 1,
    "n_group": 8,
    "topk_group": 4,
    "vocab_size": 129280,
    "tie_word_embeddings": False,
}
MAVERICK = {
    "model_type": "llama4",
    "tie_word_embeddings": False,
    "hidden_size": 1408,
    "text_config": {
        "model_type": "llama4_text",
        "num_hidden_layers": 48,
        "hidden_size": 5120,
        "num_attention_heads": 40,
        "num_key_value_heads": 8,
        "head_dim": 128,
        "intermediate_size": 8192,
        "intermediate_size_mlp": 16384,
        "num_local_experts": 128,
        "num_experts_per_tok": 1,
        "interleave_moe_layer_step": 2,
        "vocab_size": 202048,
    },
}
MIXTRAL = {
    "model_type": "mixtral",
    "num_hidden_layers": 32,
    "hidden_size": 4096,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "head_dim": None,
    "intermediate_size": 14336,
    "num_local_experts": 8,
    "num_experts_per_tok": 2,
    "vocab_size": 32000,
    "tie_word_embeddings": False,
}


@pytest.mark.parametrize("name", MODELS)
def test_named_models_have_the_published_number_of_weights(name: str) -> None:
    assert MODELS[name].weights / 1e9 == pytest.approx(PUBLISHED[name], rel=0.005)


def test_layers_of_token_prediction_are_not_among_the_weights() -> None:
    model = MODELS["DeepSeek-V3"]
    deeper = replace(model, layers=62, predicted=0)
    assert model.all_layers == 62
    # Its report says 11.5 billion; the two projections of hidden elements are apart.
    assert deeper.weights - model.weights == pytest.approx(11.5e9, rel=0.005)


@pytest.mark.parametrize(
    ("config", "name"),
    [
        (LLAMA, "Llama 3.1 70B"),
        (QWEN, "Qwen3-30B-A3B"),
        (DEEPSEEK, "DeepSeek-V3"),
        (MAVERICK, "Llama 4 Maverick"),
        (MIXTRAL, "Mixtral 8x7B"),
    ],
)
def test_a_configuration_has_the_dimensions_of_its_model(
    config: dict[str, Any], name: str, tmp_path: Path
) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(config))
    read = read_model_config(tmp_path)
    used = [
        one.name
        for one in fields(Model)
        # A model without dense layers may name their size all the same.
        if one.name != "dense_ffn" or read.dense_layers
    ]
    for field in used:
        assert getattr(read, field) == getattr(MODELS[name], field), field
    step = parse_step(f"{path},sequence=128,predicted=0")
    assert step.model == replace(read, predicted=0)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"num_hidden_layers": None}, 'it has no "num_hidden_layers"'),
        ({"hidden_size": "8192"}, '"hidden_size" must be an integer of 1 or more'),
        ({"vocab_size": True}, '"vocab_size" must be an integer of 1 or more'),
        ({"layer_types": ["linear_attention"]}, "layers of type 'linear_attention'"),
        ({"layer_types": {}}, '"layer_types" must be a list'),
        ({"mamba_d_state": 16}, '"mamba_d_state" describes layers without attention'),
        ({"hidden_size": 8}, '"num_attention_heads" is larger than "hidden_size"'),
        ({"num_experts": 4}, 'it has no "num_experts_per_tok"'),
    ],
)
def test_a_configuration_that_is_not_understood_is_refused(
    changes: dict[str, Any], message: str, tmp_path: Path
) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps({**LLAMA, **changes}))
    with pytest.raises(Error, match=message) as caught:
        parse_step(str(path))
    assert str(caught.value).startswith(f"{path}: ")


def test_a_file_that_is_no_configuration_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text("[]")
    with pytest.raises(Error, match="it is not a JSON object"):
        parse_step(str(path))
    path.write_text("")
    with pytest.raises(Error, match=r"config\.json: the file is empty"):
        parse_step(str(path))
    with pytest.raises(FileNotFoundError):
        parse_step("missing/config.json")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("qwen3-30b-a3b,dense_layers=49,dense_ffn=1", "but the model has 48 layers"),
        ("qwen3-30b-a3b,dense_layers=1", "add dense_ffn="),
        ("llama-3.1-70b,shared=64", "shared requires a model with experts"),
        ("llama-3.1-70b,kv_rank=64", "kv_rank requires the size of a head's value"),
        ("llama-3.1-70b,q_rank=64", "q_rank requires latent attention"),
    ],
)
def test_dimensions_that_contradict_each_other_are_refused(
    text: str, message: str
) -> None:
    with pytest.raises(Error, match=message):
        parse_step(text)


def test_dense_and_shared_networks_are_split_over_tp() -> None:
    """Each gathers 3 times and scatters 2 times the activations of a layer."""
    usual = "qwen3-30b-a3b,batches=1,sequence=4096,vocabulary=0"
    plain, dense, shared = (
        {one.name: one.bytes for one in parse_step(text).traffic(MegatronJob(tp=2))}
        for text in (
            usual,
            f"{usual},dense_layers=8,dense_ffn=6144",
            f"{usual},shared=8",
        )
    )
    layer = 5 * 4096 * 2048 * 2 // 2
    assert plain == {"tp": 48 * layer, "etp": plain["etp"]}
    assert dense["tp"] == 56 * layer
    assert shared["tp"] == 96 * layer
    assert dense["etp"] == plain["etp"] * 40 // 48
    assert shared["etp"] == plain["etp"]
