# SPDX-License-Identifier: BSD-3-Clause
"""Times of a job where segments of hosts are in groups of levels.

A shape is a tuple of sizes, one for each level from leaf groups up: the hosts that are
to be in one of its groups; 1 asks for nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from topoloom.nodes.hosts import Ids
from topoloom.tasks.machines.nested_segments import Levels, nested_places, room_for
from topoloom.tasks.machines.segment_places import hosts_at

#: A segment is large enough if the job takes at most this much longer than the best.
NEAR = 0.01

Sizes = tuple[int, ...]


def divisors(number: int) -> list[int]:
    """List the divisors, the smallest first."""
    return [each for each in range(1, number + 1) if number % each == 0]


class ShapeTimes:
    """Times of shapes, each the worst of several ways to place the job.

    Parameters
    ----------
    levels
        The hosts and what they are in.
    hosts
        Those that the job needs.
    time
        The time of the job on hosts in their order.
    progress
        Called with the number of shapes that are known, and one more.
    """

    def __init__(
        self,
        levels: Levels,
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
        # Segments of multiples of all sizes are ways to place these, too.
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
        """Return whether there are hosts for sizes of the lowest levels."""
        filled = (*sizes, *[1] * (self._depth - len(sizes)))
        return room_for(self._levels, filled) >= self._hosts

    def tightest(self, sizes: Sizes) -> Sizes:
        """Add the most that fits for each level above those of `sizes`."""
        while len(sizes) < self._depth:
            sizes = (*sizes, max(self._next(sizes)))
        return sizes

    def plain(self) -> Iterator[Sizes]:
        """List shapes that ask for one size, or for leaf groups and the whole job.

        The whole job is in a group of the lowest level that has room for it.
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
        """Look level by level for the smallest size that costs nothing.

        Levels above ask for as much as fits. Returns all that was compared.
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
        """List what may be asked for in the next level: nothing or more hosts."""
        least = max(below, default=1)
        more = [size for size in divisors(self._hosts) if size % least == 0]
        return [
            1,
            *(size for size in more if size > least and self.fits((*below, size))),
        ]

    def _at(self, level: int, size: int) -> Sizes:
        return tuple(size if each == level else 1 for each in range(self._depth))
