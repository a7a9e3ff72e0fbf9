# SPDX-License-Identifier: BSD-3-Clause
"""Runs a model of one layer of Megatron-Core, in one rank of a fake world.

Arguments: a folder with `megatron`, the number of tp ranks, the dimensions of the model
as JSON, and a file for the bytes that the feed-forward network saves for its backward
pass. It runs forward and backward with sequence parallelism, in bfloat16 on the CPU,
with embeddings, output layer and loss.
"""

from __future__ import annotations

import json
import sys
from contextlib import nullcontext
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist


class Norm(torch.nn.Identity):  # type: ignore[misc]
    """A norm without weights, which sends nothing.

    Megatron's own norms without Transformer Engine refuse sequence parallelism.
    """

    def __init__(self, *_: object, **__: object) -> None:
        super().__init__()


class DuplicatedLinear(torch.nn.Linear):  # type: ignore[misc]
    """Transformer Engine's linear layer with one copy per rank, which sends nothing."""

    def __init__(self, inputs: int, outputs: int, **_: object) -> None:
        super().__init__(inputs, outputs, bias=False, dtype=torch.bfloat16)

    def forward(self, given: torch.Tensor) -> tuple[torch.Tensor, None]:
        """Return the output, and no bias."""
        return super().forward(given), None


class LocalAttention(torch.nn.Module):  # type: ignore[misc]
    """Attention inside a rank, with values of any size, unlike Megatron's own."""

    def __init__(self, **_: object) -> None:
        super().__init__()

    def forward(
        self,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        *_: object,
        **__: object,
    ) -> torch.Tensor:
        """Return a tensor of [tokens, 1, elements] from [tokens, 1, heads, size]."""
        weights = torch.einsum("sbhd,tbhd->bhst", query, key).softmax(-1)
        return torch.einsum("bhst,tbhd->sbhd", weights, value).flatten(2)


class SavedBytes:
    """Counts the bytes that a module saves for its backward pass.

    Tensors that share memory count once; weights and the input of the module do not.
    """

    def __init__(self, module: torch.nn.Module) -> None:
        self.bytes: dict[int, int] = {}
        self._tensors: list[torch.Tensor] = []  # so that no address is used again
        self._hooks = torch.autograd.graph.saved_tensors_hooks(self._save, lambda t: t)
        self._others = {self._address(weights) for weights in module.parameters()}
        module.register_forward_pre_hook(self._begin)
        module.register_forward_hook(self._end)

    def _begin(self, _: object, given: tuple[torch.Tensor, ...]) -> None:
        self._others.add(self._address(given[0]))
        self._hooks.__enter__()

    def _end(self, *_: object) -> None:
        self._hooks.__exit__(None, None, None)

    def _save(self, tensor: torch.Tensor) -> torch.Tensor:
        if self._address(tensor) not in self._others:
            self._tensors.append(tensor)
            size = tensor.untyped_storage().nbytes()
            self.bytes[self._address(tensor)] = size
        return tensor

    @staticmethod
    def _address(tensor: torch.Tensor) -> int:
        address: int = tensor.untyped_storage().data_ptr()
        return address


def _define(module: str, name: str, value: object) -> None:
    """Define a name of a module of Megatron-Core."""
    setattr(import_module(f"megatron.core.{module}"), name, value)


