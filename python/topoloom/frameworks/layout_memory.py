# SPDX-License-Identifier: BSD-3-Clause
"""Memory of a GPU in a training job: weights, gradients, optimizer, activations.

Weights are in bf16, the states of Adam in fp32 and distributed over all replicas (Adam
and ZeRO-1 as in Megatron-Core's distributed optimizer). Activations are the tensors
that a layer saves for its backward pass with sequence parallelism, if attention stores
no scores, as in FlashAttention (Korthikanti et al., MLSys 2023, table 2, "selective").
For models that this table is for, the sum is that of
``megatron/training/theoretical_memory_usage.py``; it also counts what that file does
not: gates, heads whose sizes do not add up to hidden, cp, tokens of experts, and the
last stage. Norms, biases, buffers of NCCL and fragmentation are not counted.
"""

from __future__ import annotations

from typing import NamedTuple

from topoloom.frameworks.traffic_rules import find_traffic_rules
from topoloom.frameworks.training_layout import LayoutStep, TrainingLayout
from topoloom.frameworks.transformer_model import Model

#: Bytes of a weight, and of its fp32 copy and Adam's two moments.
_WEIGHT_BYTES, _OPTIMIZER_BYTES = 2, 12

#: Bytes of a saved element of activations.
_ELEMENT_BYTES = 2


class LayoutMemory(NamedTuple):
    """Bytes on the GPU that needs most, by purpose."""

    weights: float
    gradients: float
    optimizer: float
    activations: float

    @property
    def total(self) -> float:
        """Sum of all bytes."""
        return sum(self)


class RankWeights(NamedTuple):
    """Weights on a rank of the largest stage: of routed experts, and all others."""

    others: float
    experts: float


def count_memory(step: LayoutStep, layout: TrainingLayout) -> LayoutMemory:
    """Count the bytes of the GPU that needs most memory."""
    others, experts = count_rank_weights(step.step.model, layout)
    types = find_traffic_rules(layout.job).types._replace(**step.step.types)
    copies, expert_copies = layout.dp * layout.cp, layout.job.axes["edp"]
    return LayoutMemory(
        _WEIGHT_BYTES * (others + experts),
        types.gradient_bytes * (others + experts),
        _OPTIMIZER_BYTES * (others / copies + experts / expert_copies),
        _count_activations(step, layout),
    )


def count_rank_weights(model: Model, layout: TrainingLayout) -> RankWeights:
    """Count the weights of a rank in the largest pipeline stage.

    That stage has embeddings or the output layer, and all layers of multi-token
    prediction.
    """
    stage = layout.count_stage_layers(model.layers)
    layers = stage + model.predicted
    dense = model.dense_layers * stage / model.layers
    expert_layers = layers - dense if model.experts > 1 else 0.0
    split: float = layers * model.attention_weights
    networks = dense * model.dense_ffn + expert_layers * model.shared
    if model.experts == 1:
        networks = float(layers * model.ffn)
    split += model.matrices * model.hidden * networks
    tables = 1 if layout.pp > 1 or model.tied else 2
    split += tables * model.embedding_weights
    whole = layers * model.latent_weights + expert_layers * model.router_weights
    experts = expert_layers * model.expert_weights / (layout.etp * layout.ep)
    return RankWeights(split / layout.tp + whole, experts)


def _count_activations(step: LayoutStep, layout: TrainingLayout) -> float:
    """Count the activations of the first or the last stage, whichever has more."""
    model = step.step.model
    tokens = step.step.sequence * layout.micro / (layout.cp * layout.tp)
    layer = _count_layer_elements(model, layout) * _ELEMENT_BYTES
    saved = model.hidden * _ELEMENT_BYTES if layout.recompute else layer
    micro_batches = layout.count_micro_batches(step.batch)
    chunk = layout.count_stage_layers(model.layers) / layout.vpp
    first, last = _count_chunks_in_flight(layout, micro_batches)
    # The input and the output of the output layer, and its fp32 logits.
    output = 4 * (model.hidden + model.vocabulary) if model.vocabulary else 0
    at_start = first * chunk * saved
    at_end = (last * chunk + model.predicted) * saved + output
    working = layer if layout.recompute else 0.0
    return tokens * (max(at_start, at_end) + working)


def _count_chunks_in_flight(
    layout: TrainingLayout, micro_batches: int
) -> tuple[int, int]:
    """Count the forward passes of chunks that the first and last stage hold at once.

    Narayanan et al., SC 2021: a stage runs those of its warm-up and one more.
    """
    if layout.vpp == 1:
        return min(layout.pp, micro_batches), 1
    others = (layout.vpp - 1) * layout.pp + 1
    most = layout.vpp * micro_batches
    return min(others + 2 * (layout.pp - 1), most), min(others, most)


def _count_layer_elements(model: Model, layout: TrainingLayout) -> float:
    """Count the elements per token that an average layer saves, over its tp ranks.

    Both norms and the matrices that follow them save their inputs; attention saves
    queries, keys, values and its output, which is the input of the next matrix; a
    feed-forward network saves what its matrices write, and the product that the last of
    them reads. Models without a gate have dropout, with a byte per element of two
    masks; later ones have none.
    """
    hidden: float = 4 * model.hidden
    if model.matrices == 2:
        hidden += 2 * model.hidden / _ELEMENT_BYTES
    dense = model.matrices * model.ffn
    if model.experts == 1:
        return hidden + _count_attention_elements(model, layout) + dense
    routed = model.active * (model.hidden * layout.etp + dense)
    shared = model.matrices * model.shared
    share = model.expert_layers / model.all_layers
    network = share * (routed + shared)
    network += (1 - share) * model.matrices * model.dense_ffn
    return hidden + _count_attention_elements(model, layout) + network


def _count_attention_elements(model: Model, layout: TrainingLayout) -> float:
    """Count the elements of queries, keys, values and the output of attention."""
    if model.kv_rank:
        heads = 2 * (model.head_size + model.rope_size) + 2 * model.value_size
        latent = 2 * (model.q_rank + model.kv_rank) + model.rope_size
        return model.heads * heads + latent
    # A tp rank has at least one whole head of keys and values.
    kv_heads = max(model.kv_heads, layout.tp)
    return 2 * (model.heads + kv_heads) * model.head_size
