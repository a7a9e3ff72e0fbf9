# SPDX-License-Identifier: BSD-3-Clause
"""Ways to put a job into leaf groups whose segments are also under few switches.

Sizes count the hosts that are to be in one group, for each level from leaf groups up;
1 asks for nothing. Hosts of a larger size are segments of the smaller one, so that each
size is a multiple of those before it that ask for something.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from topoloom.nodes.hosts import Ids
from topoloom.tasks.machines.segment_places import segment_places


class Levels(NamedTuple):
    """The hosts of a cluster and what they are in.

    Attributes
    ----------
    leaves
        The hosts of each leaf group.
    above
        For each level above, the lowest first: the group that each leaf group is in.
    strides
        How many hosts apart neighbors along the axes of a job are.
    seed
        For ways that are random.
    """

    leaves: Sequence[Sequence[int]]
    above: Sequence[Ids]
    strides: Sequence[int]
    seed: int


class _Step(NamedTuple):
    """A level that asks for something: its groups by leaf group, and its size."""

    group: Ids
    size: int


def room_for(levels: Levels, sizes: Sequence[int]) -> int:
    """Count the hosts that fit where all sizes are kept."""
    steps = _steps(levels, sizes)
    everywhere = np.arange(len(levels.leaves))
    return _capacity(levels, steps, everywhere) * steps[-1].size


def nested_places(
    levels: Levels, sizes: Sequence[int], hosts: int
) -> Iterator[tuple[int, ...]]:
    """Put a job into leaf groups in several ways.

    The ways of each level are those of `segment_places`; of two levels not all pairs
    are tried, but all ways of each beside the first of the other.

    Yields
    ------
    The leaf group of every segment of the first size, in the order of ranks.
    """
    steps = _steps(levels, sizes)
    everywhere = np.arange(len(levels.leaves))
    yield from _places(levels, steps, everywhere, hosts // steps[-1].size)


def _steps(levels: Levels, sizes: Sequence[int]) -> list[_Step]:
    steps = [_Step(np.arange(len(levels.leaves)), sizes[0])]
    for group, size in zip(levels.above, sizes[1:], strict=True):
        if size > steps[-1].size:
            steps.append(_Step(group, size))
    return steps


def _capacity(levels: Levels, steps: Sequence[_Step], inside: Ids) -> int:
    """Count the segments of the last step that fit into some leaf groups."""
    return sum(_rooms(levels, steps, inside).values())


def _rooms(levels: Levels, steps: Sequence[_Step], inside: Ids) -> dict[int, int]:
    """Count the segments of the last step that fit, by its groups."""
    *lower, last = steps
    if not lower:
        return {leaf: len(levels.leaves[leaf]) // last.size for leaf in inside.tolist()}
    each = last.size // lower[-1].size
    return {
        group: _capacity(levels, lower, _within(last, inside, group)) // each
        for group in np.unique(last.group[inside]).tolist()
    }


def _within(step: _Step, inside: Ids, group: int) -> Ids:
    """Keep the leaf groups that are in a group."""
    own: Ids = inside[step.group[inside] == group]
    return own


def _places(
    levels: Levels, steps: Sequence[_Step], inside: Ids, segments: int
) -> Iterator[tuple[int, ...]]:
    *lower, last = steps
    rooms = _rooms(levels, steps, inside)
    groups = list(rooms)
    strides = [stride // last.size for stride in levels.strides]
    ways = segment_places(list(rooms.values()), segments, strides, levels.seed)
    outer = [tuple(groups[at] for at in way) for way in ways]
    if not lower:
        yield from outer
        return
    each = last.size // lower[-1].size
    turns, turn = 1, 0
    while turn < turns:
        for way in outer if turn == 0 else outer[:1]:
            filled = {}
            for group in set(way):
                own, count = _within(last, inside, group), way.count(group) * each
                inner = list(_places(levels, lower, own, count))
                turns = max(turns, len(inner))
                filled[group] = iter(inner[turn % len(inner)])
            yield tuple(next(filled[group]) for group in way for _ in range(each))
        turn += 1
