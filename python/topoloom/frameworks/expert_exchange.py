# SPDX-License-Identifier: BSD-3-Clause
"""Bytes of tokens that are dispatched to experts, and combined again.

NCCL's alltoall, the default of the frameworks, sends a token to each of its experts.
DeepEP (DeepSeek-AI, github.com/deepseek-ai/DeepEP) sends it once to each node, to the
GPU with the sender's index, which forwards it over NVLink. Results are added in the
node before they return. Tokens of shared experts stay where they are.
"""

from __future__ import annotations

from math import comb
from typing import NamedTuple

from topoloom._core import Error
from topoloom.frameworks.transformer_model import Model

DISPATCHERS = ("alltoall", "deepep")

#: Elements of a token in fp8 that share a scale of 4 bytes.
_SCALED_ELEMENTS = 128


class ExpertExchange(NamedTuple):
    """How tokens travel to experts and back.

    Attributes
    ----------
    dispatcher
        One of `DISPATCHERS`.
    dispatch, combine
        Bytes per element on the way to experts, and back; gradients take the same ways
        in the backward pass. None: bytes of activations.
    visits
        Nodes other than its own to which a token is sent, as `topoloom ai experts`
        measures; None: the mean of tokens that choose experts evenly. Only for DeepEP.
    node
        GPUs per node. Only for DeepEP.
    """

    dispatcher: str = "alltoall"
    dispatch: int | None = None
    combine: int | None = None
    visits: float | None = None
    node: int = 8

    def count_bytes(self, model: Model, ep: int, activation_bytes: int) -> float:
        """Count the bytes per element of a token that a rank sends along ep in a step.

        The bytes are those of one layer, forward and backward. They are spread evenly
        over all other ranks. With DeepEP, they are as many as make the bytes between
        nodes exact; inside a node, NVLink is not the limit.

        Raises
        ------
        topoloom.Error
            If a token visits more nodes than there are.
        """
        if ep == 1:
            return 0.0
        there = self.dispatch or activation_bytes
        scales = 4 / _SCALED_ELEMENTS if there == 1 else 0
        both_ways = 2 * (there + scales + (self.combine or activation_bytes))
        if self.dispatcher == "alltoall":
            return both_ways * model.active * (ep - 1) / ep
        if ep <= self.node:
            return both_ways * (ep - 1) * _count_visited_share(ep, model.active)
        others = ep / self.node - 1
        visits = self.visits
        if visits is None:
            visits = estimate_visits(model, ep / self.node)
        elif visits > min(others, model.active):
            raise Error(
                f"visits is {visits:g}, but a token has {model.active} experts on "
                f"{others:g} other nodes"
            )
        return both_ways * visits * (ep - 1) / (ep - self.node)


def estimate_visits(model: Model, nodes: float) -> float:
    """Estimate the other nodes that a token visits if it chooses experts evenly.

    A router with groups of experts chooses among groups first; groups are placed one
    after the other. The nodes of all chosen groups count.
    """
    visited = nodes * _count_visited_share(nodes, model.active)
    groups, chosen = model.expert_groups, model.active_groups
    if groups and chosen:
        if nodes >= groups:
            reached = chosen * nodes / groups
        else:
            elsewhere = groups - round(groups / nodes)
            reached = nodes * (1 - comb(elsewhere, chosen) / comb(groups, chosen))
        visited = min(visited, reached)
    return visited * (nodes - 1) / nodes


def _count_visited_share(places: float, choices: int) -> float:
    """Count the share of places that are chosen at least once, on average."""
    return 1 - (1 - 1 / places) ** choices
