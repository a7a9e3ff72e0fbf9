# SPDX-License-Identifier: BSD-3-Clause
"""Extrapolates the traffic of a whole job from a few emulated ranks.

A rank gets the calls of the emulated rank with the same role (`roles.py`), but in the
rank's own groups of the same shape. The root of a call has the same index in each
group. Source and target of a message have the same indices as in the recorded group, or
else the same distance. They wrap around a group only if the messages of the emulated
rank do.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Sequence
from typing import Any, NamedTuple

from topoloom._core import Error
from topoloom.frameworks.pytorch.process_notes import ProcessNotes
from topoloom.frameworks.pytorch.roles import (
    GroupAxes,
    Members,
    Message,
    RankCallCounts,
    RoleAssignment,
)
from topoloom.graphs.mpi_collectives import OPERATIONS
from topoloom.graphs.traces.kineto import read_events
from topoloom.graphs.traces.trace import Trace


class _CollectiveCall(NamedTuple):
    """A collective call in a process group."""

    operation: str
    members: Members
    root: int
    bytes: int


class _EmulatedRank(NamedTuple):
    """The messages and collectives of an emulated rank.

    `exchanged` counts the parts of alltoalls with split sizes.
    """

    messages: Counter[Message]
    collectives: Counter[_CollectiveCall]
    exchanged: Counter[tuple[Members, int, int, int]]


class _Extrapolation:
    """Assigns the calls of each emulated rank to all ranks of the same role."""

    def __init__(self, notes: Sequence[ProcessNotes]) -> None:
        self.world = notes[0].world
        self.trace = Trace(self.world)
        listed = dict.fromkeys(group for one in notes for group in one.groups)
        self.axes = GroupAxes(self.world, list(listed))
        self._uneven = {
            self.axes.find_axis(tuple(event["args"]["Process Group Ranks"]))
            for one in notes
            for event in one.events
            if len(set(event["args"].get("In split size", ()))) > 1
        }
        self._emulated_ranks: dict[int, _EmulatedRank] = {}
        for one in notes:
            self._emulated_ranks[one.rank] = self._read_events(one)
        call_counts = {
            rank: self._count_calls_by_axis(one)
            for rank, one in self._emulated_ranks.items()
        }
        self.roles = RoleAssignment(self.axes, self.world, call_counts)
        self.known = [True] * self.world
        for ranks in self.roles.unknown.values():
            for rank in ranks:
                self.known[rank] = False
        self._counts: dict[_CollectiveCall, Counter[int]] = defaultdict(Counter)
        self._sent: Counter[tuple[int, int]] = Counter()
        self._received: Counter[tuple[int, int]] = Counter()

    def _read_events(self, notes: ProcessNotes) -> _EmulatedRank:
        """Convert the recorded events of an emulated rank."""
        emulated = self._emulated_ranks.get(
            notes.rank, _EmulatedRank(Counter(), Counter(), Counter())
        )
        others = []
        for event in notes.events:
            args = event["args"]
            members, calls = tuple(args["Process Group Ranks"]), args["Calls"]
            if args["Collective name"] in ("send", "recv"):
                emulated.messages[self._make_message(notes.rank, args)] += calls
            elif (
                self.axes.find_axis(members) in self._uneven and "In split size" in args
            ):
                own = members.index(notes.rank)
                for place, part in enumerate(args["In split size"]):
                    if part and place != own:
                        emulated.exchanged[members, own, place, part] += calls
            else:
                others.append(event)
        for call, calls in self._count_collectives(notes.rank, others):
            emulated.collectives[call] += calls
        return emulated

    def _make_message(self, rank: int, args: dict[str, Any]) -> Message:
        is_sent = args["Collective name"] == "send"
        other = args["Dst Rank" if is_sent else "Src Rank"]
        around = self.axes.find_smallest_group(rank, other)
        places = around.index(rank), around.index(other)
        axis, size = self.axes.find_axis(around), args["In msg nelems"]
        return Message(is_sent, axis, *places, size)

    def _count_collectives(
        self, rank: int, events: list[dict[str, Any]]
    ) -> Iterator[tuple[_CollectiveCall, int]]:
        own = Trace(self.world)
        read_events(own, rank, events, {})
        profile = own.profile()
        for loss in own.losses:
            self.trace.add_loss(loss)
        for _, operation, number, root, size, calls in profile.records.tolist():
            members = tuple(profile.communicators[number].tolist())
            yield _CollectiveCall(OPERATIONS[operation], members, root, size), calls

    def _count_calls_by_axis(self, emulated: _EmulatedRank) -> RankCallCounts:
        axis = self.axes.find_axis
        calls = Counter[Hashable]()
        for call, count in emulated.collectives.items():
            calls[call._replace(members=(axis(call.members),))] += count
        return RankCallCounts(emulated.messages, calls)

    def run(self) -> Trace:
        """Count the calls of all ranks; report contradicting calls as losses."""
        represented: dict[int, list[int]] = defaultdict(list)
        for rank, emulated in enumerate(self.roles.representatives):
            represented[emulated].append(rank)
        self._report_unknown_roles()
        for rank, ranks in sorted(represented.items()):
            did, group_cache = (
                self._emulated_ranks[rank],
                dict[Members, list[tuple[int, Members]]](),
            )
            for call, calls in did.collectives.items():
                for members in self._list_groups(
                    call.members, rank, ranks, group_cache
                ):
                    self._counts[call._replace(members=members)][rank] += calls
            for message, calls in did.messages.items():
                self._extrapolate_message(message, calls, rank, ranks)
            for members in {one[0] for one in did.exchanged}:
                for group in self._list_groups(members, rank, ranks, group_cache):
                    self.trace.add_uneven_group(group)
            for (members, own, other, size), calls in did.exchanged.items():
                for one, group in self._find_groups(members, rank, ranks, group_cache):
                    place = (group.index(one) + other - own) % len(group)
                    self.trace.send(one, group[place], size, calls, "direct")
        self._add_collectives()
        self._compare_messages()
        return self.trace

    def _add_collectives(self) -> None:
        represented: dict[Members, list[int]] = {}
        for call, counts in self._counts.items():
            most_calls, members = max(counts.values()), call.members
            if members not in represented:
                of = self.roles.representatives
                represented[members] = sorted(
                    {of[one] for one in members if self.known[one]}
                )
            for rank in represented[members]:
                if counts[rank] != most_calls:
                    self.trace.add_loss(
                        f"emulated ranks disagree: rank {rank} has "
                        f"{counts[rank]} of {most_calls} calls of {call.operation} "
                        f"with {call.bytes} bytes in a group of {len(members)}"
                    )
                    break
            named = call.operation, members, call.bytes, most_calls, max(call.root, 0)
            self.trace.add(*named)

    def _list_groups(
        self,
        members: Members,
        rank: int,
        ranks: Sequence[int],
        group_cache: dict[Members, list[tuple[int, Members]]],
    ) -> list[Members]:
        if len(members) == self.world:
            return [members]
        groups = self._find_groups(members, rank, ranks, group_cache)
        return list(dict.fromkeys(group for _, group in groups))

    def _find_groups(
        self,
        members: Members,
        rank: int,
        ranks: Sequence[int],
        group_cache: dict[Members, list[tuple[int, Members]]],
    ) -> list[tuple[int, Members]]:
        """Find each rank's group of the same shape; report ranks without a group."""
        if members in group_cache:
            return group_cache[members]
        axis, place = self.axes.find_axis(members), members.index(rank)
        without = []
        found = group_cache[members] = []
        for one in ranks:
            group = self.axes.find_group(axis, one, place, members)
            if group is not None:
                found.append((one, group))
            elif self.known[one]:
                without.append(one)
        if without:
            self.trace.add_loss(
                f"rank {_format_ranks(without)}: in no group shaped as "
                f"{_format_members(members)}, where rank {rank} was emulated; emulate "
                "them, too"
            )
        return found

    def _extrapolate_message(
        self, message: Message, calls: int, rank: int, ranks: Sequence[int]
    ) -> None:
        axis, size = message.axis, self.axes.size(message.axis)
        is_ring = self.roles.is_ring(rank, axis)
        for one in ranks:
            group = self.axes.find_group(axis, one, message.own)
            if group is None:
                continue
            place = group.index(one) + message.other - message.own
            if is_ring:
                place %= size
            if not 0 <= place < size:
                continue
            if message.is_sent:
                self.trace.send(one, group[place], message.bytes, calls)
                self._sent[one, group[place]] += message.bytes * calls
            else:
                self._received[group[place], one] += message.bytes * calls

    def _report_unknown_roles(self) -> None:
        unknown = self.roles.unknown
        if unknown:
            ranks = sorted(one for each in unknown.values() for one in each)
            self.trace.add_loss(
                f"rank {_format_ranks(ranks)}: no rank was emulated at their index in "
                f"groups shaped as {_format_members(self.roles.missing)}; emulate "
                f"{_format_members(tuple(unknown), 16)[1:-1]}, too"
            )

    def _compare_messages(self) -> None:
        """Report one mismatch of sent and received bytes per pair of roles."""
        named = set[tuple[int, int]]()
        representatives = self.roles.representatives
        for source, target in sorted({**self._sent, **self._received}):
            pair = representatives[source], representatives[target]
            sent = self._sent[source, target]
            received = self._received[source, target]
            if sent == received or pair in named:
                continue
            if not (self.known[source] and self.known[target]):
                continue
            named.add(pair)
            what = (
                f"rank {target} receives {received} bytes from rank {source}, which "
                f"sends {sent}"
            )
            for rank, other in (pair[0], source), (pair[1], target):
                if rank != other:
                    what += f" like rank {rank}; emulate rank {other}, too"
                    break
            self.trace.add_loss(what)


def extrapolate_trace(notes: Sequence[ProcessNotes]) -> Trace:
    """Make the trace of a whole job from the notes of emulated ranks.

    Roles without an emulated rank and unmatched messages are reported as losses.

    Raises `topoloom.Error` if the program started worlds of different sizes.
    """
    if len({one.world for one in notes}) > 1:
        raise Error("the program started worlds of different sizes")
    extrapolation = _Extrapolation(notes)
    for one in notes:
        for what, calls in one.lost.items():
            extrapolation.trace.add_loss(f"rank {one.rank} lost {calls} {what}")
    return extrapolation.run()


def _format_ranks(ranks: Sequence[int]) -> str:
    more = len(ranks) - 1
    return f"{ranks[0]} and {more} others" if more else str(ranks[0])


def _format_members(members: Members, limit: int = 6) -> str:
    more = ", ..." if len(members) > limit else ""
    return f"[{', '.join(map(str, members[:limit]))}{more}]"
