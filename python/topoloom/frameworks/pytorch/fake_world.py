# SPDX-License-Identifier: BSD-3-Clause
"""What a whole world sends, from a few of its ranks that were played one at a time.

A rank that was played stands for itself and for those after it, up to the next that was
played. One of them does in its own groups what the played rank did in those of the same
shape: the same differences between the ranks of their members. Roots keep their place
in a group. Messages keep the distance, around the smallest group that has both ends.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from topoloom._core import Error
from topoloom.frameworks.pytorch.notes import Noted
from topoloom.graphs.mpi_collectives import OPERATIONS
from topoloom.graphs.profile import KINDS
from topoloom.graphs.traces.kineto import read_events
from topoloom.graphs.traces.trace import Trace

Members = tuple[int, ...]


class _Call(NamedTuple):
    """A collective of a group."""

    operation: str
    members: Members
    root: int
    bytes: int


class _Groups:
    """The groups of a world, found by a member and another group of the same shape."""

    def __init__(self, groups: Sequence[Members]) -> None:
        self._shapes: dict[Members, int] = {}
        self._places: dict[Members, tuple[int, int]] = {}
        self._found: dict[tuple[int, int], list[tuple[int, Members]]]
        self._found = defaultdict(list)
        self._of: dict[int, list[Members]] = defaultdict(list)
        for place, members in enumerate(groups):
            shape = self._shapes.setdefault(_shape(members), len(self._shapes))
            self._places[members] = shape, place
            for rank in members:
                self._found[shape, rank].append((place, members))
                self._of[rank].append(members)

    def alike(
        self, members: Members, ranks: Sequence[int]
    ) -> Iterator[tuple[int, Members | None]]:
        """Find for each rank its group that is shaped as this one; of several the next.

        Next is what was made at about the same time; None where there is none.
        """
        shape, made = self._places.get(members, (-1, 0))
        for rank in ranks:
            found = self._found.get((shape, rank), [])
            near = min(found, key=lambda one: abs(one[0] - made), default=None)
            yield rank, None if near is None else near[1]

    def smallest(self, source: int, target: int) -> Members | None:
        """Find the smallest group of both."""
        both = [one for one in self._of[source] if target in one]
        return min(both, key=len, default=None)


def _shape(members: Members) -> Members:
    return tuple(rank - members[0] for rank in members)


class _Spread:
    """Gives what was played to the ranks that it stands for."""

    def __init__(self, noted: Sequence[Noted]) -> None:
        self.world = noted[0].world
        self.trace = Trace(self.world)
        self.played = sorted({one.rank for one in noted})
        listed = dict.fromkeys(group for one in noted for group in one.groups)
        self.groups = _Groups(list(listed))
        self._counts: dict[_Call, Counter[int]] = defaultdict(Counter)

    def take(self, noted: Noted) -> None:
        """Spread what one played rank has counted."""
        own = Trace(self.world)
        read_events(own, noted.rank, noted.events, {})
        profile = own.profile()
        for loss in own.losses:
            self.trace.lose(loss)
        ranks = self._alike(noted.rank)
        for _, operation, number, root, size, calls in profile.records.tolist():
            members = tuple(profile.communicators[number].tolist())
            for group in self._family(members, ranks):
                call = _Call(OPERATIONS[operation], group, root, size)
                self._counts[call][noted.rank] += calls
        for _, kind, source, target, size, calls in profile.traffic.tolist():
            self._spread_message(KINDS[kind], source, target, size, calls, ranks)

    def join(self) -> Trace:
        """Count what the world does; played ranks that disagree are noted."""
        for call, counts in self._counts.items():
            most = max(counts.values())
            stand = {self._played(rank) for rank in call.members}
            for rank in sorted(stand):
                if counts[rank] != most:
                    self.trace.lose(
                        f"ranks that were played disagree: rank {rank} has "
                        f"{counts[rank]} of {most} calls of {call.operation} with "
                        f"{call.bytes} bytes in a group of {len(call.members)}"
                    )
                    break
            named = call.operation, call.members, call.bytes, most, max(call.root, 0)
            self.trace.add(*named)
        return self.trace

    def _alike(self, rank: int) -> range:
        """List the ranks that a played rank stands for; the first, for those before."""
        place = self.played.index(rank)
        begin = rank if place else 0
        is_last = place == len(self.played) - 1
        return range(begin, self.world if is_last else self.played[place + 1])

    def _played(self, rank: int) -> int:
        return self.played[max(bisect_right(self.played, rank) - 1, 0)]

    def _family(self, members: Members, ranks: range) -> list[Members]:
        if len(members) == self.world:
            return [members]
        found: dict[Members, None] = {}
        for _, group in self._groups_alike(members, ranks):
            found[group] = None
        return list(found)

    def _spread_message(
        self, kind: str, source: int, target: int, size: int, calls: int, ranks: range
    ) -> None:
        """Spread the messages of a pair, `size` bytes in all of them."""
        around = self.groups.smallest(source, target) or tuple(range(self.world))
        distance = around.index(target) - around.index(source)
        each, more = divmod(size, calls)
        for rank, group in self._groups_alike(around, ranks):
            other = group[(group.index(rank) + distance) % len(group)]
            for bytes, count in ((each + 1, more), (each, calls - more)):
                if count:
                    self.trace.send(rank, other, bytes, count, kind)

    def _groups_alike(
        self, members: Members, ranks: range
    ) -> Iterator[tuple[int, Members]]:
        """Find the group of each rank that is shaped as this one; note who has none."""
        without = []
        for rank, group in self.groups.alike(members, ranks):
            if group is None:
                without.append(rank)
            else:
                yield rank, group
        if without:
            others = f" and {len(without) - 1} others" if len(without) > 1 else ""
            self.trace.lose(
                f"rank {without[0]}{others}: in no group shaped as {_some(members)},"
                f" where rank {self._played(without[0])} was played; play them, too"
            )


def spread(noted: Sequence[Noted]) -> Trace:
    """Make the trace of a world of what some of its ranks have counted.

    Messages that a played rank receives must be those that the others send it.

    Raises
    ------
    topoloom.Error
        If the program started worlds of different sizes.
    """
    if len({one.world for one in noted}) > 1:
        raise Error("the program started worlds of different sizes")
    spreading = _Spread(noted)
    for one in noted:
        spreading.take(one)
        for what, calls in one.lost.items():
            spreading.trace.lose(f"rank {one.rank} lost {calls} {what}")
    trace = spreading.join()
    sent = _sent(trace, {one.rank for one in noted})
    for one in noted:
        received: Counter[int] = Counter()
        for event in one.events:
            args = event["args"]
            if args["Collective name"] == "recv":
                received[args["Src Rank"]] += args["In msg nelems"] * args["Calls"]
        for source in sorted({*received, *sent[one.rank]}):
            if received[source] != sent[one.rank][source]:
                trace.lose(
                    f"rank {one.rank} receives {received[source]} bytes from rank "
                    f"{source}, which sends {sent[one.rank][source]} by what rank "
                    f"{spreading._played(source)} did; play rank {source}, too"
                )
                break
    return trace


def _sent(trace: Trace, targets: set[int]) -> dict[int, Counter[int]]:
    """Add up what is sent to some ranks, by rank and source."""
    sent: dict[int, Counter[int]] = {target: Counter() for target in targets}
    for (kind, source, target, bytes), calls in trace.messages.items():
        if kind == "send" and target in sent:
            sent[target][source] += bytes * calls
    return sent


def _some(members: Members) -> str:
    more = ", ..." if len(members) > 6 else ""
    return f"[{', '.join(map(str, members[:6]))}{more}]"