def _make_settings(tp: int, sizes: dict[str, int]) -> Any:
    module = import_module("megatron.core.transformer.transformer_config")
    options: dict[str, Any] = {
        "num_layers": 1,
        "hidden_size": sizes["hidden"],
        "num_attention_heads": sizes["heads"],
        "ffn_hidden_size": sizes["ffn"],
        "gated_linear_unit": True,
        "activation_func": torch.nn.functional.silu,
        "add_bias_linear": False,
        "bias_dropout_fusion": False,
        "bias_activation_fusion": True,
        "hidden_dropout": 0.0,
        "attention_dropout": 0.0,
        "sequence_parallel": True,
        "tensor_model_parallel_size": tp,
        "use_cpu_initialization": True,
        "params_dtype": torch.bfloat16,
        "bf16": True,
        "gradient_accumulation_fusion": False,
        "perform_initialization": False,
    }
    if sizes["experts"] > 1:
        options |= {
            "num_moe_experts": sizes["experts"],
            "moe_ffn_hidden_size": sizes["ffn"],
            "moe_router_topk": sizes["active"],
            "moe_router_load_balancing_type": "none",
            "moe_token_dispatcher_type": "allgather",
            "moe_shared_expert_intermediate_size": sizes["shared"] or None,
            "expert_model_parallel_size": 2,
            "expert_tensor_parallel_size": 1,
        }
    if not sizes["kv_rank"]:
        groups = {
            "num_query_groups": sizes["kv_heads"],
            "kv_channels": sizes["head_size"],
        }
        return module.TransformerConfig(**options, **groups)
    return module.MLATransformerConfig(
        **options,
        multi_latent_attention=True,
        rope_type="rope",
        apply_rope_fusion=False,
        q_lora_rank=sizes["q_rank"] or None,
        kv_lora_rank=sizes["kv_rank"],
        qk_head_dim=sizes["head_size"],
        qk_pos_emb_head_dim=sizes["rope_size"],
        v_head_dim=sizes["value_size"],
    )


def _make_layer(sizes: dict[str, int]) -> Any:
    """Describe the layer, with modules that need no Transformer Engine."""
    specs = import_module("megatron.core.models.gpt.gpt_layer_specs")
    spec = specs.get_gpt_layer_local_spec(
        num_experts=sizes["experts"] if sizes["experts"] > 1 else None,
        multi_latent_attention=bool(sizes["kv_rank"]),
    )
    parts = replace(spec.submodules, input_layernorm=Norm, pre_mlp_layernorm=Norm)
    if sizes["kv_rank"]:
        _define("transformer.multi_latent_attention", "TELinear", DuplicatedLinear)
        attention = parts.self_attention
        inner = replace(
            attention.submodules,
            linear_q_down_proj=DuplicatedLinear,
            linear_kv_down_proj=DuplicatedLinear,
            core_attention=LocalAttention,
            q_layernorm=Norm,
            kv_layernorm=Norm,
        )
        parts = replace(parts, self_attention=replace(attention, submodules=inner))
    return replace(spec, submodules=parts)


def main(folder: str, tp: int, sizes: dict[str, int], file: Path) -> None:
    """Run the model; `sizes` are the fields of `Model` and the tokens of a sequence."""
    sys.path.insert(0, folder)
    torch.cuda.current_device = lambda: "cpu"
    dist.init_process_group("nccl")
    state = import_module("megatron.core.parallel_state")
    # Megatron's own layers of unsplit experts require several ranks with experts.
    experts = 2 if sizes["experts"] > 1 else 1
    state.initialize_model_parallel(
        tensor_model_parallel_size=tp,
        expert_model_parallel_size=experts,
        expert_tensor_parallel_size=1,
    )
    # Release 0.16 does not define it without Transformer Engine.
    _define("transformer.moe.moe_utils", "te_general_gemm", None)
    random: Any = import_module("megatron.core.tensor_parallel.random")
    random.CudaRNGStatesTracker.fork = nullcontext
    _define("transformer.transformer_block", "LayerNormImpl", Norm)
    gpt = import_module("megatron.core.models.gpt.gpt_model")
    model = gpt.GPTModel(
        _make_settings(tp, sizes),
        _make_layer(sizes),
        sizes["vocabulary"],
        sizes["sequence"],
        position_embedding_type="none" if sizes["kv_rank"] else "rope",
    ).bfloat16()
    for weights in model.parameters():
        torch.nn.init.normal_(weights, std=0.1)
    count = sizes["sequence"]
    tokens = torch.zeros(1, count, dtype=torch.long)
    mask = torch.zeros(1, 1, count, count, dtype=torch.bool)
    saved = SavedBytes(model.decoder.layers[0].mlp)
    loss = model(tokens, torch.arange(count)[None], mask, labels=tokens)
    loss.sum().backward()
    file.write_text(str(sum(saved.bytes.values())))
    dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3]), Path(sys.argv[4]))
