# SPDX-License-Identifier: BSD-3-Clause
"""What models send along each axis in a step, from their dimensions.

Everything that travels has 2 bytes an element (bfloat16). Attention is split over tp
with sequence parallelism (Korthikanti et al., MLSys 2023), the sequence over cp by ring
attention (Liu et al., ICLR 2024), experts over ep (Lepikhin et al., GShard, ICLR 2021),
layers over pp (Narayanan et al., SC 2021), optimizer states over all replicas
(Rajbhandari et al., ZeRO, SC 2020).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

from topoloom.axes import Traffic

ELEMENT = 2  # bytes


@dataclass(frozen=True)
class Model:
    """A transformer; without experts `experts` and `active` are 1."""

    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_size: int
    ffn: int  # of an expert
    experts: int = 1
    active: int = 1  # experts a token

    @property
    def attention_weights(self) -> int:
        """Of a layer."""
        rows = 2 * self.heads + 2 * self.kv_heads
        return rows * self.head_size * self.hidden

    @property
    def expert_weights(self) -> int:
        """Of a layer, all experts together; SwiGLU has three matrices."""
        return self.experts * 3 * self.hidden * self.ffn


MODELS = {
    # Yang et al., Qwen3 technical report, 2025.
    "Qwen3-235B-A22B": Model(94, 4096, 64, 4, 128, 1536, 128, 8),
    "Qwen3-30B-A3B": Model(48, 2048, 32, 4, 128, 768, 128, 8),
    # Grattafiori et al., The Llama 3 herd of models, 2024.
    "Llama 3.1 405B": Model(126, 16384, 128, 8, 128, 53248),
}


def step(
    model: Model, mesh: Mapping[str, int], sequence: int, micro_batches: int
) -> list[Traffic]:
    """Count what a rank sends in a step of so many micro-batches, a sequence each."""
    tp, cp, ep, pp = (mesh.get(axis, 1) for axis in ("tp", "cp", "ep", "pp"))
    layers = model.layers / pp * micro_batches  # passed through by a rank
    tokens = sequence / cp
    activations = tokens * model.hidden * ELEMENT
    # Each way one gather and one scatter around what tp splits: attention, and the
    # feed-forward part where experts do not.
    split_parts = 1 if model.experts > 1 else 2
    keys_and_values = 2 * tokens * model.kv_heads * model.head_size * ELEMENT / tp
    shares: dict[tuple[str, ...], float] = {
        ("tp",): 4 * split_parts * activations * (tp - 1) / tp * layers,
        # On to every other rank; back, once more and with their gradients.
        ("cp",): 3 * keys_and_values * (cp - 1) * layers,
        # Out and back, both ways.
        ("ep",): 4 * model.active * activations / tp * (ep - 1) / ep * layers,
        ("pp",): 2 * activations / tp * micro_batches,
    }
    # Gradients are scattered, weights gathered.
    attention = model.attention_weights * model.layers / (tp * pp)
    experts = model.expert_weights * model.layers / (ep * pp)
    if model.experts == 1:
        attention, experts = attention + experts / tp, 0.0
    replicas = tuple(axis for axis in ("cp", "ep", "dp") if mesh.get(axis, 1) > 1)
    shares[replicas] = (
        2 * ELEMENT * attention * _others(prod(mesh[a] for a in replicas))
    )
    if experts:
        copies = tuple(axis for axis in ("tp", "cp", "dp") if mesh.get(axis, 1) > 1)
        shares[copies] = 2 * ELEMENT * experts * _others(prod(mesh[a] for a in copies))
    usual: dict[tuple[str, ...], str] = {("ep",): "all-to-all", ("pp",): "chain"}
    return [
        Traffic(axes, usual.get(axes, "ring"), round(bytes))
        for axes, bytes in shares.items()
        if bytes > 0 and all(mesh.get(axis, 1) > 1 for axis in axes)
    ]


def _others(ranks: int) -> float:
    return (ranks - 1) / ranks
