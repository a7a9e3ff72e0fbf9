# SPDX-License-Identifier: BSD-3-Clause
"""Schedule and order of ranks together: each is improved for the other, in turn."""

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
    Ranked,
    RankSlots,
    rank_schedules,
    strategy_of,
)

Ranks = NDArray[np.uint32]
Bytes = NDArray[np.int64]

#: With more different rounds than this the ranks are placed for all messages at once.
MAX_PHASES = 64
#: With more peers than this a rank talks to nearly all: only curves are tried.
MAX_PEERS = 128
#: Candidates of a search, for each rank; seconds at a thousand ranks.
WORK = 100
#: How often both are improved at most; it seldom goes on after the second time.
MAX_TURNS = 4


class Turn(NamedTuple):
    """What one step brought: a better schedule, or a better order."""

    what: str  # "schedule" or "order"
    schedule: str
    seconds: float


class Together(NamedTuple):
    """The best pair that was found, and the steps to it."""

    best: Ranked
    placement: Placement
    turns: list[Turn]


def block_order(call: Call, allocation: Allocation) -> Placement:
    """Put rank i on slot i, as launchers do."""
    return place(_silent(call.ranks), allocation, "block").placement


def optimize_together(
    call: Call,
    allocation: Allocation,
    model: NetworkModel | None,
    seed: int = 1,
    threads: int = 0,
    progress: Callable[[int], bool] | None = None,
) -> Together:
    """Choose a schedule for block order, an order for it, a schedule for that, ...

    An order is kept only where the schedule's time falls, so no turn is a step back. It
    ends when neither improves, or when ``progress(work)`` returns False.

    Raises
    ------
    topoloom.Error
        If there are more ranks than slots.
    """
    placement = block_order(call, allocation)
    turns: list[Turn] = []
    best: Ranked | None = None
    going = True

    def watched(work: int) -> bool:
        nonlocal going
        going = progress is None or progress(work)
        return going

    for _ in range(MAX_TURNS):
        ranked = rank_schedules(call, model, RankSlots(allocation, placement))[0]
        if best is not None and ranked.cost.time >= best.cost.time:
            break
        best = ranked
        turns.append(Turn("schedule", best.name, best.cost.time))
        orders = _orders_for(call, best.name, allocation, seed, threads, watched)
        schedule = call.schedule(best.name)
        costs = [
            strategy_of(call, model, RankSlots(allocation, order)).cost(schedule)
            for order in orders
        ]
        cost, order = min(
            zip(costs, orders, strict=True), key=lambda pair: pair[0].time
        )
        if cost.time >= best.cost.time:
            break
        best, placement = Ranked(best.name, cost), order
        turns.append(Turn("order", best.name, cost.time))
        if not going:
            break
    assert best is not None
    return Together(best, placement, turns)


def _orders_for(
    call: Call,
    name: str,
    allocation: Allocation,
    seed: int,
    threads: int,
    progress: Callable[[int], bool],
) -> list[Placement]:
    """Order the ranks along a curve, for few hop-bytes, and for little time."""
    schedule = call.schedule(name)
    phases = different_rounds(schedule)
    graph = add_phases(phases) if phases else _silent(call.ranks)

    def placed(mapper: str, objective: str = "hop-bytes") -> Placement:
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

    orders = [placed("hilbert")]
    if graph.edge_count <= MAX_PEERS * call.ranks:
        orders.append(placed("auto(effort=fast)"))
        orders.append(placed("auto(effort=fast),congestion", "time"))
    return orders


def different_rounds(schedule: Schedule) -> list[CommGraph]:
    """Give the rounds as graphs; those of the same messages once, with bytes of all."""
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


def _silent(ranks: int) -> CommGraph:
    nobody = np.zeros(0, np.uint32)
    return CommGraph.from_edges(ranks, nobody, nobody, np.zeros(0, np.int64))
