# SPDX-License-Identifier: BSD-3-Clause
"""Balances tasks of different loads and sizes; few bytes are moved."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoloom._core import CommGraph, Error, WeightedBalance, balance_weighted
from topoloom.support.parameter_error import ParameterError
from topoloom.support.units import counted
from topoloom.tasks.balancing.balance import Ranks
from topoloom.tasks.balancing.task_list import MAX_RANKS, TaskList

if TYPE_CHECKING:
    from topoloom.documents.balancing import BalanceTasksDocument


class TaskRedistribution(NamedTuple):
    """Tasks and their new owners.

    Attributes
    ----------
    tasks
        The tasks with their old owners.
    ranks
        The number of ranks.
    balance
        The new owners of the tasks, and the cost of moving tasks.
    where
        The slots of the ranks; None without a machine.
    periods
        Number of communication steps between two rebalances.
    """

    tasks: TaskList
    ranks: int
    balance: WeightedBalance
    where: Ranks | None = None
    periods: float = 1.0

    @property
    def moves(self) -> list[tuple[str, int, int]]:
        """The name, old rank and new rank of each task that moves."""
        before, after = self.tasks.owners, self.balance.owners
        return [
            (self.tasks.names[i], int(before[i]), int(after[i]))
            for i in (before != after).nonzero()[0]
        ]

    @property
    def load_over_mean(self) -> float:
        """The load of the busiest rank divided by the mean; 1 if all loads are 0."""
        mean = float(self.tasks.loads.sum()) / self.ranks
        return self.balance.load_max / mean if mean > 0 else 1.0

    def loads(self, owners: NDArray[np.uint32]) -> NDArray[np.float64]:
        """Sum the loads of the tasks of each rank; `owners` has one rank per task."""
        return np.bincount(owners, self.tasks.loads, self.ranks).astype(np.float64)

    @property
    def plan(self) -> NDArray[np.int64]:
        """Transfers: rows of source, target and task count; shape ``(messages, 3)``."""
        source, target, _ = self._list_transfers()
        pairs, counts = np.unique(source * self.ranks + target, return_counts=True)
        return np.column_stack([*divmod(pairs, self.ranks), counts])

    @property
    def ends(self) -> NDArray[np.float64]:
        """Load of every rank after the redistribution."""
        return self.loads(self.balance.owners)

    @property
    def cut_bytes(self) -> tuple[int, int]:
        """Inter-rank bytes per period, before and after the redistribution."""
        found, hypergraph = self.balance, self.tasks.hypergraph
        if hypergraph is None:
            return found.cut_bytes_before, found.cut_bytes
        return hypergraph.compute_cut_weight(
            self.tasks.owners
        ), hypergraph.compute_cut_weight(found.owners)

    @property
    def hop_bytes(self) -> tuple[float, float]:
        """Hop-bytes per period, before and after the redistribution."""
        found, scale = self.balance, _byte_scale(self.tasks)
        return found.hop_bytes_before / scale, found.hop_bytes / scale

    @property
    def costs(self) -> tuple[float, float]:
        """Inter-rank bytes or hop-bytes over all periods, before and after balancing.

        The second value includes the cost of moving tasks.
        """
        found = self.balance
        if self.tasks.hypergraph is None or self.where is not None:
            return found.cost_before, found.cost
        before, after = (self.periods * cut for cut in self.cut_bytes)
        return before, after + found.moved_bytes

    def make_transfer_graph(self) -> CommGraph:
        """Make the graph of transfers, one message per pair of ranks."""
        source, target, sizes = self._list_transfers()
        return CommGraph.from_edges(self.ranks, source, target, sizes)

    def _list_transfers(self) -> tuple[NDArray[np.int64], ...]:
        before, after = self.tasks.owners, self.balance.owners
        moves = before != after
        return (
            before[moves].astype(np.int64),
            after[moves].astype(np.int64),
            self.tasks.bytes[moves],
        )

    def document(self) -> BalanceTasksDocument:
        """Return the fields of the ``--json`` output."""
        found = self.balance
        document: BalanceTasksDocument = {
            "ranks": self.ranks,
            "tasks": len(self.tasks.names),
            "moves": self.moves,
            "load_max_over_mean": self.load_over_mean,
            "moved_bytes": found.moved_bytes,
            "moved_bytes_at_least": found.least_bytes,
        }
        if self.tasks.graph is not None:
            document["cut_bytes_before"], document["cut_bytes"] = self.cut_bytes
        if self.where is not None:
            document["machine"] = self.where.allocation.machine.text
            document["moved_hop_bytes"] = found.moved_hop_bytes
            if self.tasks.graph is not None:
                document["hop_bytes_before"], document["hop_bytes"] = self.hop_bytes
        if self.tasks.graph is not None or self.where is not None:
            document["cost_before"], document["cost"] = self.costs
        return document


def _byte_scale(tasks: TaskList) -> int:
    """Return the factor on the bytes in the graph; 1 without a hypergraph."""
    return tasks.hypergraph.scale if tasks.hypergraph is not None else 1


def rank_count(tasks: TaskList, ranks: int | None) -> int:
    """Return the number of ranks: `ranks`, by default the highest owner + 1.

    Raises
    ------
    Error
        If an owner is not a rank, or there are too many ranks.
    """
    highest = int(tasks.owners.max())
    name = tasks.names[int(tasks.owners.argmax())]
    if ranks is not None and not 1 <= ranks <= MAX_RANKS:
        raise ParameterError("ranks", f"must be 1 to {MAX_RANKS:,}, not {ranks:,}")
    if ranks is not None and highest >= ranks:
        there = "is 1 rank" if ranks == 1 else f"are {ranks:,} ranks"
        raise Error(f"task '{name}' is on rank {highest:,}, but there {there}")
    if highest >= MAX_RANKS:
        raise Error(
            f"task '{name}' is on rank {highest:,}; ranks are 0 to {MAX_RANKS - 1:,}"
        )
    return ranks if ranks is not None else highest + 1


def balance_tasks(
    tasks: TaskList,
    ranks: int | None = None,
    memory: int | None = None,
    tolerance: float = 0.02,
    periods: float = 1.0,
    where: Ranks | None = None,
) -> TaskRedistribution:
    """Balance tasks; minimize moved bytes and inter-rank bytes.

    Parameters
    ----------
    tasks
        The tasks with their owners, and their messages if known.
    ranks
        The number of ranks; by default the highest owner + 1.
    memory
        Memory limit per rank in bytes; None for no limit.
    tolerance
        Allowed load imbalance, as a share of the mean.
    periods
        Number of communication steps between two rebalances.
    where
        The slots of the ranks on a machine; if given, hop-bytes replace inter-rank
        bytes.

    Raises
    ------
    Error
        If an owner is not a rank, or the memory does not suffice.
    """
    count = rank_count(tasks, ranks)
    if memory is not None and (tasks.bytes > memory).any():
        i = int((tasks.bytes > memory).argmax())
        raise Error(
            f"task '{tasks.names[i]}' has {counted(int(tasks.bytes[i]), 'byte')}, and "
            f"a rank has memory for {memory:,}"
        )
    limit: dict[str, Any] = {} if memory is None else {"memory": memory}
    if where is not None:
        limit |= where._asdict()
    try:
        found = balance_weighted(
            tasks.loads,
            tasks.bytes,
            tasks.owners,
            count,
            tolerance=tolerance,
            graph=tasks.graph,
            periods=periods / _byte_scale(tasks) if periods > 0 else periods,
            **limit,
        )
    except Error as error:  # the core's errors identify a task by number
        text = re.sub(
            r"\btask ([0-9]+)\b",
            lambda m: f"task '{tasks.names[int(m[1])]}'",
            str(error),
        )
        raise Error(text) from None
    return TaskRedistribution(tasks, count, found, where, periods)
