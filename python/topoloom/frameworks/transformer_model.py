# SPDX-License-Identifier: BSD-3-Clause
"""Dimensions of transformer models."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Model:
    """The dimensions of a transformer; dense models have one expert."""

    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_size: int
    ffn: int  # feed-forward size of an expert
    experts: int = 1
    active: int = 1  # experts per token

    @property
    def qkv_size(self) -> int:
        """Number of elements of all queries, keys and values of a token."""
        return (self.heads + 2 * self.kv_heads) * self.head_size

    @property
    def attention_weights(self) -> int:
        """Number of attention weights per layer."""
        rows = 2 * self.heads + 2 * self.kv_heads
        return rows * self.head_size * self.hidden

    @property
    def expert_weights(self) -> int:
        """Number of expert weights per layer; SwiGLU has three matrices per expert."""
        return self.experts * 3 * self.hidden * self.ffn

    @property
    def weights(self) -> int:
        """Number of weights of all layers."""
        return self.layers * (self.attention_weights + self.expert_weights)


MODELS = {
    # Yang et al., Qwen3 technical report, 2025.
    "Qwen3-235B-A22B": Model(94, 4096, 64, 4, 128, 1536, 128, 8),
    "Qwen3-30B-A3B": Model(48, 2048, 32, 4, 128, 768, 128, 8),
    # Grattafiori et al., The Llama 3 herd of models, 2024.
    "Llama 3.1 405B": Model(126, 16384, 128, 8, 128, 53248),
    "Llama 3.1 70B": Model(80, 8192, 64, 8, 128, 28672),
}
