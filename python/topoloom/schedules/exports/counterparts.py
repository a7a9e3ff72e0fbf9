# SPDX-License-Identifier: BSD-3-Clause
"""The best of a library's own algorithms: those whose messages a schedule of ours has.

Two communicators of 8 and 12 ranks may need different algorithms, as some take powers
of two only. So decisions are made for spans of numbers of ranks: each power of two, and
those between it and the next one, for which the number in their middle stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from topoloom._core import Error
from topoloom.schedules.choose import Call, rank_schedules
from topoloom.schedules.decisions import MAX_BYTES, changes
from topoloom.schedules.exports.asked import Asked

#: Bytes of a segment of a chain that are tried.
SEGMENTS = (1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20)


class Counterpart(NamedTuple):
    """An algorithm of a library, and the schedule that sends the same messages.

    Attributes
    ----------
    algorithm
        As the library calls it.
    schedule
        With options; ``chain`` stands for all lengths of its segments.
    powers
        Whether that holds for powers of a base (True), other numbers (False) or all.
    base
        Of the powers.
    """

    algorithm: str
    schedule: str
    powers: bool | None = None
    base: int = 2

    def is_for(self, ranks: int) -> bool:
        """Whether it sends these messages among this number of ranks."""
        power = 1
        while power < ranks:
            power *= self.base
        return self.powers in (None, power == ranks)


class Function(NamedTuple):
    """An MPI function whose algorithm a library lets us choose.

    Attributes
    ----------
    name
        As the library calls it.
    whole
        Whether it counts the bytes of all ranks, where an operation counts one rank's.
    algorithms
        Those that have a counterpart.
    sized
        Whether it looks at the size of a call.
    """

    name: str
    whole: bool
    algorithms: tuple[Counterpart, ...]
    sized: bool = True


class Choice(NamedTuple):
    """From this size on, in the library's count, this algorithm is the fastest."""

    bytes: int
    algorithm: str
    segment: int  # 0: none


class Span(NamedTuple):
    """What holds from one number of ranks to another, both included."""

    first: int
    last: int
    choices: list[Choice]


def choose_for(
    asked: Sequence[Asked], table: dict[str, tuple[Function, ...]], library: str
) -> list[tuple[Function, list[Span]]]:
    """Choose the algorithms of all functions that do what is asked, in their order.

    Raises
    ------
    topoloom.Error
        If the library has none that sends what one of our schedules does.
    """
    order = [each for functions in table.values() for each in functions]
    found = [pair for each in asked for pair in _choose(each, table, library)]
    return sorted(found, key=lambda pair: order.index(pair[0]))


def _choose(
    asked: Asked, table: dict[str, tuple[Function, ...]], library: str
) -> list[tuple[Function, list[Span]]]:
    operation = asked.call.operation
    if operation not in table:
        raise Error(
            f"{library} has no algorithm of {operation} that is one of our schedules; "
            f"it has for {', '.join(table)}"
        )
    found = [(each, list(_spans(asked, each))) for each in table[operation]]
    if not any(spans for _, spans in found):
        raise Error(
            f"{library} has no algorithm of {operation} for {asked.call.ranks} ranks "
            "that is one of our schedules; take another number of ranks"
        )
    return found


def _spans(asked: Asked, function: Function) -> Iterator[Span]:
    open_span: Span | None = None
    for first, last, ranks in _numbers(asked):
        call = asked.call._replace(ranks=ranks)
        known = [each for each in function.algorithms if _holds(each, call)]
        if not known:
            continue
        choices = _choices(asked, function, call, known)
        if open_span is not None:
            if (open_span.last + 1, open_span.choices) == (first, choices):
                first = open_span.first
            else:
                yield open_span
        open_span = Span(first, last, choices)
    if open_span is not None:
        yield open_span


def _numbers(asked: Asked) -> Iterator[tuple[int, int, int]]:
    """Give spans of numbers of ranks, and the one that stands for all of a span."""
    most = asked.call.ranks
    if asked.slots is not None:
        yield most, most, most
        return
    power = 2
    while power <= most:
        if power > asked.call.root:
            yield power, power, power
            last = min(2 * power - 1, most)
            if last > power:
                yield power + 1, last, min(3 * power // 2, last)
        power *= 2


def _holds(counterpart: Counterpart, call: Call) -> bool:
    if not counterpart.is_for(call.ranks):
        return False
    try:
        call._replace(bytes=0).schedule(counterpart.schedule)
    except Error:  # not for this number of ranks
        return False
    return True


def _choices(
    asked: Asked, function: Function, call: Call, known: Sequence[Counterpart]
) -> list[Choice]:
    def best(size: int) -> str:
        sized = call._replace(bytes=size)
        names = [name for each in known for name in _variants(each.schedule, sized)]
        return rank_schedules(sized, asked.model, asked.slots, names)[0].name

    algorithms = {each.schedule: each.algorithm for each in known}
    choices: list[Choice] = []
    if call.operation == "barrier" or not function.sized:
        found = [(0, best(call.bytes))]
    else:
        found = changes(best, MAX_BYTES)
    for first, schedule in found:
        chain = re.fullmatch(r"chain\(segment=([0-9]+)\)", schedule)
        name, segment = ("chain", int(chain[1])) if chain else (schedule, 0)
        size = first * (call.ranks if function.whole else 1)
        choices.append(Choice(size, algorithms[name], segment))
    choices[0] = choices[0]._replace(bytes=0)
    return choices


def _variants(schedule: str, call: Call) -> list[str]:
    if schedule != "chain":
        return [schedule]
    return [f"chain(segment={size})" for size in SEGMENTS if size < call.bytes]
