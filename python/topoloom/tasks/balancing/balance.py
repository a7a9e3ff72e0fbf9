# SPDX-License-Identifier: BSD-3-Clause
"""Balances equal tasks: plans transfers and computes their cost on a machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from topoloom._core import (
    Allocation,
    Balance,
    CommGraph,
    Error,
    Judgement,
    Placement,
    balance,
    judge,
)
from topoloom.support.units import counted

if TYPE_CHECKING:
    from topoloom.documents.balancing import (
        BalanceDocument,
        PlanMeasures,
        TransferCostFields,
    )


class Ranks(NamedTuple):
    """An allocation, and the placement of the ranks on it."""

    allocation: Allocation
    placement: Placement


class TransferCost(NamedTuple):
    """The cost of a plan on a machine.

    Attributes
    ----------
    ranks
        The slots of the ranks.
    task_bytes
        The size of a task in bytes.
    judgement
        The measures of all transfers, if each moved task is sent once.
    """

    ranks: Ranks
    task_bytes: int
    judgement: Judgement

    def document(self) -> TransferCostFields:
        """Return the cost fields of the ``--json`` output."""
        return {
            "machine": self.ranks.allocation.machine.text,
            "bytes": self.task_bytes,
            "hop_bytes": self.judgement.hop_bytes,
            "hops_per_byte": self.judgement.hops_per_byte,
            "congestion_max": self.judgement.congestion_max,
        }


class BalanceResult(NamedTuple):
    """A plan and its cost.

    Attributes
    ----------
    method
        Name of the balancer.
    loads
        The load of every rank before balancing.
    balance
        The transfer plan, its measures, and the loads after balancing.
    cost
        The cost of the plan on the machine; None without a machine.
    """

    method: str
    loads: NDArray[np.int64]
    balance: Balance
    cost: TransferCost | None = None

    def document(self) -> BalanceDocument:
        """Return the fields of the ``--json`` output, without simulated times."""
        found, before, after = self.balance, self.loads, self.balance.ends
        document: BalanceDocument = {
            "method": self.method,
            "ranks": len(before),
            "tasks": int(before.sum()),
            "plan": found.plan.tolist(),
            "measures": cast("PlanMeasures", found.measures),
            "at_least": cast("PlanMeasures", found.least),
            "rounds": found.rounds,
            "loads_before": {"min": int(before.min()), "max": int(before.max())},
            "loads_after": {"min": int(after.min()), "max": int(after.max())},
        }
        if self.cost is not None:
            document.update(cast("BalanceDocument", self.cost.document()))
        return document


def balance_loads(
    loads: NDArray[np.int64],
    method: str = "auto",
    ranks: Ranks | None = None,
    task_bytes: int = 1,
) -> BalanceResult:
    """Balance loads with a balancer of `topoloom.tasks.balancers`.

    Parameters
    ----------
    loads : int array of shape ``(ranks,)``
        Number of tasks of each rank.
    method
        The balancer, with options if any: ``alias(remainder=exact)``.
    ranks
        The slots of the ranks, which methods that choose near partners require. With
        them, the cost of the plan is computed.
    task_bytes
        The size of a task in bytes.

    Raises
    ------
    Error
        For invalid loads, an unknown method, or a placement of more or fewer ranks than
        loads.
    """
    loads = np.asarray(loads)
    if ranks is None:
        return BalanceResult(method, loads, balance(loads, method=method))
    where = ranks._asdict()
    found = balance(loads, method=method, **where)
    return BalanceResult(
        method, loads, found, _compute_transfer_cost(found, ranks, task_bytes)
    )


def block_ranks(allocation: Allocation, count: int) -> Ranks:
    """Place the ranks in order on the slots of an allocation."""
    if count > allocation.slot_count:
        raise Error(
            f"there are {counted(count, 'rank')}, but the allocation has only "
            f"{counted(allocation.slot_count, 'slot')}"
        )
    return Ranks(allocation, Placement(allocation, allocation.slots[:count]))


def make_transfer_graph(
    count: int, plan: NDArray[np.int64], task_bytes: int
) -> CommGraph:
    """Make the graph of transfers from rows ``(source, target, number of tasks)``.

    Raises
    ------
    Error
        If a message has 2^63 bytes or more.
    """
    source, target, tasks = plan.T
    if tasks.size and int(tasks.max()) * task_bytes >= 2**63:
        raise Error("the bytes of a message add up to 2^63 or more")
    return CommGraph.from_edges(count, source, target, tasks * task_bytes)


def _compute_transfer_cost(
    balance: Balance, ranks: Ranks, task_bytes: int
) -> TransferCost:
    sent = make_transfer_graph(len(ranks.placement.slots), balance.plan, task_bytes)
    return TransferCost(ranks, task_bytes, judge(sent, *ranks))
