# SPDX-License-Identifier: BSD-3-Clause
"""Dimensions and weights of transformer models."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Model:
    """The dimensions of a transformer. Weights are without biases and norms.

    Attributes
    ----------
    layers
        Number of layers, without those of multi-token prediction.
    hidden
        Elements of a token between layers.
    heads, kv_heads
        Heads of queries, and of keys and values.
    head_size
        Elements of a head; with latent attention, without those of its position.
    ffn
        Size of a feed-forward network; of each expert, if there are several.
    experts, active
        Experts per layer, and how many of them process a token; 1 in dense models.
    shared
        Feed-forward size of all experts of a layer that process every token.
    dense_layers, dense_ffn
        Layers without experts in a model with experts, and their feed-forward size.
    matrices
        Matrices of a feed-forward network: 3 with a gate, as in SwiGLU, 2 without.
    vocabulary
        Tokens of the vocabulary; 0 leaves out embeddings and output layer.
    tied
        1 if embeddings and output layer share their weights, else 0.
    kv_rank, q_rank, rope_size, value_size
        Latent attention (DeepSeek-V2, arXiv:2405.04434): ranks of keys with values and
        of queries, elements of a head's position and of its value. Without it, 0;
        `q_rank` is 0 if queries are not compressed.
    predicted
        Layers of multi-token prediction, which follow the others.
    expert_groups, active_groups
        Groups of consecutive experts, and the number of groups to which the router
        limits a token; 0 without a limit.
    """

    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_size: int
    ffn: int
    experts: int = 1
    active: int = 1
    shared: int = 0
    dense_layers: int = 0
    dense_ffn: int = 0
    matrices: int = 3
    vocabulary: int = 0
    tied: int = 0
    kv_rank: int = 0
    q_rank: int = 0
    rope_size: int = 0
    value_size: int = 0
    predicted: int = 0
    expert_groups: int = 0
    active_groups: int = 0

    @property
    def all_layers(self) -> int:
        """Number of layers, with those of multi-token prediction."""
        return self.layers + self.predicted

    @property
    def expert_layers(self) -> int:
        """Number of layers with experts."""
        return 0 if self.experts == 1 else self.all_layers - self.dense_layers

    @property
    def qkv_size(self) -> int:
        """Number of elements of all queries, keys and values of a token."""
        return (self.heads + 2 * self.kv_heads) * self.head_size

    @property
    def kv_head_size(self) -> int:
        """Number of elements of the key and the value of a head."""
        if self.kv_rank:
            return self.head_size + self.rope_size + self.value_size
        return 2 * self.head_size

    @property
    def latent_weights(self) -> int:
        """Number of weights per layer that compress hidden elements to latent ones."""
        if not self.kv_rank:
            return 0
        return self.hidden * (self.q_rank + self.kv_rank + self.rope_size)

    @property
    def attention_weights(self) -> int:
        """Number of attention weights per layer that tensor parallelism splits."""
        if not self.kv_rank:
            return self.hidden * (self.qkv_size + self.heads * self.head_size)
        queries = (self.q_rank or self.hidden) * (self.head_size + self.rope_size)
        keys_and_values = self.kv_rank * (self.head_size + self.value_size)
        output = self.value_size * self.hidden
        return self.heads * (queries + keys_and_values + output)

    @property
    def expert_weights(self) -> int:
        """Number of weights of all experts of a layer, without shared ones."""
        return self.experts * self.matrices * self.hidden * self.ffn

    @property
    def feed_forward_weights(self) -> int:
        """Number of feed-forward weights of all layers, without routed experts."""
        size = self.matrices * self.hidden
        if self.experts == 1:
            return self.all_layers * size * self.ffn
        dense = self.dense_layers * self.dense_ffn
        return size * (dense + self.expert_layers * self.shared)

    @property
    def router_weights(self) -> int:
        """Number of weights per layer that choose the experts of a token."""
        return self.hidden * self.experts

    @property
    def embedding_weights(self) -> int:
        """Number of weights of the embeddings; the output layer has as many."""
        return self.hidden * self.vocabulary

    @property
    def weights(self) -> int:
        """Number of weights, without those of multi-token prediction."""
        if self.predicted:
            return replace(self, predicted=0).weights
        return (
            self.layers * (self.attention_weights + self.latent_weights)
            + self.feed_forward_weights
            + self.expert_layers * (self.expert_weights + self.router_weights)
            + self.embedding_weights * (1 if self.tied else 2)
        )
