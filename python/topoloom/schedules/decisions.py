# SPDX-License-Identifier: BSD-3-Clause
"""Finds the best schedule per message size, and writes decision tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from topoloom._core import NetworkModel
from topoloom.schedules.choose import (
    Call,
    RankSlots,
    make_strategy,
    rank_schedules,
)

#: Default maximum message size in bytes.
MAX_BYTES = 1 << 24


class Decision(NamedTuple):
    """The fastest schedule from this size up to the size of the next decision."""

    ranks: int
    degree: int | None
    bytes: int
    schedule: str


def find_decisions(
    call: Call,
    model: NetworkModel | None,
    slots: RankSlots | None = None,
    max_bytes: int = MAX_BYTES,
) -> list[Decision]:
    """Find the sizes at which libtopoloom-collective's choice changes.

    The library chooses a schedule for 16 sizes per doubling, whatever the root. It
    ignores the degree of a many-to-many; if `call` has a degree, `find_change_sizes`
    finds the exact sizes. A barrier has only size 0.
    """
    if call.degree is not None:
        found = find_change_sizes(
            lambda size: (
                rank_schedules(call._replace(bytes=size), model, slots)[0].name
            ),
            max_bytes,
        )
    else:
        strategy = make_strategy(call, model, slots)
        found = [
            (size, strategy.choose(call.operation, size))
            for size in _list_sizes(call.operation, max_bytes)
        ]
    lines = [Decision(call.ranks, call.degree, size, name) for size, name in found]
    return [
        line
        for before, line in zip([None, *lines], lines, strict=False)
        if before is None or line.schedule != before.schedule
    ]


def find_change_sizes(
    best: Callable[[int], str], max_bytes: int
) -> list[tuple[int, str]]:
    """Find the exact sizes, in bytes, at which the best schedule changes.

    Bisects between consecutive powers of two that have different best schedules. A
    schedule that is best only between two powers of two may be missed.
    """

    def bisect_changes(
        low: int, before: str, high: int, after: str
    ) -> list[tuple[int, str]]:
        if before == after:
            return []
        if high - low == 1:
            return [(high, after)]
        middle = (low + high) // 2
        middle_name = best(middle)
        return [
            *bisect_changes(low, before, middle, middle_name),
            *bisect_changes(middle, middle_name, high, after),
        ]

    found = [(1, best(1))]
    size = 1
    while size < max_bytes:
        larger = min(2 * size, max_bytes)
        found += bisect_changes(size, found[-1][1], larger, best(larger))
        size = larger
    return found


def _list_sizes(operation: str, max_bytes: int) -> list[int]:
    """List the sizes at which libtopoloom-collective chooses, up to a limit."""
    if operation == "barrier":
        return [0]
    sizes = [1]
    while sizes[-1] < max_bytes:
        step = max(1, (1 << sizes[-1].bit_length() - 1) // 16)
        sizes.append(sizes[-1] + step)
    return [size for size in sizes if size <= max_bytes]


def find_decisions_by_ranks(
    call: Call,
    model: NetworkModel | None,
    slots: RankSlots | None = None,
) -> list[Decision]:
    """Find decisions for the call's rank count; without slots, also for lower ones."""
    calls = [call]
    if slots is None:
        powers = [1 << k for k in range(1, call.ranks.bit_length())]
        least = max(call.root, call.degree or 0)
        smaller = [p for p in powers if least < p < call.ranks]
        calls = [call._replace(ranks=p) for p in smaller] + calls
    return [decision for one in calls for decision in find_decisions(one, model, slots)]


def make_decision_table(
    operation: str, decisions: Sequence[Decision], model: str, machine: str
) -> dict[str, Any]:
    """Make the JSON document of a decision table, in which the last match applies.

    A line matches by rank count, by degree for a many-to-many, and by its minimum
    bytes.
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
