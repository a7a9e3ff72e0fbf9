# SPDX-License-Identifier: BSD-3-Clause
"""Runs one layer of Megatron-Core forward and backward, in one rank of a fake world.

Arguments: a folder with `megatron`, the number of tp ranks, and the dimensions of the
layer as JSON. The layer is dense, with sequence parallelism, in bfloat16 on the CPU.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from importlib import import_module

import torch
import torch.distributed as dist


class Norm(torch.nn.Identity):  # type: ignore[misc]
    """A norm without weights, which sends nothing.

    Megatron's own norms without Transformer Engine refuse sequence parallelism.
    """

    def __init__(self, *_: object, **__: object) -> None:
        super().__init__()


def main(folder: str, tp: int, sizes: dict[str, int]) -> None:
    """Run the layer; `sizes` are the fields of `Model` and the tokens of a sequence."""
    sys.path.insert(0, folder)
    torch.cuda.current_device = lambda: "cpu"
    dist.init_process_group("nccl")
    state = import_module("megatron.core.parallel_state")
    state.initialize_model_parallel(tensor_model_parallel_size=tp)
    config = import_module("megatron.core.transformer.transformer_config")
    specs = import_module("megatron.core.models.gpt.gpt_layer_specs")
    layers = import_module("megatron.core.transformer.transformer_layer")
    settings = config.TransformerConfig(
        num_layers=1,
        hidden_size=sizes["hidden"],
        num_attention_heads=sizes["heads"],
        num_query_groups=sizes["kv_heads"],
        kv_channels=sizes["head_size"],
        ffn_hidden_size=sizes["ffn"],
        gated_linear_unit=True,
        activation_func=torch.nn.functional.silu,
        add_bias_linear=False,
        bias_dropout_fusion=False,
        hidden_dropout=0.0,
        attention_dropout=0.0,
        sequence_parallel=True,
        tensor_model_parallel_size=tp,
        use_cpu_initialization=True,
        params_dtype=torch.bfloat16,
        bf16=True,
        gradient_accumulation_fusion=False,
        perform_initialization=False,
    )
    spec = specs.get_gpt_layer_local_spec()
    parts = replace(spec.submodules, input_layernorm=Norm, pre_mlp_layernorm=Norm)
    layer = layers.TransformerLayer(settings, parts).bfloat16()
    tokens = sizes["sequence"] // tp
    given = torch.ones(tokens, 1, sizes["hidden"], dtype=torch.bfloat16)
    given.requires_grad_()
    mask = torch.zeros(1, 1, sizes["sequence"], sizes["sequence"], dtype=torch.bool)
    found, _ = layer(given, attention_mask=mask)
    found.sum().backward()
    dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3]))
