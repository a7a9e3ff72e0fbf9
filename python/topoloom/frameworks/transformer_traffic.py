# SPDX-License-Identifier: BSD-3-Clause
"""Computes a training step's traffic per axis from the dimensions of a model.

Attention is split over tp with sequence parallelism (Korthikanti et al., MLSys 2023).
The sequence is split over cp by ring attention (Liu et al., ICLR 2024). Experts are
split over ep (Lepikhin et al., GShard, ICLR 2021) and etp (Liu et al., MoE parallel
folding with Megatron Core, arXiv:2504.14960). Layers are split over pp (Narayanan et
al., SC 2021), evenly; embeddings and output layer count for the stage with most of
them. ZeRO (Rajbhandari et al., SC 2020) splits optimizer states over all replicas, or
weights over shard. Norms and biases are not counted, nor are the projections that join
tokens for multi-token prediction.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from math import prod

from topoloom.frameworks.expert_exchange import ExpertExchange
from topoloom.frameworks.traffic_rules import (
    ELEMENT_BYTES,
    LayerCollectives,
    TrafficRules,
)
from topoloom.frameworks.transformer_model import Model
from topoloom.graphs.axes import Traffic


class _StepTraffic:
    """Accumulates the bytes that a rank sends along the axes of a mesh."""

    def __init__(self, mesh: Mapping[str, int]) -> None:
        self.mesh = mesh
        self._sent: Counter[tuple[tuple[str, ...], str]] = Counter()
        self._calls: Counter[tuple[tuple[str, ...], str]] = Counter()

    def size(self, axes: Sequence[str]) -> int:
        """Return the number of ranks of a group along the axes."""
        return prod(self.mesh.get(axis, 1) for axis in axes)

    def send(
        self, axes: Sequence[str], collective: str, bytes: float, calls: float
    ) -> None:
        """Add the bytes that a rank sends in calls; axes of one rank do not count."""
        used = tuple(axis for axis in axes if self.mesh.get(axis, 1) > 1)
        self._sent[used, collective] += round(bytes)
        self._calls[used, collective] += math.ceil(calls)

    def gather(self, axes: Sequence[str], bytes: float, calls: float) -> None:
        """Add collectives in rings over gathered or scattered buffers of `bytes`."""
        ranks = self.size(axes)
        self.send(axes, "ring", bytes * (ranks - 1) / ranks, calls)

    def list(self) -> list[Traffic]:
        """Return what is sent along axes of more than one rank."""
        return [
            Traffic(*way, bytes, self._calls[way])
            for way, bytes in self._sent.items()
            if way[0] and bytes
        ]


def count_traffic(
    model: Model,
    mesh: Mapping[str, int],
    sequence: int,
    micro_batches: int,
    rules: TrafficRules,
    exchange: ExpertExchange,
) -> list[Traffic]:
    """Compute a rank's traffic per training step of `micro_batches` single sequences.

    On a mesh with edp, as in Megatron, each expert is split over etp and replicated
    over edp. Otherwise ep is an axis of the mesh, and experts are replicated over all
    other axes, including tp. On a mesh with shard, weights are gathered before use.
    """
    step = _StepTraffic(mesh)
    cp, ep, pp = (mesh.get(axis, 1) for axis in ("cp", "ep", "pp"))
    tp, etp = mesh.get("tp", 1), mesh.get("etp", 1)
    per_layer = micro_batches / pp  # of a rank
    tokens = sequence / cp
    element = rules.types.activation_bytes
    _count_tensor_parallelism(step, model, tokens, micro_batches, rules)
    # Each rank has at least one whole head of keys and values. Forward: both to every
    # other rank; backward: the same, and gradients.
    keys_and_values = tokens * max(model.kv_heads / tp, 1) * model.kv_head_size
    repeats = 1 if rules.repeats_forward else 0
    passes = (3 + repeats) * model.all_layers * per_layer
    step.send(["cp"], "ring", passes * keys_and_values * element * (cp - 1), passes)
    activations = tokens * model.hidden * element / tp
    if model.experts > 1:
        # Dispatch and combine, forward and backward. Ranks that share an expert gather
        # the expert's tokens and scatter its results.
        both_ways = (2 + repeats) * model.expert_layers * per_layer
        elements = tokens * model.hidden / tp * both_ways / 2
        sent = exchange.count_bytes(model, ep, element)
        calls = 2 * both_ways
        step.send(["ep"], "alltoall", elements * sent, calls)
        sent = 4 * model.active * element * (etp - 1)
        step.send(["etp"], "ring", elements * sent, calls)
    sends = 2 * micro_batches * rules.chunks
    step.send(["pp"], "chain", activations * sends, sends)
    if "shard" in mesh:
        _count_shards(step, model, micro_batches, rules)
    else:
        _count_replicas(step, model, rules)
    return step.list()


def _count_tensor_parallelism(
    step: _StepTraffic,
    model: Model,
    tokens: float,
    micro_batches: int,
    rules: TrafficRules,
) -> None:
    """Count what tensor parallelism gathers and scatters in micro-batches of tokens.

    Without experts, tp splits attention and feed-forward networks; with experts, those
    of attention, of dense layers and of shared experts.
    """
    types, pp = rules.types, step.size(["pp"])
    tp = step.size(["tp"])

    def count(part: LayerCollectives, elements: float) -> float:
        gathered = part.gathers * types.gathered_bytes
        return elements * (gathered + part.scatters * types.activation_bytes)

    again = LayerCollectives(1, 1) if rules.repeats_forward else LayerCollectives(0, 0)
    if model.kv_rank and rules.splits_latent:
        # Gathered: the input of the output layer's gradient; twice, latent queries,
        # keys and values, whose gradients are scattered, and once their positions.
        latent = (model.q_rank or model.hidden) + model.kv_rank
        attention = count(LayerCollectives(1, 1), model.hidden + model.rope_size)
        attention += count(LayerCollectives(2, 1), latent)
        attention += count(LayerCollectives(again.gathers, 0), latent + model.rope_size)
        attention += count(LayerCollectives(0, again.scatters), model.hidden)
    else:
        attention = count(rules.attention.add(again), model.hidden)
    if rules.gathers_split_heads and model.kv_heads < tp:
        # One gather forward, one scatter backward.
        attention += (2 + again.gathers) * model.qkv_size * types.activation_bytes
    networks = model.all_layers
    if model.experts > 1:
        networks = model.dense_layers + (model.expert_layers if model.shared else 0)
    found = model.all_layers * attention
    feed_forward = rules.feed_forward.add(again)
    found += networks * count(feed_forward, model.hidden)
    found /= pp
    if model.vocabulary and rules.embedding and rules.output:
        ends = [
            count(rules.embedding, model.hidden),
            # The maximum, the sum and the label of a token are summed in fp32.
            count(rules.output, model.hidden) + 3 * 2 * ELEMENT_BYTES["fp32"],
        ]
        found += max(ends) if pp > 1 else sum(ends)
    calls = model.all_layers * sum(rules.attention.add(again))
    calls += networks * sum(feed_forward)
    step.gather(["tp"], tokens * micro_batches * found, calls * micro_batches / pp)
    if model.kv_rank and rules.splits_latent:
        # Each rank computes gradients of its tokens; an allreduce adds them.
        latent_weights = model.latent_weights * model.all_layers / pp
        step.gather(["tp"], 2 * types.gradient_bytes * latent_weights, 0)


def _count_weights(step: _StepTraffic, model: Model, rules: TrafficRules) -> float:
    """Count the weights of a rank, without those of routed experts."""
    tp, pp = step.size(["tp"]), step.size(["pp"])
    split = model.all_layers * model.attention_weights + model.feed_forward_weights
    whole = model.all_layers * model.latent_weights
    if model.experts > 1:
        whole += model.expert_layers * model.router_weights
    tables = 1 if pp > 1 or model.tied else 2
    embeddings = tables * model.embedding_weights / (tp if rules.embedding else 1)
    return (split / tp + whole) / pp + embeddings


def _count_shards(
    step: _StepTraffic, model: Model, micro_batches: int, rules: TrafficRules
) -> None:
    """Count gathers of weights, scatters of gradients, and the sums of replicas."""
    types = rules.types
    batches, gathers = (micro_batches, 2) if rules.shards_per_batch else (1, 1)
    along = ["cp", "shard"]
    experts = model.expert_weights * model.expert_layers / step.size(["tp", "pp"])
    weights = _count_weights(step, model, rules) + experts
    bytes = gathers * types.parameter_bytes + types.gradient_bytes
    layers = batches * model.all_layers / step.size(["pp"])
    step.gather(along, batches * bytes * weights, (gathers + 1) * layers)
    shard = weights / step.size(along)
    sums = batches * 2 * types.gradient_bytes * shard
    step.gather(["replicate"], sums, 2 * layers)


def _count_replicas(step: _StepTraffic, model: Model, rules: TrafficRules) -> None:
    """Count reductions of gradients and gathers of weights, once per step."""
    weights = _count_weights(step, model, rules)
    parts = step.size(["etp", "ep", "pp"])
    experts = model.expert_weights * model.expert_layers / parts
    copies, expert_copies = ["cp", "dp"], ["edp"]
    if "edp" not in step.mesh:
        copies, expert_copies = ["cp", "ep", "dp"], ["tp", "cp", "dp"]
    types = rules.types
    bytes = rules.gradient_passes * types.gradient_bytes + types.parameter_bytes
    step.gather(copies, bytes * weights, 2)
    step.gather(expert_copies, bytes * experts, 2)
