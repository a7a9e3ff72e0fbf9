# SPDX-License-Identifier: BSD-3-Clause
"""Chooses an MPI library's fastest algorithm among those that match a schedule.

Some algorithms require that the rank count is a power of two. Rules therefore apply to
ranges of rank counts: each power of two is a range, and so are the counts up to the
next power. For such a range, the fastest algorithm is computed at its middle count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from topoloom._core import Error
from topoloom.schedules.choose import Call, rank_schedules
from topoloom.schedules.decisions import MAX_BYTES, find_change_sizes
from topoloom.schedules.exports.request import ExportRequest

#: Candidate segment sizes of a chain, in bytes.
SEGMENTS = (1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20)


class MatchingAlgorithm(NamedTuple):
    """An algorithm of an MPI library and the schedule that sends the same messages."""

    algorithm: str  # name in the library
    schedule: str  # with its options; a plain ``chain`` matches any segment size
    #: Rank counts at which algorithm and schedule match: powers of `base` (True), all
    #: others (False), or all (None).
    powers: bool | None = None
    base: int = 2

    def matches(self, ranks: int) -> bool:
        """Return whether algorithm and schedule match at this rank count."""
        power = 1
        while power < ranks:
            power *= self.base
        return self.powers in (None, power == ranks)


class MpiFunction(NamedTuple):
    """An MPI function whose algorithm the user can select."""

    name: str  # name in the library
    #: Whether rules apply to the total bytes of all ranks instead of one rank's bytes.
    counts_all_ranks: bool
    algorithms: tuple[MatchingAlgorithm, ...]
    by_size: bool = True  # whether rules can depend on the message size


class SizeRule(NamedTuple):
    """The fastest algorithm from this size on, in bytes as counted by the library."""

    bytes: int
    algorithm: str
    segment: int  # 0: none


class RankRange(NamedTuple):
    """Size rules for the rank counts from `first` to `last`, inclusive."""

    first: int
    last: int
    choices: list[SizeRule]


def choose_algorithms(
    requests: Sequence[ExportRequest],
    table: dict[str, tuple[MpiFunction, ...]],
    library: str,
) -> list[tuple[MpiFunction, list[RankRange]]]:
    """Choose algorithms for the requested MPI functions, in the order of `table`.

    Raises `topoloom.Error` if no algorithm of the library matches a schedule.
    """
    order = [each for functions in table.values() for each in functions]
    found = [
        pair
        for request in requests
        for pair in _choose_for_functions(request, table, library)
    ]
    return sorted(found, key=lambda pair: order.index(pair[0]))


def _choose_for_functions(
    request: ExportRequest, table: dict[str, tuple[MpiFunction, ...]], library: str
) -> list[tuple[MpiFunction, list[RankRange]]]:
    operation = request.call.operation
    if operation not in table:
        raise Error(
            f"{library} has no algorithm of {operation} that matches a schedule of "
            f"Topoloom; choose one of {', '.join(table)}"
        )
    found = [
        (each, list(_find_rank_ranges(request, each))) for each in table[operation]
    ]
    if not any(spans for _, spans in found):
        raise Error(
            f"{library} has no algorithm of {operation} for {request.call.ranks} ranks "
            "that matches a schedule of Topoloom; choose another number of ranks"
        )
    return found


def _find_rank_ranges(
    request: ExportRequest, function: MpiFunction
) -> Iterator[RankRange]:
    open_range: RankRange | None = None
    for first, last, ranks in _split_rank_counts(request):
        call = request.call._replace(ranks=ranks)
        candidates = [
            each for each in function.algorithms if _is_equivalent(each, call)
        ]
        if not candidates:
            continue
        choices = _choose_by_size(request, function, call, candidates)
        if open_range is not None:
            if (open_range.last + 1, open_range.choices) == (first, choices):
                first = open_range.first
            else:
                yield open_range
        open_range = RankRange(first, last, choices)
    if open_range is not None:
        yield open_range


def _split_rank_counts(request: ExportRequest) -> Iterator[tuple[int, int, int]]:
    """List ranges of rank counts as (first, last, representative count)."""
    most = request.call.ranks
    if request.slots is not None:
        yield most, most, most
        return
    power = 2
    while power <= most:
        if power > request.call.root:
            yield power, power, power
            last = min(2 * power - 1, most)
            if last > power:
                yield power + 1, last, min(3 * power // 2, last)
        power *= 2


def _is_equivalent(counterpart: MatchingAlgorithm, call: Call) -> bool:
    if not counterpart.matches(call.ranks):
        return False
    try:
        call._replace(bytes=0).schedule(counterpart.schedule)
    except Error:  # The schedule does not support this number of ranks.
        return False
    return True


def _choose_by_size(
    request: ExportRequest,
    function: MpiFunction,
    call: Call,
    candidates: Sequence[MatchingAlgorithm],
) -> list[SizeRule]:
    def find_best(size: int) -> str:
        sized = call._replace(bytes=size)
        names = [
            name for each in candidates for name in _list_variants(each.schedule, sized)
        ]
        return rank_schedules(sized, request.model, request.slots, names)[0].name

    algorithms = {each.schedule: each.algorithm for each in candidates}
    choices: list[SizeRule] = []
    if call.operation == "barrier" or not function.by_size:
        found = [(0, find_best(call.bytes))]
    else:
        found = find_change_sizes(find_best, MAX_BYTES)
    for first, schedule in found:
        chain = re.fullmatch(r"chain\(segment=([0-9]+)\)", schedule)
        name, segment = ("chain", int(chain[1])) if chain else (schedule, 0)
        size = first * (call.ranks if function.counts_all_ranks else 1)
        choices.append(SizeRule(size, algorithms[name], segment))
    choices[0] = choices[0]._replace(bytes=0)
    return choices


def _list_variants(schedule: str, call: Call) -> list[str]:
    if schedule != "chain":
        return [schedule]
    return [f"chain(segment={size})" for size in SEGMENTS if size < call.bytes]
