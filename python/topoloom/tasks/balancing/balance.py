# SPDX-License-Identifier: BSD-3-Clause
"""Evens out equal tasks: who hands how many to whom, and what that costs."""

from __future__ import annotations

from typing import Any, NamedTuple

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


class Ranks(NamedTuple):
    """Where ranks are on a machine."""

    allocation: Allocation
    placement: Placement


class TransferCost(NamedTuple):
    """What tasks that move cost on a machine.

    Attributes
    ----------
    ranks
        Where they are.
    task_bytes
        Of one task.
    judgement
        Of all that is sent, each task once.
    """

    ranks: Ranks
    task_bytes: int
    judgement: Judgement

    def document(self) -> dict[str, Any]:
        """Make what ``--json`` prints of it."""
        return {
            "machine": self.ranks.allocation.machine.text,
            "bytes": self.task_bytes,
            "hop_bytes": self.judgement.hop_bytes,
            "hops_per_byte": self.judgement.hops_per_byte,
            "congestion_max": self.judgement.congestion_max,
        }


class BalanceResult(NamedTuple):
    """A plan and what it costs.

    Attributes
    ----------
    method
        The balancer.
    loads
        Of every rank, before.
    balance
        The plan, its measures, and the loads after it.
    crossing
        What it costs on a machine, if one was given.
    """

    method: str
    loads: NDArray[np.int64]
    balance: Balance
    crossing: TransferCost | None = None

    def document(self) -> dict[str, Any]:
        """Make what ``--json`` prints."""
        found, ends = self.balance, self.balance.ends
        return {
            "method": self.method,
            "ranks": len(self.loads),
            "tasks": int(self.loads.sum()),
            "plan": found.plan.tolist(),
            "measures": found.measures,
            "least": found.least,
            "rounds": found.rounds,
            "load_min": int(ends.min()),
            "load_max": int(ends.max()),
            **(self.crossing.document() if self.crossing is not None else {}),
        }


def balance_loads(
    loads: NDArray[np.int64],
    method: str = "auto",
    ranks: Ranks | None = None,
    task_bytes: int = 1,
) -> BalanceResult:
    """Even out loads by a balancer of `topoloom.tasks.balancers`.

    Parameters
    ----------
    loads : int array of shape ``(ranks,)``
        Tasks that each rank holds.
    method
        The balancer, with options if any: ``alias(remainder=exact)``.
    ranks
        Where they are, for balancers that choose near partners; the result then has
        the cost of what is sent.
    task_bytes
        Of one task.

    Raises
    ------
    Error
        For bad loads, unknown methods, and where the placement is not of these ranks.
    """
    loads = np.asarray(loads)
    if ranks is None:
        return BalanceResult(method, loads, balance(loads, method=method))
    where = ranks._asdict()
    found = balance(loads, method=method, **where)
    return BalanceResult(method, loads, found, _crossing(found, ranks, task_bytes))


def block_ranks(allocation: Allocation, count: int) -> Ranks:
    """Put ranks on the slots of an allocation in order; refuse more than there are."""
    if count > allocation.slot_count:
        raise Error(
            f"there are {counted(count, 'rank')}, but the allocation has only "
            f"{counted(allocation.slot_count, 'slot')}"
        )
    return Ranks(allocation, Placement(allocation, allocation.slots[:count]))


def sent_tasks(count: int, plan: NDArray[np.int64], task_bytes: int) -> CommGraph:
    """Say what `count` ranks send by rows of from, to and tasks, in one message each.

    Raises
    ------
    Error
        Where a message has more bytes than can be counted.
    """
    source, target, tasks = plan.T
    if tasks.size and int(tasks.max()) * task_bytes >= 2**63:
        raise Error("the bytes of a message add up to 2^63 or more")
    return CommGraph.from_edges(count, source, target, tasks * task_bytes)


def _crossing(found: Balance, ranks: Ranks, task_bytes: int) -> TransferCost:
    sent = sent_tasks(len(ranks.placement.slots), found.plan, task_bytes)
    return TransferCost(ranks, task_bytes, judge(sent, *ranks))
