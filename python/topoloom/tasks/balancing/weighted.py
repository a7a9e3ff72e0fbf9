# SPDX-License-Identifier: BSD-3-Clause
"""Evens out tasks with loads and sizes: which of them go where, and what that moves."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from topoloom._core import CommGraph, Error, WeightedBalance, balance_weighted
from topoloom.support.units import counted
from topoloom.tasks.balancing.balance import Ranks
from topoloom.tasks.balancing.task_list import TaskList


class Resettled(NamedTuple):
    """Tasks and where they go.

    Attributes
    ----------
    tasks
        As they were.
    ranks
        The number of ranks.
    balance
        New owners, and what moves.
    where
        Where the ranks are, if they are on a machine.
    """

    tasks: TaskList
    ranks: int
    balance: WeightedBalance
    where: Ranks | None = None

    @property
    def moves(self) -> list[tuple[str, int, int]]:
        """The name of each task that moves, and its ranks before and after."""
        before, after = self.tasks.owners, self.balance.owners
        return [
            (self.tasks.names[i], int(before[i]), int(after[i]))
            for i in (before != after).nonzero()[0]
        ]

    @property
    def over_mean(self) -> float:
        """The load of the busiest rank over the mean; 1 where nobody has any."""
        mean = float(self.tasks.loads.sum()) / self.ranks
        return self.balance.load_max / mean if mean > 0 else 1.0

    def sent(self) -> CommGraph:
        """Sum what each rank hands to each other one, as one message."""
        before, after = self.tasks.owners, self.balance.owners
        moves = before != after
        pairs = before[moves].astype(np.int64) * self.ranks + after[moves]
        pairs, place = np.unique(pairs, return_inverse=True)
        sizes = np.zeros(len(pairs), np.int64)
        np.add.at(sizes, place, self.tasks.bytes[moves])
        return CommGraph.from_edges(self.ranks, *divmod(pairs, self.ranks), sizes)

    def document(self) -> dict[str, Any]:
        """Make what ``--json`` prints."""
        found = self.balance
        document: dict[str, Any] = {
            "ranks": self.ranks,
            "tasks": len(self.tasks.names),
            "moves": [list(move) for move in self.moves],
            "load_max_over_mean": self.over_mean,
            "moved_bytes": found.moved_bytes,
            "least_bytes": found.least_bytes,
        }
        if self.tasks.graph is not None:
            document["cut_bytes_before"] = found.cut_bytes_before
            document["cut_bytes"] = found.cut_bytes
        if self.where is not None:
            document["machine"] = self.where.allocation.machine.text
            document["moved_hop_bytes"] = found.moved_hop_bytes
            if self.tasks.graph is not None:
                document["hop_bytes_before"] = found.hop_bytes_before
                document["hop_bytes"] = found.hop_bytes
        return document


def rank_count(tasks: TaskList, ranks: int | None) -> int:
    """Count ranks, up to the highest owner where no number is given.

    Raises
    ------
    Error
        Where an owner is none of the ranks.
    """
    highest = int(tasks.owners.max())
    if ranks is not None and highest >= ranks:
        name = tasks.names[int(tasks.owners.argmax())]
        there = counted(ranks, "rank")
        raise Error(f"task '{name}' is on rank {highest}, but there are {there}")
    return ranks if ranks is not None else highest + 1


def balance_tasks(
    tasks: TaskList,
    ranks: int | None = None,
    memory: int | None = None,
    tolerance: float = 0.02,
    periods: float = 1.0,
    where: Ranks | None = None,
) -> Resettled:
    """Even out tasks with few bytes that move, and few between those of a graph.

    Parameters
    ----------
    tasks
        With their owners, and what they send to each other if that is known.
    ranks
        Of the job; None: up to the highest owner.
    memory
        Bytes that a rank can hold; None: any number.
    tolerance
        By which the load of a rank may exceed the mean.
    periods
        How often the graph's bytes are sent until tasks move again.
    where
        Where the ranks are on a machine; then bytes count times the distance.

    Raises
    ------
    Error
        Where an owner is none of the ranks, or no place is found for the bytes.
    """
    count = rank_count(tasks, ranks)
    if memory is not None and (tasks.bytes > memory).any():
        i = int((tasks.bytes > memory).argmax())
        raise Error(
            f"task '{tasks.names[i]}' has {tasks.bytes[i]:,} bytes, and a rank has "
            f"memory for {memory:,}"
        )
    limit: dict[str, Any] = {} if memory is None else {"memory": memory}
    if where is not None:
        limit |= where._asdict()
    found = balance_weighted(
        tasks.loads,
        tasks.bytes,
        tasks.owners,
        count,
        tolerance=tolerance,
        graph=tasks.graph,
        periods=periods,
        **limit,
    )
    return Resettled(tasks, count, found, where)
