# SPDX-License-Identifier: BSD-3-Clause
"""Places segments of a job into leaf groups and into groups of higher levels.

A size is the number of consecutive hosts that share one group of a level. Sizes are
listed from leaf groups up; a size of 1 requests nothing. Each size above 1 is a
multiple of the sizes before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from topoloom.nodes.hosts import Ids
from topoloom.tasks.machines.segment_places import list_segment_places


class HostGroups(NamedTuple):
    """The hosts of a cluster and their groups by level.

    Attributes
    ----------
    leaves
        The hosts of each leaf group.
    above
        For each level above leaf groups, from the lowest: the group that contains each
        leaf group.
    strides
        Distances in hosts between neighbors along the axes of a job.
    seed
        Seed of the random placements.
    """

    leaves: Sequence[Sequence[int]]
    above: Sequence[Ids]
    strides: Sequence[int]
    seed: int


class _Level(NamedTuple):
    """A level's requested size, and the group that contains each leaf group."""

    group: Ids
    size: int


def count_fitting_hosts(cluster: HostGroups, sizes: Sequence[int]) -> int:
    """Count the hosts that a job with the requested sizes can use."""
    requested = _list_requested_levels(cluster, sizes)
    all_leaves = np.arange(len(cluster.leaves))
    return _count_segments(cluster, requested, all_leaves) * requested[-1].size


def list_nested_placements(
    cluster: HostGroups, sizes: Sequence[int], hosts: int
) -> Iterator[tuple[int, ...]]:
    """Yield several placements of a job's segments on leaf groups.

    At each level, `list_segment_places` places segments. With two levels, all choices
    at each level are combined with the first placement at the other level.

    Yields
    ------
    The leaf group of every segment of the first size, in rank order.
    """
    requested = _list_requested_levels(cluster, sizes)
    all_leaves = np.arange(len(cluster.leaves))
    yield from _list_placements(
        cluster, requested, all_leaves, hosts // requested[-1].size
    )


def _list_requested_levels(cluster: HostGroups, sizes: Sequence[int]) -> list[_Level]:
    requested = [_Level(np.arange(len(cluster.leaves)), sizes[0])]
    for group, size in zip(cluster.above, sizes[1:], strict=True):
        if size > requested[-1].size:
            requested.append(_Level(group, size))
    return requested


def _count_segments(
    cluster: HostGroups, requested: Sequence[_Level], inside: Ids
) -> int:
    """Count the segments of the highest level that fit into leaf groups `inside`."""
    return sum(_count_segments_by_group(cluster, requested, inside).values())


def _count_segments_by_group(
    cluster: HostGroups, requested: Sequence[_Level], inside: Ids
) -> dict[int, int]:
    """Count the segments of the highest level that fit into each of its groups."""
    *lower, last = requested
    if not lower:
        return {
            leaf: len(cluster.leaves[leaf]) // last.size for leaf in inside.tolist()
        }
    each = last.size // lower[-1].size
    return {
        group: _count_segments(cluster, lower, _select_leaves(last, inside, group))
        // each
        for group in np.unique(last.group[inside]).tolist()
    }


def _select_leaves(level: _Level, inside: Ids, group: int) -> Ids:
    """Select the leaf groups that belong to a group."""
    own: Ids = inside[level.group[inside] == group]
    return own


def _list_placements(
    cluster: HostGroups, requested: Sequence[_Level], inside: Ids, segments: int
) -> Iterator[tuple[int, ...]]:
    *lower, last = requested
    capacities = _count_segments_by_group(cluster, requested, inside)
    groups = list(capacities)
    strides = [stride // last.size for stride in cluster.strides]
    ways = list_segment_places(
        list(capacities.values()), segments, strides, cluster.seed
    )
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
                own, count = (
                    _select_leaves(last, inside, group),
                    way.count(group) * each,
                )
                inner = list(_list_placements(cluster, lower, own, count))
                turns = max(turns, len(inner))
                filled[group] = iter(inner[turn % len(inner)])
            yield tuple(next(filled[group]) for group in way for _ in range(each))
        turn += 1
