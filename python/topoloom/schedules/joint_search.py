# SPDX-License-Identifier: BSD-3-Clause
"""Optimizes the schedule and the rank order of a collective alternately."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoloom._core import (
    Allocation,
    CommGraph,
    NetworkModel,
    Placement,
    Schedule,
    place,
)
from topoloom.graphs.phases import add_phases
from topoloom.schedules.choose import (
    Call,
    RankedSchedule,
    RankSlots,
    make_strategy,
    rank_schedules,
)

Ranks = NDArray[np.uint32]
Bytes = NDArray[np.int64]

#: Maximum number of distinct rounds that the mapper gets as phases; if there are more,
#: it gets all messages as one phase.
MAX_PHASES = 64
#: Maximum number of peers per rank; if there are more, the search tries only
#: space-filling curves.
MAX_PEERS = 128
#: Limit on the mapper's work per rank; a search with a thousand ranks takes seconds.
WORK = 100
#: Maximum number of iterations; few searches need more than two.
MAX_ITERATIONS = 4


class Step(NamedTuple):
    """An improvement of the schedule or of the rank order."""

    what: str  # "schedule" or "order"
    schedule: str
    seconds: float


class JointResult(NamedTuple):
    """The best schedule and rank order, and the steps of the search."""

    best: RankedSchedule
    placement: Placement
    steps: list[Step]


def make_block_order(call: Call, allocation: Allocation) -> Placement:
    """Place rank i on slot i, as launchers do."""
    return place(_make_empty_graph(call.ranks), allocation, "block").placement


def optimize_jointly(
    call: Call,
    allocation: Allocation,
    model: NetworkModel | None,
    seed: int = 1,
    threads: int = 0,
    progress: Callable[[int], bool] | None = None,
) -> JointResult:
    """Alternate between optimizing the schedule and optimizing the rank order.

    The search begins with block order and accepts a rank order only if it reduces the
    time. It ends when neither the schedule nor the rank order can be improved, or
    ``progress(work)`` returns False.

    Raises
    ------
    topoloom.Error
        If there are more ranks than slots.
    """
    placement = make_block_order(call, allocation)
    steps: list[Step] = []
    best: RankedSchedule | None = None
    keeps_running = True

    def report_work(work: int) -> bool:
        nonlocal keeps_running
        keeps_running = progress is None or progress(work)
        return keeps_running

    for _ in range(MAX_ITERATIONS):
        ranked = rank_schedules(call, model, RankSlots(allocation, placement))[0]
        if best is not None and ranked.cost.time >= best.cost.time:
            break
        best = ranked
        steps.append(Step("schedule", best.name, best.cost.time))
        orders = _find_orders(call, best.name, allocation, seed, threads, report_work)
        schedule = call.schedule(best.name)
        costs = [
            make_strategy(call, model, RankSlots(allocation, order)).cost(schedule)
            for order in orders
        ]
        cost, order = min(
            zip(costs, orders, strict=True), key=lambda pair: pair[0].time
        )
        if cost.time >= best.cost.time:
            break
        best, placement = RankedSchedule(best.name, cost), order
        steps.append(Step("order", best.name, cost.time))
        if not keeps_running:
            break
    assert best is not None
    return JointResult(best, placement, steps)


def _find_orders(
    call: Call,
    name: str,
    allocation: Allocation,
    seed: int,
    threads: int,
    progress: Callable[[int], bool],
) -> list[Placement]:
    """Find candidate rank orders: a Hilbert curve, and orders by hop-bytes and time."""
    schedule = call.schedule(name)
    phases = merge_equal_rounds(schedule)
    graph = add_phases(phases) if phases else _make_empty_graph(call.ranks)

    def place_ranks(mapper: str, objective: str = "hop-bytes") -> Placement:
        few = objective != "hop-bytes" and 1 < len(phases) <= MAX_PHASES
        return place(
            graph,
            allocation,
            mapper,
            seed=seed,
            threads=threads,
            work=WORK * call.ranks,
            objective=objective,
            phases=phases if few else [],
            progress=progress,
        ).placement

    orders = [place_ranks("hilbert")]
    if graph.edge_count <= MAX_PEERS * call.ranks:
        orders.append(place_ranks("auto(effort=fast)"))
        orders.append(place_ranks("auto(effort=fast)+congestion", "time"))
    return orders


def merge_equal_rounds(schedule: Schedule) -> list[CommGraph]:
    """List the rounds as graphs; rounds with equal senders and receivers are merged."""
    rounds: dict[bytes, tuple[Ranks, Ranks, Bytes]] = {}
    for number in range(schedule.rounds):
        source, target, size = schedule.messages(number)
        key = source.tobytes() + target.tobytes()
        if key in rounds:
            size = size + rounds[key][2]
        rounds[key] = source, target, size
    return [
        CommGraph.from_edges(schedule.ranks, source, target, size)
        for source, target, size in rounds.values()
    ]


def _make_empty_graph(ranks: int) -> CommGraph:
    nobody = np.zeros(0, np.uint32)
    return CommGraph.from_edges(ranks, nobody, nobody, np.zeros(0, np.int64))
