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

#: Maximum of moves times slots for which an answer is repaired.
PATIENCE = 10**9


@dataclass(frozen=True)
class Verdict:
    """The score of an answer.

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
        """Whether no slot exceeds its capacity."""
        return self.overfilled == 0


class InvalidAnswer(ValueError):
    """The answer is not a mapping: wrong length, or an invalid slot."""


def judge(instance: Instance, answer: Ints) -> Verdict:
    """Score an answer: an index into the allocation for every rank.

    Raises
    ------
    InvalidAnswer
        If the answer is not one valid index per rank.
    """
    if answer.shape != (instance.graph.size,):
        raise InvalidAnswer(f"{len(answer)} places, for {instance.graph.size} ranks")
    if len(answer) and not 0 <= answer.min() <= answer.max() < instance.slots:
        raise InvalidAnswer(f"a place outside 0 .. {instance.slots - 1}")
    over = int((sum_slot_loads(instance, answer) > instance.capacity).sum())
    value = compute_hop_bytes(instance, answer)
    if not over:
        return Verdict(0, value)
    mended = repair(instance, answer)
    after = None if mended is None else compute_hop_bytes(instance, mended)
    return Verdict(over, value, after)


def sum_slot_loads(instance: Instance, answer: Ints) -> Ints:
    """Return the load of every slot."""
    total = np.bincount(answer, instance.graph.load, instance.slots)
    return np.asarray(total.astype(np.int64))


def compute_hop_bytes(instance: Instance, answer: Ints) -> int:
    """Return J by Topoloom's judge.

    Messages between ranks on one slot cost nothing, so the graph of slots with summed
    weights has the same J. It is placed one to one. The judge can therefore score
    answers with several ranks per slot, feasible or not.
    """
    import topoloom

    allocation = _make_allocation(instance.machine, instance.nodes)
    graph = list_messages_between_slots(instance.graph, answer)
    quotient = topoloom.CommGraph.from_edges(instance.slots, *graph)
    slots = instance.slot_ids().astype(np.uint32)
    placement = topoloom.Placement(allocation, slots)
    return int(topoloom.judge(quotient, allocation, placement).hop_bytes)


def list_messages_between_slots(graph: Graph, answer: Ints) -> tuple[Any, Any, Any]:
    """Return source, target and weight of messages between different slots."""
    one, two = answer[graph.source()], answer[graph.peer]
    apart = one != two
    return (
        one[apart].astype(np.uint32),
        two[apart].astype(np.uint32),
        graph.weight[apart],
    )


@cache
def _make_allocation(machine: str, nodes: tuple[int, ...] | None) -> Any:
    import topoloom

    whole = topoloom.Machine(machine)
    if nodes is None:
        return topoloom.Allocation.whole(whole)
    return topoloom.Allocation(whole, np.array(nodes, np.uint32))


def repair(instance: Instance, answer: Ints) -> Ints | None:
    """Make an answer feasible in the simplest way; None if that fails.

    In ascending order of slots, ranks beyond the capacity move: the highest rank first,
    to the nearest slot with free capacity (ties: the lowest slot). Nothing is
    optimized. Takes O(moves * slots); if this exceeds `PATIENCE`, the answer is not
    repaired.
    """
    load, capacity = instance.graph.load, instance.capacity
    total, mended = sum_slot_loads(instance, answer), answer.copy()
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
