# SPDX-License-Identifier: BSD-3-Clause
"""Scores of answers: feasibility, hop-bytes by `topoloom judge`, repair."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from peers.distance import distances
from peers.graphs import Graph, Ints
from peers.instance import Instance

#: Maximum of moves times slots of a repair.
PATIENCE = 10**9


@dataclass(frozen=True)
class Verdict:
    """The judgement of an answer.

    Attributes
    ----------
    overfilled
        Slots with a load beyond the capacity; 0 if the answer is feasible.
    hop_bytes
        J: the sum over ordered pairs of ranks of weight times distance.
    repaired
        J after the repair of an infeasible answer, else None.
    """

    overfilled: int
    hop_bytes: int
    repaired: int | None = None

    @property
    def feasible(self) -> bool:
        """Whether every slot holds its load."""
        return self.overfilled == 0


class InvalidAnswer(ValueError):
    """An answer that is not a mapping: of another size, or to no slot."""


def judge(instance: Instance, answer: Ints) -> Verdict:
    """Judge an answer: the place in the allocation of every rank.

    Raises
    ------
    InvalidAnswer
        If it is not one place of the allocation for every rank.
    """
    if answer.shape != (instance.graph.size,):
        raise InvalidAnswer(f"{len(answer)} places, for {instance.graph.size} ranks")
    if len(answer) and not 0 <= answer.min() <= answer.max() < instance.slots:
        raise InvalidAnswer(f"a place outside 0 .. {instance.slots - 1}")
    over = int((loads(instance, answer) > instance.capacity).sum())
    value = hop_bytes(instance, answer)
    if not over:
        return Verdict(0, value)
    mended = repair(instance, answer)
    after = None if mended is None else hop_bytes(instance, mended)
    return Verdict(over, value, after)


def loads(instance: Instance, answer: Ints) -> Ints:
    """Return the load of every place."""
    total = np.bincount(answer, instance.graph.load, instance.slots)
    return np.asarray(total.astype(np.int64))


def hop_bytes(instance: Instance, answer: Ints) -> int:
    """Return J by Topoloom's judge.

    What ranks on one slot exchange costs nothing, so the graph between slots, with
    the sums of weights, has the same J. It is placed one to one, which lets the judge
    measure answers that put several ranks on a slot, feasible or not.
    """
    import topoloom

    allocation = _allocation(instance.machine, instance.nodes)
    graph = between_slots(instance.graph, answer)
    quotient = topoloom.CommGraph.from_edges(instance.slots, *graph)
    slots = instance.slot_ids().astype(np.uint32)
    placement = topoloom.Placement(allocation, slots)
    return int(topoloom.judge(quotient, allocation, placement).hop_bytes)


def between_slots(graph: Graph, answer: Ints) -> tuple[Any, Any, Any]:
    """Return source, target and weight of what crosses from place to place."""
    one, two = answer[graph.source()], answer[graph.peer]
    apart = one != two
    return (
        one[apart].astype(np.uint32),
        two[apart].astype(np.uint32),
        graph.weight[apart],
    )


@cache
def _allocation(machine: str, nodes: tuple[int, ...] | None) -> Any:
    import topoloom

    whole = topoloom.Machine(machine)
    if nodes is None:
        return topoloom.Allocation.whole(whole)
    return topoloom.Allocation(whole, np.array(nodes, np.uint32))


def repair(instance: Instance, answer: Ints) -> Ints | None:
    """Make an answer feasible in the simplest way; None if that fails.

    Slot by slot in ascending order, what exceeds the capacity moves: of the ranks on
    the slot the one of the highest number, to the nearest slot that has room, ties to
    the lowest. Nothing is optimized. Takes O(moves * slots); an answer that is so far
    off that this exceeds `PATIENCE` is not repaired.
    """
    load, capacity = instance.graph.load, instance.capacity
    total, mended = loads(instance, answer), answer.copy()
    over = np.flatnonzero(total > capacity)
    excess = int((total[over] - capacity).sum())
    if excess * instance.slots > PATIENCE * int(load.max()):
        return None
    for place in over:
        for rank in np.flatnonzero(mended == place)[::-1]:
            if total[place] <= capacity:
                break
            room = np.flatnonzero(total + load[rank] <= capacity)
            if not len(room):
                return None
            there = room[np.argmin(distances(instance, np.array([place]), room))]
            mended[rank] = there
            total[place] -= load[rank]
            total[there] += load[rank]
    return mended if (total <= capacity).all() else None
