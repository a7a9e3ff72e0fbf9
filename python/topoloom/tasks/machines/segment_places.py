# SPDX-License-Identifier: BSD-3-Clause
"""Lists ways in which a scheduler may place segments of hosts in leaf groups.

The worst way for a job depends on its axes, and not all ways can be tried. The ways
here keep the groups of an axis together or apart; some are random. A leaf switch is
busiest if many of its hosts have all partners behind other switches. Therefore ways
with few leaf groups are tried in addition to ways with all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from topoloom.nodes.hosts import Ids

#: Number of random ways for each choice of leaf groups.
_RANDOM = 2


def list_segment_places(
    capacity: Sequence[int], segments: int, strides: Sequence[int], seed: int
) -> Iterator[tuple[int, ...]]:
    """Yield different ways to place segments in leaf groups.

    Parameters
    ----------
    capacity
        Number of segments that fit into each leaf group.
    segments
        Number of segments, at most the sum of `capacity`.
    strides
        Distances in segments between neighbors along the axes of a job.
    seed
        Seed of the random ways.

    Yields
    ------
    The leaf group of every segment, in rank order.
    """
    random = np.random.default_rng(seed)
    seen = set[tuple[int, ...]]()
    for leaves in _choose_leaves(capacity, segments):
        counts = _distribute_segments([capacity[leaf] for leaf in leaves], segments)
        runs = {1, max(counts), *(each for each in strides if 1 < each < segments)}
        turns = np.arange(segments)
        wanted = [turns // run for run in sorted(runs)]
        wanted.append(turns + turns // len(leaves))
        ways = [_assign_leaves(way.tolist(), counts) for way in wanted]
        ways += [random.permutation(ways[0]).tolist() for _ in range(_RANDOM)]
        for way in ways:
            places = tuple(leaves[at] for at in way)
            if places not in seen:
                seen.add(places)
                yield places


def list_segment_hosts(
    leaves: Sequence[Sequence[int]], places: Sequence[int], size: int
) -> Ids:
    """List the hosts of all segments: `size` hosts each, from its leaf group."""
    taken = [0] * len(leaves)
    hosts: list[int] = []
    for leaf in places:
        hosts += leaves[leaf][taken[leaf] : taken[leaf] + size]
        taken[leaf] += size
    return np.array(hosts, np.int64)


def _choose_leaves(capacity: Sequence[int], segments: int) -> list[list[int]]:
    """Choose three sets of leaf groups: all, the fewest possible, twice as many."""
    largest = sorted(range(len(capacity)), key=lambda leaf: -capacity[leaf])
    fits = np.cumsum([capacity[leaf] for leaf in largest])
    fewest = int(np.searchsorted(fits, segments)) + 1
    usable = [leaf for leaf in largest if capacity[leaf]]
    found = []
    for count in (len(usable), fewest, 2 * fewest):
        count = min(count, len(usable), segments)
        # Space leaf groups evenly, if they suffice, so that messages also cross upper
        # switches.
        apart = [usable[k * len(usable) // count] for k in range(count)]
        enough = sum(capacity[leaf] for leaf in apart) >= segments
        found.append(apart if enough else usable[:count])
    return found


def _distribute_segments(capacity: Sequence[int], segments: int) -> list[int]:
    """Distribute segments over leaf groups as evenly as possible."""
    counts, left = [0] * len(capacity), segments
    while left:
        for leaf, most in enumerate(capacity):
            if counts[leaf] < most and left:
                counts[leaf] += 1
                left -= 1
    return counts


def _assign_leaves(wanted: Sequence[int], counts: Sequence[int]) -> list[int]:
    """Assign each segment its preferred leaf group, or the next that is not full."""
    left, found = list(counts), []
    for want in wanted:
        leaf = want % len(left)
        while not left[leaf]:
            leaf = (leaf + 1) % len(left)
        left[leaf] -= 1
        found.append(leaf)
    return found
