# SPDX-License-Identifier: BSD-3-Clause
"""Computes a training step's traffic per axis from the dimensions of a model.

All elements have 2 bytes (bfloat16). Attention is split over tp with sequence
parallelism (Korthikanti et al., MLSys 2023). The sequence is split over cp by ring
attention (Liu et al., ICLR 2024). Experts are split over ep (Lepikhin et al., GShard,
ICLR 2021) and etp (Liu et al., MoE parallel folding with Megatron Core,
arXiv:2504.14960). Layers are split over pp (Narayanan et al., SC 2021). ZeRO
(Rajbhandari et al., SC 2020) splits optimizer states over all replicas, or weights over
shard.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from math import prod
from typing import NamedTuple

from topoloom._core import Error
from topoloom.graphs.axes import Traffic
from topoloom.support.name_lookup import describe_unknown_name

ELEMENT_BYTES = 2


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


def count_traffic(
    model: Model, mesh: Mapping[str, int], sequence: int, micro_batches: int
) -> list[Traffic]:
    """Compute a rank's traffic per training step of `micro_batches` single sequences.

    On a mesh with edp, as in Megatron, each expert is split over etp and replicated
    over edp. Otherwise ep is an axis of the mesh, and experts are replicated over all
    other axes, including tp. On a mesh with shard, weights are gathered before use,
    forward and backward.
    """
    tp, cp, ep, pp = (mesh.get(axis, 1) for axis in ("tp", "cp", "ep", "pp"))
    etp = mesh.get("etp", 1)
    layers = model.layers / pp * micro_batches  # per rank
    tokens = sequence / cp
    activations = tokens * model.hidden * ELEMENT_BYTES
    # For each part of a layer that tp splits, the forward and the backward pass each
    # have one gather and one scatter. These parts are attention and, without expert
    # axes, feed-forward.
    split_parts = 1 if model.experts > 1 else 2
    keys_and_values = 2 * tokens * model.kv_heads * model.head_size * ELEMENT_BYTES / tp
    sent: Counter[tuple[tuple[str, ...], str]] = Counter()

    def send(axes: Sequence[str], collective: str, bytes: float) -> None:
        used = tuple(axis for axis in axes if mesh.get(axis, 1) > 1)
        sent[used, collective] += round(bytes)

    send(
        ["tp"],
        "ring",
        4 * split_parts * activations * _other_ranks_fraction(tp) * layers,
    )
    # Forward: keys and values to every other rank; backward: the same, and gradients.
    send(["cp"], "ring", 3 * keys_and_values * (cp - 1) * layers)
    if model.experts > 1:
        # Dispatch and combine, forward and backward. Ranks that share an expert gather
        # the expert's tokens and scatter its results.
        routed = model.active * activations / tp
        send(["ep"], "alltoall", 4 * routed * _other_ranks_fraction(ep) * layers)
        send(["etp"], "ring", 4 * routed * (etp - 1) * layers)
    send(["pp"], "chain", 2 * activations / tp * micro_batches)
    if "shard" in mesh:
        send(*_count_shard_traffic(model, mesh, micro_batches))
        copied = model.weights / (tp * pp * mesh["shard"])
        replicas = mesh.get("replicate", 1)
        send(
            ["replicate"],
            "ring",
            2 * ELEMENT_BYTES * copied * _other_ranks_fraction(replicas),
        )
        return _make_traffic(sent)
    # Replicas reduce_scatter their gradients and allgather their weights.
    attention = model.attention_weights * model.layers / (tp * pp)
    experts = model.expert_weights * model.layers / (etp * ep * pp)
    attention_copies, expert_copies = ["cp", "dp"], ["edp"]
    if "edp" not in mesh:
        attention_copies, expert_copies = ["cp", "ep", "dp"], ["tp", "cp", "dp"]
    if model.experts == 1:
        attention += model.expert_weights * model.layers / (tp * pp)
        experts = 0.0
    for weights, along in ((attention, attention_copies), (experts, expert_copies)):
        ranks = prod(mesh.get(axis, 1) for axis in along)
        send(along, "ring", 2 * ELEMENT_BYTES * weights * _other_ranks_fraction(ranks))
    return _make_traffic(sent)


class TrainingStep(NamedTuple):
    """A training step of a model, which may run on any mesh.

    Attributes
    ----------
    model
        Dimensions of the transformer.
    sequence
        Number of tokens per sequence.
    batches
        Number of micro-batches per rank, with one sequence each.
    """

    model: Model
    sequence: int
    batches: int

    def traffic(self, mesh: Mapping[str, int]) -> list[Traffic]:
        """Compute a rank's traffic along the axes of a job.

        Raises
        ------
        topoloom.Error
            If an axis size does not divide the model or sequence.
        """
        model = self.model
        tp, cp, ep, pp = (mesh.get(axis, 1) for axis in ("tp", "cp", "ep", "pp"))
        if ep > 1 and model.experts == 1:
            raise Error(f"ep is {ep}, but the model has no experts")
        if ep > model.experts:
            raise Error(
                f"ep is {ep}, but the model has {model.experts} experts per layer"
            )
        if model.heads % tp:
            raise Error(
                f"tp is {tp}, which does not divide the {model.heads} attention heads "
                "of the model"
            )
        if pp > model.layers:
            raise Error(f"pp is {pp}, but the model has {model.layers} layers")
        if self.sequence % cp:
            raise Error(
                f"cp is {cp}, which does not divide the sequence of {self.sequence} "
                "tokens"
            )
        return count_traffic(self.model, mesh, self.sequence, self.batches)


def parse_step(text: str) -> TrainingStep:
    """Parse a model name or dimensions: ``qwen3-235b-a22b,sequence=32768,batches=16``.

    Raises
    ------
    topoloom.Error
        If a word or model is unknown, or a dimension is missing.
    """
    words = [word.strip() for word in text.split(",")]
    known = {name.lower().replace(" ", "-"): model for name, model in MODELS.items()}
    sizes: dict[str, int] = {"sequence": 4096, "batches": 8}
    own = [field.name for field in fields(Model)]
    chosen: Model | None = None
    for word in words:
        key, equals, value = word.partition("=")
        if not equals:
            if word.lower() not in known:
                raise Error(describe_unknown_name("model", word, known))
            chosen = known[word.lower()]
        elif key not in (*sizes, *own):
            raise Error(
                describe_unknown_name("dimension", key, ["sequence", "batches", *own])
            )
        elif not re.fullmatch("[1-9][0-9]{0,11}", value):
            raise Error(f"{key} must be an integer of 1 or more, not '{value}'")
        else:
            sizes[key] = int(value)
    given = {name: sizes[name] for name in own if name in sizes}
    if chosen is None:
        missing = [name for name in own[:6] if name not in given]
        if missing:
            raise Error(
                f"the model '{text}' lacks {', '.join(missing)}; or name one of "
                f"{', '.join(known)}"
            )
        chosen = Model(**given)
    elif given:
        chosen = replace(chosen, **given)
    return TrainingStep(chosen, sizes["sequence"], sizes["batches"])


def _count_shard_traffic(
    model: Model, mesh: Mapping[str, int], batches: int
) -> tuple[list[str], str, float]:
    """Compute shard traffic: two gathers of weights and one scatter of gradients."""
    along = ["cp", "shard"]
    ranks = prod(mesh.get(axis, 1) for axis in along)
    weights = model.weights / (mesh.get("tp", 1) * mesh.get("pp", 1))
    return (
        along,
        "ring",
        3 * batches * ELEMENT_BYTES * weights * _other_ranks_fraction(ranks),
    )


def _make_traffic(sent: Mapping[tuple[tuple[str, ...], str], int]) -> list[Traffic]:
    return [Traffic(*way, bytes) for way, bytes in sent.items() if way[0] and bytes]


def _other_ranks_fraction(ranks: int) -> float:
    return (ranks - 1) / ranks
