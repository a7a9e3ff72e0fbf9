# SPDX-License-Identifier: BSD-3-Clause
"""Tests from lines of NCCL's and RCCL's Inspector: how long communicators take.

A rank that comes late keeps the others waiting, so that an operation takes as long as
on the rank where it is shortest. Communicators are compared with others that do the
same: the same operation, ranks, hosts and bytes, as far from each other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from topoloom._core import Error
from topoloom.graphs.traces.inspector import InspectorLine, inspector_lines
from topoloom.probe.locate.locate import Test
from topoloom.probe.locate.parts import Pair, Parts

#: Fewer communicators that do the same do not say which of them is slow.
_ALIKE = 3


class _Done(NamedTuple):
    """What a communicator did, and the pairs of hosts that exchanged messages for it.

    `alike` is what others must have in common with it.
    """

    alike: tuple[object, ...]
    pairs: tuple[Pair, ...]


def tests_of_dumps(files: Sequence[Path], parts: Parts) -> tuple[list[Test], list[str]]:
    """Read dumps; return tests, and sentences about what could not be used.

    Raises
    ------
    topoloom.Error
        If no line has a time, or a host is not among those of the machine.
    """
    lines, sizes, doubts = inspector_lines(files)
    number = {host: n for n, host in enumerate(parts.hosts)}
    hosts: dict[str, dict[int, int]] = defaultdict(dict)
    for line in lines:
        if line.process[0] not in number:
            raise Error(
                f"{line.where}: host {line.process[0]} is not one of the machine's"
            )
        hosts[line.communicator][line.place] = number[line.process[0]]
    seconds: dict[tuple[str, _Done], dict[int, float]] = defaultdict(dict)
    missing: set[str] = set()
    for line in lines:
        took = _microseconds(line)
        members = hosts[line.communicator]
        if took is None or not _is_sender(line):
            continue
        done = _done(line, members, sizes[line.communicator], parts)
        if done is None:
            missing.add(line.communicator)
            continue
        of_ranks = seconds[line.communicator, done]
        of_ranks[line.number] = min(of_ranks.get(line.number, took), took)
    if missing:
        doubts.append(
            f"{len(missing)} communicators lack ranks, so they are left out; add the "
            "files of all hosts"
        )
    if not seconds:
        raise Error(
            f"{files[0]}: no line has a time and all ranks of its communicator; "
            "coll_exec_time_us and p2p_exec_time_us are what is looked for"
        )
    return _compared(seconds, doubts), doubts


def _compared(
    seconds: Mapping[tuple[str, _Done], Mapping[int, float]], doubts: list[str]
) -> list[Test]:
    alike: dict[tuple[object, ...], list[tuple[_Done, float]]] = defaultdict(list)
    for (_, done), by_number in seconds.items():
        alike[done.alike].append((done, float(np.median(list(by_number.values())))))
    tests, alone = [], 0
    for of_kind in alike.values():
        if len(of_kind) < _ALIKE:
            alone += len(of_kind)
            continue
        usual = float(np.median([took for _, took in of_kind]))
        tests += [Test(done.pairs, took / usual) for done, took in of_kind]
    if alone:
        doubts.append(
            f"{alone} operations of communicators have fewer than {_ALIKE} others that "
            "do the same, so they are left out"
        )
    return tests


def _done(
    line: InspectorLine, members: Mapping[int, int], size: int, parts: Parts
) -> _Done | None:
    """Describe an operation; None where hosts of its ranks are not known."""
    kind = "p2p" if line.is_message else "coll"
    size_bytes = int(line.body.get(f"{kind}_msg_size_bytes", 0))
    word = str(line.body.get(kind, ""))
    if line.is_message:
        ends = members[line.place], members.get(int(line.body.get("p2p_peer", -1)))
        if ends[1] is None:
            return None
        pairs: tuple[Pair, ...] = ((ends[0], ends[1]),)
    elif len(members) < size:
        return None
    else:
        pairs = _exchanging(word, [members[place] for place in range(size)])
    hosts = len({host for pair in pairs for host in pair})
    distance = max(parts.distance(*pair) for pair in pairs)
    return _Done((word, size, hosts, size_bytes, distance), pairs)


def _exchanging(word: str, hosts: Sequence[int]) -> tuple[Pair, ...]:
    """Return pairs of hosts that exchange messages: of a ring, or all."""
    if len(set(hosts)) == 1:
        return ((hosts[0], hosts[0]),)
    if word == "AlltoAll":
        found = {(a, b) for a in hosts for b in hosts if a < b}
    else:
        following = [*hosts[1:], hosts[0]]
        found = {
            (min(pair), max(pair))
            for pair in zip(hosts, following, strict=True)
            if pair[0] != pair[1]
        }
    return tuple(sorted(found))


def _is_sender(line: InspectorLine) -> bool:
    return not line.is_message or line.body.get("p2p") == "Send"


def _microseconds(line: InspectorLine) -> float | None:
    value = line.body.get(
        "p2p_exec_time_us" if line.is_message else "coll_exec_time_us"
    )
    if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
        return None
    return float(value)
