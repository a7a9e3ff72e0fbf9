# SPDX-License-Identifier: BSD-3-Clause
"""Reads a model's dimensions from the config.json of Hugging Face's Transformers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from topoloom._core import Error
from topoloom.frameworks.transformer_model import Model
from topoloom.support.files import read_text
from topoloom.support.json_values import parse_json

#: Names that configurations have for a dimension, by the field of `Model`.
_KEYS = {
    "layers": ("num_hidden_layers", "n_layer", "num_layers"),
    "hidden": ("hidden_size", "n_embd", "d_model"),
    "heads": ("num_attention_heads", "n_head"),
    "kv_heads": ("num_key_value_heads",),
    "head_size": ("head_dim",),
    "vocabulary": ("vocab_size",),
    "experts": ("n_routed_experts", "num_experts", "num_local_experts"),
    "active": ("num_experts_per_tok", "experts_per_token", "moe_topk"),
    "predicted": ("num_nextn_predict_layers",),
    "expert_groups": ("n_group",),
    "active_groups": ("topk_group",),
}
_FEED_FORWARD = ("intermediate_size", "n_inner", "ffn_dim")
_LATENT = {
    "kv_rank": "kv_lora_rank",
    "q_rank": "q_lora_rank",
    "head_size": "qk_nope_head_dim",
    "rope_size": "qk_rope_head_dim",
    "value_size": "v_head_dim",
}

#: Types of models whose feed-forward networks have no gate, hence two matrices.
_UNGATED = frozenset(
    (
        *("bloom", "codegen", "falcon", "gpt2", "gpt_bigcode", "gpt_neo", "gpt_neox"),
        *("gptj", "mpt", "nemotron", "opt", "phi", "starcoder2"),
    )
)

#: Values of "layer_types" for attention, whichever tokens it covers.
_ATTENTION_TYPES = frozenset(
    ("attention", "chunked_attention", "full_attention", "sliding_attention")
)

#: Keys of layers that are not those of a transformer with attention and experts.
_OTHER_LAYERS = (
    *("full_attention_interval", "hybrid_override_pattern", "layers_block_type"),
    *("linear_num_value_heads", "mamba_d_state", "ssm_cfg", "state_size"),
)
_LARGEST_FILE = 16 << 20
_LARGEST = 10**12


def read_model_config(path: Path) -> Model:
    """Read the dimensions of a dense model, or one with experts, without weights.

    Of a model of several kinds of input, that is the part for text. A folder stands for
    the ``config.json`` in it.

    Raises
    ------
    OSError
        If the file cannot be read.
    topoloom.Error
        If the file is no such configuration, a dimension is missing, or layers are of
        another kind, such as state-space layers.
    """
    file = path / "config.json" if path.is_dir() else path
    text = read_text(file, _LARGEST_FILE)
    try:
        if not text.strip():
            raise Error("the file is empty")
        return _make_model(_Config(parse_json(text)))
    except Error as error:
        raise Error(f"{file}: {error}") from None


class _Config:
    """Values of a configuration; those of the part for text come first."""

    def __init__(self, document: Any) -> None:
        if not isinstance(document, dict):
            raise Error("not the config.json of a model: it is not a JSON object")
        part = document.get("text_config")
        own = part if isinstance(part, dict) else {}
        self.values: Mapping[str, Any] = {**document, **own}

    def size(self, keys: tuple[str, ...], default: int | None = None) -> int:
        """Get an integer by the first of its keys that has a value.

        Without `default`, the value is required and positive.
        """
        for key in keys:
            value = self.values.get(key)
            if value is None:
                continue
            least = 0 if default is not None else 1
            if type(value) is not int or not least <= value <= _LARGEST:
                raise Error(f'"{key}" must be an integer of {least} or more')
            return value
        if default is None:
            raise Error(f'not the config.json of a model: it has no "{keys[0]}"')
        return default

    def list(self, key: str) -> list[Any]:
        """Get a list; empty if there is none."""
        value = self.values.get(key)
        if value is not None and not isinstance(value, list):
            raise Error(f'"{key}" must be a list')
        return value or []


def _make_model(config: _Config) -> Model:
    _check_layers(config)
    sizes = {name: config.size(_KEYS[name]) for name in ("layers", "hidden", "heads")}
    sizes["kv_heads"] = config.size(_KEYS["kv_heads"], sizes["heads"])
    sizes["vocabulary"] = config.size(_KEYS["vocabulary"])
    sizes["tied"] = int(config.values.get("tie_word_embeddings", True) is not False)
    if config.values.get("kv_lora_rank"):
        for name, key in _LATENT.items():
            sizes[name] = config.size((key,), 0 if name == "q_rank" else None)
    else:
        usual = sizes["hidden"] // sizes["heads"]
        sizes["head_size"] = config.size(_KEYS["head_size"], usual) or usual
        if not sizes["head_size"]:
            raise Error('"num_attention_heads" is larger than "hidden_size"')
    if config.values.get("model_type") in _UNGATED:
        sizes["matrices"] = 2
    sizes["predicted"] = config.size(_KEYS["predicted"], 0)
    experts = config.size(_KEYS["experts"], 1)
    if experts > 1:
        sizes |= _read_experts(config, experts, sizes["layers"])
    else:
        sizes["ffn"] = config.size(_FEED_FORWARD, 4 * sizes["hidden"])
    return Model(**sizes)


def _check_layers(config: _Config) -> None:
    """Raise an error if layers are not those of a transformer."""
    for key in _OTHER_LAYERS:
        if config.values.get(key):
            raise Error(
                f'"{key}" describes layers without attention, whose traffic is not '
                "known; give measured bytes with --traffic"
            )
    for kind in config.list("layer_types"):
        if kind not in _ATTENTION_TYPES:
            raise Error(
                f"layers of type '{str(kind)[:20]}' are not known; give measured bytes "
                "with --traffic"
            )


def _read_experts(config: _Config, experts: int, layers: int) -> dict[str, int]:
    usual = config.size(_FEED_FORWARD)
    ffn = config.size(("moe_intermediate_size",), usual) or usual
    shared = config.size(("shared_expert_intermediate_size",), 0)
    shared = shared or ffn * config.size(("n_shared_experts", "num_shared_experts"), 0)
    if str(config.values.get("model_type", "")).startswith("llama4"):
        shared = ffn
    with_experts = _count_expert_layers(config, layers)
    return {
        "experts": experts,
        "active": config.size(_KEYS["active"]),
        "ffn": ffn,
        "shared": shared,
        "dense_layers": layers - with_experts,
        "dense_ffn": config.size(("intermediate_size_mlp",), usual),
        **_read_expert_groups(config),
    }


def _read_expert_groups(config: _Config) -> dict[str, int]:
    sizes = {
        name: config.size(_KEYS[name], 0) for name in ("expert_groups", "active_groups")
    }
    is_limited = 0 < sizes["active_groups"] < sizes["expert_groups"]
    return sizes if is_limited else {}


def _count_expert_layers(config: _Config, layers: int) -> int:
    """Count the layers with experts; each family of models has its own key."""
    if kinds := config.list("mlp_layer_types"):
        return min(kinds.count("sparse"), layers)
    if chosen := config.list("moe_layers"):
        return min(len(chosen), layers)
    dense = {layer for layer in config.list("mlp_only_layers") if type(layer) is int}
    first = config.size(("first_k_dense_replace",), 0)
    step = config.size(("interleave_moe_layer_step", "decoder_sparse_step"), 1) or 1
    period = config.size(("moe_layer_freq",), 1) or 1
    if layers > 10**6:
        raise Error(f"{layers} layers are more than 1,000,000")
    return sum(
        layer >= first
        and layer not in dense
        and (layer + 1) % step == 0
        and layer % period == 0
        for layer in range(layers)
    )
