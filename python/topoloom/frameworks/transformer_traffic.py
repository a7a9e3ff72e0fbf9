# SPDX-License-Identifier: BSD-3-Clause
"""Computes a training step's traffic per axis from the dimensions of a model.

Attention is split over tp with sequence parallelism (Korthikanti et al., MLSys 2023).
The sequence is split over cp by ring attention (Liu et al., ICLR 2024). Experts are
split over ep (Lepikhin et al., GShard, ICLR 2021) and etp (Liu et al., MoE parallel
folding with Megatron Core, arXiv:2504.14960). Layers are split over pp (Narayanan et
al., SC 2021). ZeRO (Rajbhandari et al., SC 2020) splits optimizer states over all
replicas, or weights over shard. Embeddings, norms and routers are not counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import prod

from topoloom.frameworks.traffic_rules import TrafficRules
from topoloom.frameworks.transformer_model import Model
from topoloom.graphs.axes import Traffic


class _StepTraffic:
    """Accumulates the bytes that a rank sends along the axes of a mesh."""

    def __init__(self, mesh: Mapping[str, int]) -> None:
        self.mesh = mesh
        self._sent: Counter[tuple[tuple[str, ...], str]] = Counter()

    def size(self, axes: Sequence[str]) -> int:
        """Return the number of ranks of a group along the axes."""
        return prod(self.mesh.get(axis, 1) for axis in axes)

    def send(self, axes: Sequence[str], collective: str, bytes: float) -> None:
        """Add the bytes that a rank sends; axes of one rank do not count."""
        used = tuple(axis for axis in axes if self.mesh.get(axis, 1) > 1)
        self._sent[used, collective] += round(bytes)

    def gather(self, axes: Sequence[str], bytes: float) -> None:
        """Add collectives in rings over gathered or scattered buffers of `bytes`."""
        ranks = self.size(axes)
        self.send(axes, "ring", bytes * (ranks - 1) / ranks)

    def list(self) -> list[Traffic]:
        """Return what is sent along axes of more than one rank."""
        sent = self._sent.items()
        return [Traffic(*way, bytes) for way, bytes in sent if way[0] and bytes]


def count_traffic(
    model: Model,
    mesh: Mapping[str, int],
    sequence: int,
    micro_batches: int,
    rules: TrafficRules,
) -> list[Traffic]:
    """Compute a rank's traffic per training step of `micro_batches` single sequences.

    On a mesh with edp, as in Megatron, each expert is split over etp and replicated
    over edp. Otherwise ep is an axis of the mesh, and experts are replicated over all
    other axes, including tp. On a mesh with shard, weights are gathered before use.
    """
    step = _StepTraffic(mesh)
    tp, cp, ep, pp = (mesh.get(axis, 1) for axis in ("tp", "cp", "ep", "pp"))
    etp = mesh.get("etp", 1)
    layers = model.layers / pp * micro_batches  # per rank
    tokens = sequence / cp
    element = rules.types.activation_bytes
    step.gather(["tp"], _count_layer_bytes(model, tp, tokens, rules) * layers)
    # Each rank has at least one whole head of keys and values. Forward: both to every
    # other rank; backward: the same, and gradients.
    heads = max(model.kv_heads / tp, 1)
    keys_and_values = 2 * tokens * heads * model.head_size * element
    step.send(["cp"], "ring", 3 * keys_and_values * (cp - 1) * layers)
    activations = tokens * model.hidden * element / tp
    if model.experts > 1:
        # Dispatch and combine, forward and backward. Ranks that share an expert gather
        # the expert's tokens and scatter its results.
        routed = model.active * activations
        step.send(["ep"], "alltoall", 4 * routed * (ep - 1) / ep * layers)
        step.send(["etp"], "ring", 4 * routed * (etp - 1) * layers)
    step.send(["pp"], "chain", 2 * activations * micro_batches)
    if "shard" in mesh:
        _count_shards(step, model, micro_batches, rules)
    else:
        _count_replicas(step, model, rules)
    return step.list()


def _count_layer_bytes(
    model: Model, tp: int, tokens: float, rules: TrafficRules
) -> float:
    """Count the bytes that tensor parallelism gathers and scatters in a layer.

    Without experts, tp splits attention and feed-forward; with experts only attention.
    """
    parts = [rules.attention]
    if model.experts == 1:
        parts.append(rules.feed_forward)
    types, elements = rules.types, tokens * model.hidden
    found = 0.0
    for part in parts:
        found += part.gathers * elements * types.gathered_bytes
        found += part.scatters * elements * types.activation_bytes
    if rules.gathers_split_heads and model.kv_heads < tp:
        # One gather forward, one scatter backward.
        found += 2 * tokens * model.qkv_size * types.activation_bytes
    return found


def _count_shards(
    step: _StepTraffic, model: Model, micro_batches: int, rules: TrafficRules
) -> None:
    """Count gathers of weights, scatters of gradients, and the sums of replicas."""
    types = rules.types
    batches, gathers = (micro_batches, 2) if rules.shards_per_batch else (1, 1)
    along = ["cp", "shard"]
    weights = model.weights / step.size(["tp", "pp"])
    bytes = gathers * types.parameter_bytes + types.gradient_bytes
    step.gather(along, batches * bytes * weights)
    shard = weights / step.size(along)
    step.gather(["replicate"], batches * 2 * types.gradient_bytes * shard)


def _count_replicas(step: _StepTraffic, model: Model, rules: TrafficRules) -> None:
    """Count reductions of gradients and gathers of weights, once per step."""
    attention = model.attention_weights * model.layers / step.size(["tp", "pp"])
    experts = model.expert_weights * model.layers / step.size(["etp", "ep", "pp"])
    attention_copies, expert_copies = ["cp", "dp"], ["edp"]
    if "edp" not in step.mesh:
        attention_copies, expert_copies = ["cp", "ep", "dp"], ["tp", "cp", "dp"]
    if model.experts == 1:
        attention += model.expert_weights * model.layers / step.size(["tp", "pp"])
        experts = 0.0
    types = rules.types
    bytes = rules.gradient_passes * types.gradient_bytes + types.parameter_bytes
    step.gather(attention_copies, bytes * attention)
    step.gather(expert_copies, bytes * experts)
