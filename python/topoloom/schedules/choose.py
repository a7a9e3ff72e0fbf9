# SPDX-License-Identifier: BSD-3-Clause
"""All schedules of a collective, by what they cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from topoloom._core import (
    Allocation,
    CommGraph,
    Error,
    NetworkModel,
    Placement,
    Schedule,
    ScheduleCost,
    fitted_schedules,
    schedules,
)
from topoloom.graphs.mpi_collectives import OPERATIONS, rule_for
from topoloom.support.nearest import unknown_name

#: MPI's names of collectives, where they are not ours without hyphens.
_OTHER_NAMES = {"bcast": "broadcast"}

#: Messages that the core routes at most; direct ones of 65,536 ranks are more.
MAX_ROUTED = 1 << 32

_FREE = NetworkModel.regimes([(0.0, 0.0, None)])

#: Bytes of a segment of a chain or of trees that are tried.
SEGMENTS = (1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20)
_IN_SEGMENTS = ("chain", "two-trees", "disjoint-trees")

#: Radixes that are tried beside 2.
_RADIXES = (3, 4, 8)
_OF_A_RADIX = ("binomial", "recursive-doubling", "bruck", "dissemination")


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


def schedule_names(call: Call, slots: RankSlots | None = None) -> Iterator[str]:
    """Name the schedules that can do it, with the values of options worth a try.

    With slots, those with options that suit where ranks are, too; but none of more than
    `MAX_ROUTED` messages, which are to be routed.

    Raises
    ------
    topoloom.Error
        If none can.
    """
    fitted = [] if slots is None else fitted_schedules(*slots)
    names, refused = 0, None
    for entry in schedules():
        if call.operation not in _done_by(entry):
            continue
        name = str(entry["name"])
        try:
            schedule = call._replace(bytes=0).schedule(name)
        except Error as error:  # for other numbers of ranks, or no such call at all
            refused = error
            continue
        if slots and schedule.cost(_FREE).messages * call.ranks > MAX_ROUTED:
            refused = Error(
                f"all schedules of {call.ranks} ranks have more than 2^32 messages, "
                "too many to route; leave the machine out"
            )
            continue
        names += 1
        for text in (name, *(one for one in fitted if one.startswith(f"{name}("))):
            yield from _variants(text, call)
    if names == 0 and refused is not None:
        raise refused


def cost_of(
    call: Call,
    name: str,
    model: NetworkModel | None,
    slots: RankSlots | None = None,
    threads: int = 0,
) -> ScheduleCost:
    """Return what a schedule costs, with its links if there are slots.

    Without a model the machine's own startup time and port bandwidth count.
    """
    schedule = call.schedule(name)
    if slots is not None:
        return schedule.cost_on(slots.allocation, slots.placement, model, threads)
    if model is None:
        raise Error("what a message costs is not known; name a model or a machine")
    return schedule.cost(model)


def rank_schedules(
    call: Call,
    model: NetworkModel | None,
    slots: RankSlots | None = None,
    names: Sequence[str] = (),
    threads: int = 0,
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
        with the best values of its options, but with slots none of more than
        `MAX_ROUTED` messages.
    threads
        0 means all cores.

    Raises
    ------
    topoloom.Error
        For names that are wrong, and where nothing says what a message costs.
    """
    found: dict[str, Ranked] = {}
    for name in names or schedule_names(call, slots):
        cost = cost_of(call, name, model, slots, threads)
        key = name if names else name.partition("(")[0]
        if key not in found or cost.time < found[key].cost.time:
            found[key] = Ranked(name, cost)
    return sorted(found.values(), key=lambda one: one.cost.time)


def usual_schedule(call: Call) -> str | None:
    """Name what MPICH uses by default; None if we have no schedule for it."""
    plain = {"broadcast": "bcast", "reduce-scatter": "reduce_scatter"}
    operation = plain.get(call.operation, call.operation.replace("-", ""))
    if operation not in OPERATIONS:
        return None
    whole = call.operation == "reduce-scatter"
    amount = call.bytes * call.ranks if whole else call.bytes
    rule = rule_for(operation, call.ranks, amount)
    return rule.schedule.partition("(")[0]


def _variants(text: str, call: Call) -> list[str]:
    name, _, options = text.partition("(")
    before = f"{text[:-1]}," if options else f"{name}("
    if name in _IN_SEGMENTS and call.operation in ("broadcast", "reduce"):
        cut = [f"{before}segment={size})" for size in SEGMENTS if size < call.bytes]
        # Trees get a piece each, however long segments are.
        return [text, *cut] if name == "disjoint-trees" else cut or [text]
    if name in _OF_A_RADIX and call.operation not in ("scan", "exscan"):
        fit = [radix for radix in _RADIXES if radix <= call.ranks]
        return [text, *(f"{before}radix={radix})" for radix in fit)]
    return [text]


def _done_by(entry: dict[str, Any]) -> list[str]:
    return [str(operation) for operation in entry["operations"]]
