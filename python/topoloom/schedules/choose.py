# SPDX-License-Identifier: BSD-3-Clause
"""Ranks the schedules of a collective by their cost on given slots.

libtopoloom-collective chooses by the same costs at run time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from topoloom import _core
from topoloom._core import (
    Allocation,
    CommGraph,
    Error,
    NetworkModel,
    Placement,
    Schedule,
    ScheduleCost,
    Strategy,
    candidates,
    fitted_schedules,
    schedules,
)
from topoloom.support.name_lookup import describe_unknown_name


class Call(NamedTuple):
    """A call of a collective.

    Attributes
    ----------
    operation
        A name from `operations`.
    ranks
        Number of ranks of the communicator.
    bytes
        Bytes of the whole vector (bcast, reduce, allreduce), of one rank's block
        (scatter, gather, allgather, reduce_scatter) or of one pair's block
        (alltoall).
    root
        Root rank of a bcast, reduce, scatter or gather.
    degree
        For many-to-many: the number of following ranks to which each rank sends.
    demand
        For many-to-many, instead of bytes and degree: bytes per sender and receiver.
    """

    operation: str
    ranks: int
    bytes: int
    root: int = 0
    degree: int | None = None
    demand: CommGraph | None = None

    def schedule(self, name: str) -> Schedule:
        """Make the named schedule for this call."""
        if self.demand is not None:
            multicast = self.operation == "many-to-many-multicast"
            return Schedule.many_to_many(name, self.demand, multicast)
        return Schedule(
            name, self.operation, self.ranks, self.bytes, self.root, self.degree
        )


class RankSlots(NamedTuple):
    """An allocation, and the placement of a collective's ranks on its slots."""

    allocation: Allocation
    placement: Placement


@dataclass(frozen=True)
class RankedSchedule:
    """A schedule and its cost."""

    name: str
    cost: ScheduleCost


def operations() -> list[str]:
    """List the names of the collectives that have schedules."""
    return list(
        dict.fromkeys(o for entry in schedules() for o in _list_operations(entry))
    )


def find_operation(text: str) -> str:
    """Find a collective by the name of its MPI function, with or without ``MPI_``.

    Raises
    ------
    topoloom.Error
        If no collective has this name.
    """
    name = text.lower().removeprefix("mpi_")
    if name not in operations():
        raise Error(describe_unknown_name("collective", text, operations()))
    return name


def list_schedule_names(call: Call, slots: RankSlots | None = None) -> list[str]:
    """List the schedules of a call, with candidate values of their options.

    If slots are given, options that depend on them are included.

    Raises
    ------
    topoloom.Error
        If no schedule supports the call.
    """
    fitted = [] if slots is None else fitted_schedules(*slots)
    names = candidates(call.operation, call.ranks, call.bytes, fitted)
    if not names:
        raise Error(f"no schedule does the {call.operation} of {call.ranks} ranks")
    return names


def make_strategy(
    call: Call, model: NetworkModel | None, slots: RankSlots | None = None
) -> Strategy:
    """Make the cost function of a call's schedules, on the machine of `slots` if given.

    Without a model, costs follow from the machine's startup cost and port bandwidth.
    """
    if slots is not None:
        return Strategy(slots.allocation, slots.placement, model)
    if model is None:
        raise Error("message costs are unknown; name a model or a machine")
    return Strategy(call.ranks, model)


def rank_schedules(
    call: Call,
    model: NetworkModel | None,
    slots: RankSlots | None = None,
    names: Sequence[str] = (),
) -> list[RankedSchedule]:
    """Compute the costs of a call's schedules, sorted from the fastest to the slowest.

    Parameters
    ----------
    call
        Call of the collective.
    model
        Model of message costs; None: the machine's, which requires `slots`.
    slots
        Slots of the ranks; if given, costs include link contention.
    names
        Names of schedules, with options as in ``chain(segment=4096)``; default: all
        schedules, each with the best values of its options.

    Raises
    ------
    topoloom.Error
        If a name is wrong, or message costs are unknown.
    """
    strategy = make_strategy(call, model, slots)
    found: dict[str, RankedSchedule] = {}
    # Sorting is stable: of equal costs, the first schedule wins, as at run time.
    costs = [
        RankedSchedule(name, strategy.cost(call.schedule(name)))
        for name in names or list_schedule_names(call, slots)
    ]
    for one in sorted(costs, key=lambda one: one.cost.time):
        found.setdefault(one.name if names else one.name.partition("(")[0], one)
    return list(found.values())


def find_default_schedule(call: Call) -> str | None:
    """Return the schedule that MPICH uses by default; None if Topoloom lacks it."""
    if call.operation.startswith("many-to-many"):
        return None
    usual = _core.usual_schedule(call.operation, call.ranks, call.bytes)
    return usual.partition("(")[0]


def _list_operations(entry: dict[str, Any]) -> list[str]:
    return [str(operation) for operation in entry["operations"]]
