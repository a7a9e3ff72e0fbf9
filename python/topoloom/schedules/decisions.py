# SPDX-License-Identifier: BSD-3-Clause
"""Which schedule is best for which size: crossovers, and a table for a runtime."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from topoloom._core import NetworkModel
from topoloom.schedules.choose import (
    Call,
    RankSlots,
    rank_schedules,
    strategy_of,
)

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
) -> list[Decision]:
    """Find where the choice changes as the size grows from 1: that of the library.

    libtopoloom-collective chooses at 16 sizes between two powers of two, for any root.
    It does not know the degree of a many-to-many: that is decided as `changes` does. A
    barrier has the size 0 only.
    """
    if call.degree is not None:
        found = changes(
            lambda size: (
                rank_schedules(call._replace(bytes=size), model, slots)[0].name
            ),
            most,
        )
    else:
        strategy = strategy_of(call, model, slots)
        found = [
            (size, strategy.choose(call.operation, size))
            for size in _sizes(call.operation, most)
        ]
    lines = [Decision(call.ranks, call.degree, size, name) for size, name in found]
    return [
        line
        for before, line in zip([None, *lines], lines, strict=False)
        if before is None or line.schedule != before.schedule
    ]


def changes(best: Callable[[int], str], most: int) -> list[tuple[int, str]]:
    """Find where the best changes, to the byte, as the size grows from 1.

    Sizes are powers of two at first; between two with different schedules the place is
    found by halving. A schedule that is best only between two powers may be missed.
    """

    def between(low: int, before: str, high: int, after: str) -> list[tuple[int, str]]:
        if before == after:
            return []
        if high - low == 1:
            return [(high, after)]
        middle = (low + high) // 2
        there = best(middle)
        return [
            *between(low, before, middle, there),
            *between(middle, there, high, after),
        ]

    found = [(1, best(1))]
    size = 1
    while size < most:
        larger = min(2 * size, most)
        found += between(size, found[-1][1], larger, best(larger))
        size = larger
    return found


def _sizes(operation: str, most: int) -> list[int]:
    """List the sizes that stand for all up to some."""
    if operation == "barrier":
        return [0]
    sizes = [1]
    while sizes[-1] < most:
        step = max(1, (1 << sizes[-1].bit_length() - 1) // 16)
        sizes.append(sizes[-1] + step)
    return [size for size in sizes if size <= most]


def decide_by_ranks(
    call: Call,
    model: NetworkModel | None,
    slots: RankSlots | None = None,
) -> list[Decision]:
    """Decide for the ranks of the call, and without slots all lower powers of two."""
    calls = [call]
    if slots is None:
        powers = [1 << k for k in range(1, call.ranks.bit_length())]
        least = max(call.root, call.degree or 0)
        smaller = [p for p in powers if least < p < call.ranks]
        calls = [call._replace(ranks=p) for p in smaller] + calls
    return [decision for one in calls for decision in decide(one, model, slots)]


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
