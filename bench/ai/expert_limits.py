# SPDX-License-Identifier: BSD-3-Clause
"""Lower bounds on nodes visited per token, and effects of slack and of more tokens."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ai.experts import (
    CHOSEN,
    EXPERTS,
    GPUS,
    NODES,
    ROUTINGS,
    TOKENS,
    Floats,
    Job,
    count,
    draw,
)
from topoloom import Allocation, Machine
from topoloom.tasks import ExpertRouting, place_on_gpus
from topoloom.tasks.experts.place import SlackCost


class ExpertLimits(NamedTuple):
    """Nodes visited per token in our placements of a workload with one dispatch.

    `more`: with four times the tokens; `free`: with up to twice the load on the busiest
    GPU; `independent`: expected value for tokens with independent choices on balanced
    nodes, if replicas keep as many choices as possible on the token's own node.
    """

    routing: str
    dispatch: str
    ours: float
    more: float
    free: float
    independent: float


def find_limits(layers: int, redundant: int) -> list[ExpertLimits]:
    """Place all workloads with 1 % of slack, with more tokens, and with more slack."""
    nodes = np.repeat(np.arange(NODES), GPUS // NODES)
    slots = (EXPERTS + redundant) // GPUS
    rows = []
    for routing in ROUTINGS:
        choices = draw(routing, layers)
        many = draw(routing, layers, tokens=4 * TOKENS)
        loads = count(choices)
        for nearest in (False, True):
            job = Job(loads, nodes, slots, choices, nearest)
            larger = Job(count(many), nodes, slots, many, nearest)
            share = _least_share(loads, redundant) if nearest else None
            rows.append(
                ExpertLimits(
                    routing.name,
                    "nearest" if nearest else "spread",
                    job.cost(job.place(0.01)).visits,
                    larger.cost(larger.place(0.01)).visits,
                    job.cost(job.place(1.0)).visits,
                    _expect_independent_visits(share),
                )
            )
    return rows


def _least_share(loads: Floats, redundant: int) -> float:
    """Return a lower bound on the share of choices that leave their node."""
    ordered = -np.sort(-loads / loads.sum(axis=1, keepdims=True), axis=1)
    more = NODES - 1
    counts = np.clip(redundant - more * np.arange(EXPERTS), 0, more)
    return float((1 - (1 + ordered @ counts) / NODES).mean())


def _expect_independent_visits(share: float | None) -> float:
    """Return the expected number of other nodes that a token visits."""
    others = NODES - 1
    if share is None:
        return others * (1 - math.pow(1 - 1 / NODES, CHOSEN))
    return others * (1 - math.pow(1 - 1 / others, CHOSEN * share))


def try_slacks() -> tuple[SlackCost, ...]:
    """Place 64 experts with 4 hidden groups, and 32 redundant experts, on 4 nodes."""
    random = np.random.default_rng(1)
    layers, tokens, groups, size = 2, 4096, 4, 16
    numbers = random.permutation(groups * size).reshape(groups, size)
    ids = np.empty((layers, tokens, 6), np.int64)
    for layer in ids:
        weight = 0.6 * random.standard_normal((groups, size))
        group = random.integers(groups, size=tokens)
        score = weight[group] + random.gumbel(size=(tokens, size))
        best = np.argsort(-score, axis=1)[:, : ids.shape[2]]
        layer[:] = numbers[group[:, None], best]
    rows = [np.bincount(layer.ravel(), minlength=groups * size) for layer in ids]
    routing = ExpertRouting(np.array(rows, float), ids, is_counted=True)
    on = Allocation.whole(Machine("rails:8:4:1"))
    return place_on_gpus(routing, on, 32, 32).tried


def limits_table(rows: Sequence[ExpertLimits]) -> str:
    """Format the limits as Markdown."""
    lines = [
        "| routing | dispatch | ours | 4 x the tokens | busiest GPU free "
        "| independent choices |",
        "| --- | --- | ---: | ---: | ---: | ---: |",
    ]
    lines += [
        f"| {row.routing} | {row.dispatch} "
        + "".join(f"| {value:.2f} " for value in row[2:])
        + "|"
        for row in rows
    ]
    return "\n".join(lines) + "\n"


def slacks_table(tried: Sequence[SlackCost]) -> str:
    """Format the cost at each slack as Markdown."""
    lines = ["| `--slack` | visits | busiest GPU | step |", "| ---: " * 4 + "|"]
    lines += [
        f"| {one.slack:g} | {one.visits:.2f} | {one.load - 1:+.1%} "
        f"| {one.step - 1:+.1%} |".replace("%", " %")
        for one in tried
    ]
    return "\n".join(lines) + "\n"
