# SPDX-License-Identifier: BSD-3-Clause
"""Predicts times of a job by shape, the sizes of its host segments.

A shape has one size for each level, from leaf groups up: the number of consecutive
hosts that share a group of the level. A size of 1 requests nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from topoloom.nodes.hosts import Ids
from topoloom.tasks.machines.nested_segments import (
    HostGroups,
    count_fitting_hosts,
    list_nested_placements,
)
from topoloom.tasks.machines.segment_places import list_segment_hosts

#: A size is near the best if the job takes at most this share longer.
NEAR = 0.01

Sizes = tuple[int, ...]


def list_divisors(number: int) -> list[int]:
    """List the divisors of a number in ascending order."""
    return [each for each in range(1, number + 1) if number % each == 0]


class ShapeTimes:
    """Predicted time of each shape: the worst time over several placements of the job.

    Parameters
    ----------
    levels
        The hosts and their groups.
    hosts
        The number of hosts of the job.
    time
        Predicts the time of the job on hosts in rank order.
    progress
        Called before each shape with the number of finished shapes, and this number +
        1.
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
        # Every placement with multiples of these sizes is also a placement of this
        # shape.
        worst = max(
            (
                taken
                for known, taken in self._known.items()
                if all(a % b == 0 for a, b in zip(known, sizes, strict=True))
            ),
            default=0.0,
        )
        for places in list_nested_placements(self._levels, sizes, self._hosts):
            chosen = list_segment_hosts(self._levels.leaves, places, sizes[0])
            worst = max(worst, self._time(chosen))
        self._known[sizes] = worst
        return worst

    def fits(self, sizes: Sequence[int]) -> bool:
        """Return whether a job with these sizes at the lowest levels fits."""
        filled = (*sizes, *[1] * (self._depth - len(sizes)))
        return count_fitting_hosts(self._levels, filled) >= self._hosts

    def extend_sizes(self, sizes: Sizes) -> Sizes:
        """Extend `sizes` with the largest fitting size of each higher level."""
        while len(sizes) < self._depth:
            sizes = (*sizes, max(self._list_next_sizes(sizes)))
        return sizes

    def list_plain_shapes(self) -> Iterator[Sizes]:
        """Yield shapes with one size, or with a leaf size and the size of the job.

        The size of the job is requested at the lowest sufficient level.
        """
        sizes = list_divisors(self._hosts)[::-1]
        for level in range(1, self._depth):
            single = [
                self._make_shape(level, size) for size in sizes if size < self._hosts
            ]
            yield from filter(self.fits, single)
        for level in range(1, self._depth):
            if self.fits(self._make_shape(level, self._hosts)):
                whole = [
                    (size, *self._make_shape(level, self._hosts)[1:]) for size in sizes
                ]
                yield from filter(self.fits, whole)
                return

    def find_nested_shapes(self) -> dict[Sizes, float]:
        """Find level by level the smallest size without a loss of time.

        Higher levels have the largest fitting size. Return the times of all compared
        shapes.
        """
        found: dict[Sizes, float] = {}
        below: Sizes = ()
        for _ in range(self._depth):
            shapes = {
                size: self.extend_sizes((*below, size))
                for size in self._list_next_sizes(below)[::-1]
            }
            found |= {shape: self[shape] for shape in shapes.values()}
            near = min(found.values()) * (1 + NEAR)
            enough = [size for size, shape in shapes.items() if found[shape] <= near]
            below = (*below, min(enough))
        return found

    def _list_next_sizes(self, below: Sizes) -> list[int]:
        """List the possible sizes of the next level: 1, or multiples of `below`."""
        least = max(below, default=1)
        more = [size for size in list_divisors(self._hosts) if size % least == 0]
        return [
            1,
            *(size for size in more if size > least and self.fits((*below, size))),
        ]

    def _make_shape(self, level: int, size: int) -> Sizes:
        return tuple(size if each == level else 1 for each in range(self._depth))
