# SPDX-License-Identifier: BSD-3-Clause
"""Assigns an emulated rank with the same calls to every rank.

An axis is the set of all groups of one shape, that is, with equal differences between
their ranks. The role of a rank is the tuple of its indices in its groups of some axes:
axes along which messages are sent, and axes that distinguish emulated ranks with
different calls.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple

Members = tuple[int, ...]
Places = tuple[int, ...]
Key = tuple[Places, ...]


class Message(NamedTuple):
    """A message of an emulated rank; `own` and `other` are group indices."""

    is_sent: bool
    axis: int
    own: int
    other: int
    bytes: int


class GroupAxes:
    """All groups by shape; the last axis is the whole world."""

    def __init__(self, world: int, groups: Sequence[Members]) -> None:
        everyone = tuple(range(world))
        shapes: dict[Members, int] = {}
        self._axes: dict[Members, tuple[int, int]] = {}
        self._of: dict[int, list[Members]] = defaultdict(list)
        self._at: dict[tuple[int, int], list[tuple[int, int, Members]]]
        self._at = defaultdict(list)
        self.groups: list[list[Members]] = []
        listed = [one for one in groups if len(one) < world]
        for made, members in enumerate((*listed, everyone)):
            shape = tuple(rank - members[0] for rank in members)
            axis = shapes.setdefault(shape, len(shapes))
            if axis == len(self.groups):
                self.groups.append([])
            self.groups[axis].append(members)
            self._axes[members] = axis, made
            for place, rank in enumerate(members):
                self._at[axis, rank].append((made, place, members))
                self._of[rank].append(members)
        self.whole = shapes[everyone]

    def find_axis(self, members: Members) -> int:
        """Return the axis of a group; unknown groups belong to the whole world."""
        return self._axes.get(members, (self.whole, 0))[0]

    def size(self, axis: int) -> int:
        """Return the size of the groups of an axis."""
        return len(self.groups[axis][0])

    def places(self, axis: int, rank: int) -> Places:
        """List the indices of a rank in its groups of an axis."""
        return tuple(
            sorted(place for _, place, _ in self._list_placed_groups(axis, rank))
        )

    def find_group(
        self, axis: int, rank: int, place: int, near: Members = ()
    ) -> Members | None:
        """Find a rank's group along an axis, preferably one where it has index `place`.

        Of several groups, returns the group created closest in time to `near`; None if
        there is no group.
        """
        made = self._axes.get(near, (axis, 0))[1]
        found = self._list_placed_groups(axis, rank)
        best = min(
            found, key=lambda one: (one[1] != place, abs(one[0] - made)), default=None
        )
        return None if best is None else best[2]

    def _list_placed_groups(
        self, axis: int, rank: int
    ) -> Sequence[tuple[int, int, Members]]:
        return self._at.get((axis, rank), ())

    def find_smallest_group(self, source: int, target: int) -> Members:
        """Find the smallest group that contains both ranks."""
        return min((one for one in self._of[source] if target in one), key=len)

    def is_composed(self, axis: int, rank: int) -> bool:
        """Return whether another axis subdivides a rank's group, as tp does in tp-pp.

        If so, the other axes determine the indices in this group.
        """
        for _, _, members in self._list_placed_groups(axis, rank):
            inside = set(members)
            for other in range(len(self.groups)):
                if 1 < self.size(other) < len(members) and all(
                    any(
                        inside.issuperset(one)
                        for _, _, one in self._list_placed_groups(other, each)
                    )
                    for each in members
                ):
                    return True
        return False


class RankCallCounts(NamedTuple):
    """Call counts of an emulated rank, for messages and collectives."""

    messages: Counter[Message]
    collectives: Counter[Hashable]

    def count_offsets(self, axis: int) -> tuple[Counter[tuple[int, int]], ...]:
        """Count sends and receives by the offset of the peer along an axis."""
        sent, received = Counter[tuple[int, int]](), Counter[tuple[int, int]]()
        for one, calls in self.messages.items():
            if one.axis == axis and one.is_sent:
                sent[one.other - one.own, one.bytes] += calls
            elif one.axis == axis:
                received[one.own - one.other, one.bytes] += calls
        return sent, received

    def is_pipeline(self, axis: int) -> bool:
        """Return whether sends and receives have equal offsets, as in a pipeline."""
        sent, received = self.count_offsets(axis)
        return sent == received

    def is_ring(self, axis: int, size: int) -> bool:
        """Return whether sends match receives only modulo the group size."""
        if self.is_pipeline(axis):
            return False
        around = []
        for counter in self.count_offsets(axis):
            counts = Counter[tuple[int, int]]()
            for (offset, bytes), calls in counter.items():
                counts[offset % size, bytes] += calls
            around.append(counts)
        return around[0] == around[1]


class RoleAssignment:
    """Assigns an emulated rank to every rank.

    Attributes
    ----------
    representatives
        The emulated rank that represents each rank.
    unknown
        Roles without an emulated rank: first rank of the role -> all ranks of the role.
        missing A group in which no emulated rank has the index of the first such rank.
    """

    def __init__(
        self, axes: GroupAxes, world: int, call_counts: Mapping[int, RankCallCounts]
    ) -> None:
        self._axes, self._call_counts = axes, call_counts
        self._emulated = sorted(call_counts)
        self._rings: dict[tuple[int, int], bool] = {}
        self._sent_along = {
            one.axis for each in call_counts.values() for one in each.messages
        } - {axes.whole}
        self._role_axes = self._choose_role_axes()
        self.representatives: list[int] = []
        self.unknown: dict[int, list[int]] = {}
        self.missing: Members = ()
        self._assign_representatives(world)

    def is_ring(self, rank: int, axis: int) -> bool:
        """Return whether the messages of an emulated rank wrap around its groups."""
        at = rank, axis
        if at not in self._rings:
            self._rings[at] = self._call_counts[rank].is_ring(
                axis, self._axes.size(axis)
            )
        return self._rings[at]

    def _make_role_key(self, rank: int) -> Key:
        return tuple(self._axes.places(axis, rank) for axis in self._role_axes)

    def _choose_role_axes(self) -> list[int]:
        """Choose axes with messages, then axes that distinguish emulated ranks."""
        axes, chosen = self._axes, sorted(self._sent_along)
        rest = [
            axis
            for axis in sorted(range(len(axes.groups)), key=axes.size)
            if axis not in chosen and axis != axes.whole
        ]
        whole = [one for one in rest if axes.is_composed(one, axes.groups[one][0][0])]
        simple = [one for one in rest if one not in whole]
        # Any axis along which the indices differ may cause the difference, unless it is
        # composed of other axes.
        unlike = self._find_conflicts(chosen)
        chosen += [axis for axis in simple if self._has_different_places(axis, unlike)]
        for axis in whole:
            if self._has_different_places(axis, self._find_conflicts(chosen)):
                chosen.append(axis)
        return chosen

    def _find_conflicts(self, chosen: Sequence[int]) -> list[list[int]]:
        """List groups of emulated ranks with equal indices but different calls."""
        same: dict[Key, list[int]] = defaultdict(list)
        for rank in self._emulated:
            same[tuple(self._axes.places(axis, rank) for axis in chosen)].append(rank)
        return [
            ranks
            for ranks in same.values()
            if any(
                self._call_counts[rank] != self._call_counts[ranks[0]] for rank in ranks
            )
        ]

    def _has_different_places(self, axis: int, among: Sequence[Sequence[int]]) -> bool:
        return any(
            len({self._axes.places(axis, rank) for rank in ranks}) > 1
            for ranks in among
        )

    def _assign_representatives(self, world: int) -> None:
        by_key: dict[Key, list[int]] = defaultdict(list)
        for rank in self._emulated:
            by_key[self._make_role_key(rank)].append(rank)
        found: dict[Key, tuple[list[int], bool]] = {
            key: (ranks, True) for key, ranks in by_key.items()
        }
        first: dict[Key, int] = {}
        for rank in range(world):
            if rank in self._call_counts:
                self.representatives.append(rank)
                continue
            key = self._make_role_key(rank)
            if key not in found:
                found[key] = self._find_nearest_role(key, by_key)
            ranks, is_known = found[key]
            self.representatives.append(ranks[max(bisect_right(ranks, rank) - 1, 0)])
            if is_known:
                continue
            one = first.setdefault(key, rank)
            self.unknown.setdefault(one, []).append(rank)
            if not self.missing:
                own = self._make_role_key(self.representatives[rank])
                differs = [a != b for a, b in zip(key, own, strict=True)].index(True)
                self.missing = self._axes.groups[self._role_axes[differs]][0]

    def _find_nearest_role(
        self, key: Key, by_key: Mapping[Key, list[int]]
    ) -> tuple[list[int], bool]:
        """Find emulated ranks to represent a role; tell whether they surely match."""
        best: tuple[tuple[int, ...], list[int], bool] | None = None
        for other, ranks in by_key.items():
            fits, is_known, apart, after = True, True, 0, 0
            unlike = 0
            for axis, own, emulated in zip(self._role_axes, key, other, strict=True):
                if own == emulated:
                    continue
                unlike += 1
                fit = self._can_represent(axis, own, emulated, ranks[0])
                fits &= fit
                is_known &= fit and self._axes.size(axis) > 2
                if own and emulated:
                    apart += abs(own[0] - emulated[0])
                    after += own[0] < emulated[0]
            rank = (not fits, unlike, apart, after)
            if best is None or rank < best[0]:
                best = rank, ranks, is_known
        assert best is not None
        return best[1:]

    def _can_represent(
        self, axis: int, own: Places, emulated: Places, rank: int
    ) -> bool:
        """Return whether an emulated rank can represent a rank at another index."""
        if axis not in self._sent_along or len(own) != 1 or len(emulated) != 1:
            return False
        if self.is_ring(rank, axis):
            return True
        counts, size = self._call_counts[rank], self._axes.size(axis)
        return counts.is_pipeline(axis) and all(
            0 <= one.other - one.own + own[0] < size
            for one in counts.messages
            if one.axis == axis
        )
