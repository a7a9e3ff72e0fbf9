# SPDX-License-Identifier: BSD-3-Clause
"""All schedules of a collective, by what they cost where they run.

Costs are those by which libtopoloom-collective chooses at run time.
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
from topoloom.support.nearest import unknown_name

#: MPI's names of collectives, where they are not ours without hyphens.
_OTHER_NAMES = {"bcast": "broadcast"}


class Call(NamedTuple):
    """What is asked of a collective.

    Attributes
    ----------
    operation
        A name from `operations`.
    ranks
        Of the communicator.
    bytes
        Of the whole vector (broadcast, reduce, all-reduce), of a rank (scatter, gather,
        all-gather, reduce-scatter) or of a pair (all-to-all).
    root
        For broadcast, reduce, scatter and gather.
    degree
        For many-to-many: to how many of the next ranks each rank sends.
    demand
        For many-to-many, instead of bytes and a degree: who wants how much of whom.
    """

    operation: str
    ranks: int
    bytes: int
    root: int = 0
    degree: int | None = None
    demand: CommGraph | None = None

    def schedule(self, name: str) -> Schedule:
        """Make the schedule of that name."""
        if self.demand is not None:
            multicast = self.operation == "many-to-many-multicast"
            return Schedule.many_to_many(name, self.demand, multicast)
        return Schedule(
            name, self.operation, self.ranks, self.bytes, self.root, self.degree
        )


class RankSlots(NamedTuple):
    """Where the ranks are."""

    allocation: Allocation
    placement: Placement


@dataclass(frozen=True)
class Ranked:
    """A schedule and its cost."""

    name: str
    cost: ScheduleCost


def operations() -> list[str]:
    """Name the collectives that have schedules."""
    return list(dict.fromkeys(o for entry in schedules() for o in _done_by(entry)))


def read_operation(text: str) -> str:
    """Find the collective that a user means: MPI's spelling will do.

    Raises
    ------
    topoloom.Error
        If there is none.
    """
    known = {name.replace("-", ""): name for name in operations()} | _OTHER_NAMES
    plain = text.lower().replace("-", "").replace("_", "").removeprefix("mpi")
    if plain not in known:
        raise Error(unknown_name("collective", text, operations()))
    return known[plain]


def schedule_names(call: Call, slots: RankSlots | None = None) -> list[str]:
    """Name the schedules that can do it, with the values of options worth a try.

    With slots, those with options that suit where ranks are, too.

    Raises
    ------
    topoloom.Error
        If none can.
    """
    fitted = [] if slots is None else fitted_schedules(*slots)
    names = candidates(call.operation, call.ranks, call.bytes, fitted)
    if not names:
        raise Error(f"no schedule does the {call.operation} of {call.ranks} ranks")
    return names


def strategy_of(
    call: Call, model: NetworkModel | None, slots: RankSlots | None = None
) -> Strategy:
    """Say what schedules of a call cost: on the machine if there are slots.

    Without a model the machine's own startup time and port bandwidth count.
    """
    if slots is not None:
        return Strategy(slots.allocation, slots.placement, model)
    if model is None:
        raise Error("what a message costs is not known; name a model or a machine")
    return Strategy(call.ranks, model)


def rank_schedules(
    call: Call,
    model: NetworkModel | None,
    slots: RankSlots | None = None,
    names: Sequence[str] = (),
) -> list[Ranked]:
    """Cost the schedules that can do it; the fastest comes first.

    Parameters
    ----------
    call
        What is asked.
    model
        What a message costs; None, with slots, means what the machine says.
    slots
        Where the ranks are, so that links count.
    names
        Only these, with options as in ``chain(segment=4096)``; all by default, each
        with the best values of its options.

    Raises
    ------
    topoloom.Error
        For names that are wrong, and where nothing says what a message costs.
    """
    strategy = strategy_of(call, model, slots)
    found: dict[str, Ranked] = {}
    # Of equals the first is taken at run time, too; sorting is stable.
    costs = [
        Ranked(name, strategy.cost(call.schedule(name)))
        for name in names or schedule_names(call, slots)
    ]
    for one in sorted(costs, key=lambda one: one.cost.time):
        found.setdefault(one.name if names else one.name.partition("(")[0], one)
    return list(found.values())


def usual_schedule(call: Call) -> str | None:
    """Name what MPICH uses by default; None if we have no schedule for it."""
    if call.operation.startswith("many-to-many"):
        return None
    usual = _core.usual_schedule(call.operation, call.ranks, call.bytes)
    return usual.partition("(")[0]


def _done_by(entry: dict[str, Any]) -> list[str]:
    return [str(operation) for operation in entry["operations"]]
