# SPDX-License-Identifier: BSD-3-Clause
"""Which schedule is best for which size: crossovers, and a table for a runtime."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from topoloom._core import NetworkModel
from topoloom.schedules.choose import Call, RankSlots, rank_schedules

#: The largest message that is looked at, by default.
MAX_BYTES = 1 << 24


class Decision(NamedTuple):
    """From this size on, until the next decision, this schedule is the fastest."""

    ranks: int
    degree: int | None
    bytes: int
    schedule: str


def decide(
    call: Call,
    model: NetworkModel | None,
    slots: RankSlots | None = None,
    most: int = MAX_BYTES,
    threads: int = 0,
    candidates: Callable[[Call], Sequence[str]] = lambda call: (),
) -> list[Decision]:
    """Find where the best schedule changes, to the byte, as the size grows from 1.

    `candidates` names the schedules of a size; none means all that there are.

    Sizes are powers of two at first; between two with different schedules the place is
    found by halving. A schedule that is best only between two powers may be missed. A
    barrier has the size 0 only.
    """

    def best(size: int) -> str:
        sized = call._replace(bytes=size)
        names = candidates(sized)
        return rank_schedules(sized, model, slots, names, threads)[0].name

    def decision(size: int, schedule: str) -> Decision:
        return Decision(call.ranks, call.degree, size, schedule)

    def changes(low: int, before: str, high: int, after: str) -> Iterator[Decision]:
        if before == after:
            return
        if high - low == 1:
            yield decision(high, after)
            return
        middle = (low + high) // 2
        between = best(middle)
        yield from changes(low, before, middle, between)
        yield from changes(middle, between, high, after)

    if call.operation == "barrier":
        return [decision(0, best(0))]
    found = [decision(1, best(1))]
    size = 1
    while size < most:
        larger = min(2 * size, most)
        found += changes(size, found[-1].schedule, larger, best(larger))
        size = larger
    return found


def decide_by_ranks(
    call: Call,
    model: NetworkModel | None,
    slots: RankSlots | None = None,
    threads: int = 0,
) -> list[Decision]:
    """Decide for the ranks of the call, and without slots all lower powers of two."""
    calls = [call]
    if slots is None:
        powers = [1 << k for k in range(1, call.ranks.bit_length())]
        least = max(call.root, call.degree or 0)
        smaller = [p for p in powers if least < p < call.ranks]
        calls = [call._replace(ranks=p) for p in smaller] + calls
    return [
        decision
        for one in calls
        for decision in decide(one, model, slots, threads=threads)
    ]


def decision_table(
    operation: str, decisions: Sequence[Decision], model: str, machine: str
) -> dict[str, Any]:
    """Make the document that a runtime reads: the last line that is small enough holds.

    A line's key is the number of ranks, the degree of a many-to-many, and the bytes
    from which on it holds.
    """
    return {
        "format": "topoloom-decisions",
        "version": 1,
        "operation": operation,
        "model": model,
        "machine": machine,
        "decisions": [
            {key: value for key, value in line._asdict().items() if value is not None}
            for line in decisions
        ],
    }
