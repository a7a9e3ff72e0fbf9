# SPDX-License-Identifier: BSD-3-Clause
"""Evens out tasks with loads and sizes: which of them go where, and what that moves."""

from __future__ import annotations

from typing import Any, NamedTuple

from topoloom._core import Error, WeightedBalance, balance_weighted
from topoloom.support.units import counted
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
    """

    tasks: TaskList
    ranks: int
    balance: WeightedBalance

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

    def document(self) -> dict[str, Any]:
        """Make what ``--json`` prints."""
        return {
            "ranks": self.ranks,
            "tasks": len(self.tasks.names),
            "moves": [list(move) for move in self.moves],
            "load_max_over_mean": self.over_mean,
            "moved_bytes": self.balance.moved_bytes,
            "least_bytes": self.balance.least_bytes,
        }


def balance_tasks(
    tasks: TaskList,
    ranks: int | None = None,
    memory: int | None = None,
    tolerance: float = 0.02,
) -> Resettled:
    """Even out tasks with few bytes that move.

    Parameters
    ----------
    tasks
        With their owners.
    ranks
        Of the job; None: up to the highest owner.
    memory
        Bytes that a rank can hold; None: any number.
    tolerance
        By which the load of a rank may exceed the mean.

    Raises
    ------
    Error
        Where an owner is none of the ranks, or no place is found for the bytes.
    """
    highest = int(tasks.owners.max())
    if ranks is not None and highest >= ranks:
        name = tasks.names[int(tasks.owners.argmax())]
        there = counted(ranks, "rank")
        raise Error(f"task '{name}' is on rank {highest}, but there are {there}")
    if memory is not None and (tasks.bytes > memory).any():
        i = int((tasks.bytes > memory).argmax())
        raise Error(
            f"task '{tasks.names[i]}' has {tasks.bytes[i]:,} bytes, and a rank has "
            f"memory for {memory:,}"
        )
    count = ranks if ranks is not None else highest + 1
    limit = {} if memory is None else {"memory": memory}
    found = balance_weighted(
        tasks.loads, tasks.bytes, tasks.owners, count, tolerance=tolerance, **limit
    )
    return Resettled(tasks, count, found)
