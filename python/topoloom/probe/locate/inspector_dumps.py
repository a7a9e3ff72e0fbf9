# SPDX-License-Identifier: BSD-3-Clause
"""Builds tests from dumps of the NCCL or RCCL Inspector with operation times.

Ranks wait for late ranks, so the time of an operation is the shortest over its ranks.
An operation is compared with the same operation of communicators with equal numbers of
ranks and hosts, bytes and distances.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np

from topoloom._core import Error
from topoloom.graphs.traces.inspector import InspectorLine, read_inspector_lines
from topoloom.graphs.traces.trace_formats import IncompleteTraceError
from topoloom.probe.locate.diagnose_parts import PartTest
from topoloom.probe.locate.machine_parts import MachineParts, Pair
from topoloom.probe.locate.rank_ends import find_rank_ends
from topoloom.support.units import counted

#: Minimal number of comparable communicators.
_MIN_COMPARABLE = 3
#: Number of operations of a kind that make one test, and maximum number of tests per
#: communicator. Several tests count more, because repeated slowness is not random.
_OPERATIONS_PER_TEST, _MAX_TESTS = 3, 3
#: Maximum number of remarks about missing data.
_MAX_REMARKS = 3


class _Operation(NamedTuple):
    """An operation of a communicator, with the pairs of ends that exchanged messages.

    Operations with equal `alike` are comparable.
    """

    alike: tuple[object, ...]
    pairs: tuple[Pair, ...]


class _OperationKey(NamedTuple):
    """Key that repeated operations share; `message` is the source and the target."""

    communicator: str
    message: tuple[int, int] | None
    word: str
    size_bytes: int
    clock: str  # name of the field that contains the times


#: Ends of ranks; None for an unknown GPU. The whole sequence is None if a rank has no
#: line.
_Ends = Sequence[int | None] | None


def read_dump_tests(
    files: Sequence[Path], parts: MachineParts, partial: bool
) -> tuple[list[PartTest], list[str]]:
    """Read dumps; return the tests, and remarks about data that cannot be used.

    Raises `topoloom.Error` if no line has a time, or a host is not in the machine.
    Raises `IncompleteTraceError`, unless `partial`, if lines or ranks are missing.
    """
    lines, sizes, missing = read_inspector_lines(files, partial)
    rank_ends, doubts = find_rank_ends(lines, parts)
    did: dict[_OperationKey, _Ends] = {}
    seconds: dict[_OperationKey, dict[int, float]] = defaultdict(dict)
    for line in lines:
        took = _read_microseconds(line)
        if took is None or not _is_sender(line):
            continue
        key = _make_key(line)
        if key not in did:
            did[key] = _find_ends(
                key, rank_ends[key.communicator], sizes[key.communicator]
            )
        by_number = seconds[key]
        by_number[line.number] = min(by_number.get(line.number, took), took)
    lacking = {key.communicator for key, ends in did.items() if ends is None}
    unknown = {key.communicator for key, ends in did.items() if ends and None in ends}
    done = [
        (
            _describe_operation(key, known, parts),
            [took for _, took in sorted(seconds[key].items())],
        )
        for key, ends in did.items()
        if ends and len(known := [end for end in ends if end is not None]) == len(ends)
    ]
    for name in sorted(lacking):
        there, size = len(rank_ends[name]), sizes[name]
        missing.append(f"communicator {name} lacks {size - there} of {size} ranks")
    more = len(missing) - _MAX_REMARKS
    rest = [f"and {more} more"] if more > 0 else []
    if missing and not partial:
        raise IncompleteTraceError("; ".join([*missing[:_MAX_REMARKS], *rest]))
    if unknown:
        doubts.append(
            f"{counted(len(unknown), 'communicator')} left out: some GPUs of a process "
            "are in it, and dumps do not say which"
        )
    if not done:
        raise Error(
            f"{files[0]}: no operation has lines of all ranks and a time "
            "(coll_exec_time_us or p2p_exec_time_us)"
        )
    tests = _compare_operations(done, doubts)
    return tests, [*missing[:_MAX_REMARKS], *rest, *doubts]


def _compare_operations(
    done: Sequence[tuple[_Operation, list[float]]], doubts: list[str]
) -> list[PartTest]:
    """Build tests from comparable operations and their times `done`."""
    alike: dict[tuple[object, ...], list[tuple[_Operation, list[float]]]] = defaultdict(
        list
    )
    for one, times in done:
        alike[one.alike].append((one, times))
    tests, alone = [], 0
    for of_kind in alike.values():
        if len(of_kind) < _MIN_COMPARABLE:
            alone += len(of_kind)
            continue
        usual = float(np.median([np.median(times) for _, times in of_kind]))
        for one, times in of_kind:
            several = min(_MAX_TESTS, max(1, len(times) // _OPERATIONS_PER_TEST))
            for some in np.array_split(times, several):
                tests.append(PartTest(one.pairs, float(np.median(some)) / usual))
    if alone:
        doubts.append(
            f"{alone} operations of communicators have fewer than {_MIN_COMPARABLE} "
            "others that do the same, so they are left out"
        )
    return tests


def _make_key(line: InspectorLine) -> _OperationKey:
    kind = "p2p" if line.is_message else "coll"
    peer = int(line.body.get("p2p_peer", -1)) if line.is_message else -1
    return _OperationKey(
        line.communicator,
        (line.place, peer) if line.is_message else None,
        str(line.body.get(kind, "")),
        int(line.body.get(f"{kind}_msg_size_bytes", 0)),
        str(line.body.get(f"{kind}_timing_source")),
    )


def _find_ends(
    key: _OperationKey, rank_ends: Mapping[int, int | None], size: int
) -> _Ends:
    """Return the ends that exchanged messages; None if a rank has no line."""
    places = key.message or range(size)
    if any(place not in rank_ends for place in places):
        return None
    return [rank_ends[place] for place in places]


def _describe_operation(
    key: _OperationKey, ends: Sequence[int], parts: MachineParts
) -> _Operation:
    """Describe an operation of the ranks at these ends."""
    if key.message:
        pairs: tuple[Pair, ...] = ((ends[0], ends[1]),)
    else:
        pairs = _list_exchanges(key.word, ends, parts)
    hosts = len({parts.host_of(end) for end in ends})
    distance = max(parts.distance(*pair) for pair in pairs)
    alike = (key.word, len(ends), hosts, key.size_bytes, key.clock, distance)
    return _Operation(alike, pairs)


def _list_exchanges(
    word: str, ends: Sequence[int], parts: MachineParts
) -> tuple[Pair, ...]:
    """List the pairs of ends that exchange messages.

    Hosts exchange messages in a ring in rank order, or all with all. NICs exchange
    messages with NICs of equal index, and each GPU of a host with the next GPU.
    """
    by_host: dict[int, list[int]] = defaultdict(list)
    for end in ends:
        by_host[parts.host_of(end)].append(end)
    hosts = list(by_host)
    found: set[Pair] = set()
    for own in by_host.values():
        found |= {_sort_pair(pair) for pair in _pair_ring(own) if pair[0] != pair[1]}
    between = combinations(hosts, 2) if word == "AlltoAll" else _pair_ring(hosts)
    for one, other in between:
        if one == other:
            continue
        places = {parts.gpu_index_of(end): end for end in by_host[one]}
        met = [
            _sort_pair((places[parts.gpu_index_of(end)], end))
            for end in by_host[other]
            if parts.gpu_index_of(end) in places
        ]
        found |= set(met or [_sort_pair((by_host[one][0], by_host[other][0]))])
    return tuple(sorted(found)) or ((ends[0], ends[0]),)


def _pair_ring(items: Sequence[int]) -> list[Pair]:
    return list(zip(items, [*items[1:], items[0]], strict=True))


def _sort_pair(pair: Pair) -> Pair:
    return min(pair), max(pair)


def _is_sender(line: InspectorLine) -> bool:
    return not line.is_message or line.body.get("p2p") == "Send"


def _read_microseconds(line: InspectorLine) -> float | None:
    value = line.body.get(
        "p2p_exec_time_us" if line.is_message else "coll_exec_time_us"
    )
    if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
        return None
    return float(value)
