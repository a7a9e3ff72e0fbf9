# SPDX-License-Identifier: BSD-3-Clause
"""Predicted times of a job by shape: the segments of hosts that share groups.

A shape is a tuple of sizes, one for each level from leaf groups up: the number of hosts
that share a group of the level; 1 requests nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from topoloom.nodes.hosts import Ids
from topoloom.tasks.machines.nested_segments import (
    HostGroups,
    count_fitting_hosts,
    nested_places,
)
from topoloom.tasks.machines.segment_places import hosts_at

#: A segment is large enough if the job takes at most this share longer than the best.
NEAR = 0.01

Sizes = tuple[int, ...]


def divisors(number: int) -> list[int]:
    """List the divisors, the smallest first."""
    return [each for each in range(1, number + 1) if number % each == 0]


class ShapeTimes:
    """The predicted time of each shape: the worst of several placements of the job.

    Parameters
    ----------
    levels
        The hosts and their groups.
    hosts
        The number of hosts of the job.
    time
        Predicts the time of the job on hosts in their order.
    progress
        Called with the number of shapes timed so far, and that number plus one.
    """

    def __init__(
        self,
        levels: HostGroups,
        hosts: int,
        time: Callable[[Ids], float],
        progress: Callable[[int, int], None],
    ) -> None:
        self._levels = levels
        self._hosts = hosts
        self._time = time
        self._progress = progress
        self._depth = 1 + len(levels.above)
        self._known: dict[Sizes, float] = {}

    def __getitem__(self, sizes: Sizes) -> float:
        if sizes in self._known:
            return self._known[sizes]
        self._progress(len(self._known), len(self._known) + 1)
        # Ways to place multiples of all sizes are ways to place these sizes, too.
        worst = max(
            (
                taken
                for known, taken in self._known.items()
                if all(a % b == 0 for a, b in zip(known, sizes, strict=True))
            ),
            default=0.0,
        )
        for places in nested_places(self._levels, sizes, self._hosts):
            chosen = hosts_at(self._levels.leaves, places, sizes[0])
            worst = max(worst, self._time(chosen))
        self._known[sizes] = worst
        return worst

    def fits(self, sizes: Sequence[int]) -> bool:
        """Return whether the hosts suffice for sizes of the lowest levels."""
        filled = (*sizes, *[1] * (self._depth - len(sizes)))
        return count_fitting_hosts(self._levels, filled) >= self._hosts

    def tightest(self, sizes: Sizes) -> Sizes:
        """Add the largest fitting size for each level above those of `sizes`."""
        while len(sizes) < self._depth:
            sizes = (*sizes, max(self._next(sizes)))
        return sizes

    def plain(self) -> Iterator[Sizes]:
        """Yield shapes with one size, or with leaf groups and the whole job.

        The whole job shares a group of the lowest level that is large enough.
        """
        sizes = divisors(self._hosts)[::-1]
        for level in range(1, self._depth):
            single = [self._at(level, size) for size in sizes if size < self._hosts]
            yield from filter(self.fits, single)
        for level in range(1, self._depth):
            if self.fits(self._at(level, self._hosts)):
                whole = [(size, *self._at(level, self._hosts)[1:]) for size in sizes]
                yield from filter(self.fits, whole)
                return

    def nested(self) -> dict[Sizes, float]:
        """Find, level by level, the smallest size that costs nothing.

        Levels above have the largest fitting size. Returns all compared shapes.
        """
        found: dict[Sizes, float] = {}
        below: Sizes = ()
        for _ in range(self._depth):
            shapes = {
                size: self.tightest((*below, size)) for size in self._next(below)[::-1]
            }
            found |= {shape: self[shape] for shape in shapes.values()}
            near = min(found.values()) * (1 + NEAR)
            enough = [size for size, shape in shapes.items() if found[shape] <= near]
            below = (*below, min(enough))
        return found

    def _next(self, below: Sizes) -> list[int]:
        """List the possible sizes of the next level: 1, or more hosts than below."""
        least = max(below, default=1)
        more = [size for size in divisors(self._hosts) if size % least == 0]
        return [
            1,
            *(size for size in more if size > least and self.fits((*below, size))),
        ]

    def _at(self, level: int, size: int) -> Sizes:
        return tuple(size if each == level else 1 for each in range(self._depth))
