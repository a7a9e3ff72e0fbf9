# SPDX-License-Identifier: BSD-3-Clause
"""Ways in which a scheduler may put segments of hosts into leaf groups.

Which way is worst for a job depends on its axes, and there are too many to try all:
those here keep the groups of an axis together or apart, and some are random. A leaf
switch is busiest where many hosts have all their partners behind other ones, so that
few leaf groups are tried as well as all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from topoloom.nodes.hosts import Ids

#: Random ways for each choice of leaf groups.
_RANDOM = 2


def segment_places(
    room: Sequence[int], segments: int, strides: Sequence[int], seed: int
) -> Iterator[tuple[int, ...]]:
    """Put segments into leaf groups in several ways, each once.

    Parameters
    ----------
    room
        How many segments fit into each leaf group.
    segments
        At most as many as fit in all.
    strides
        How many segments apart neighbors along the axes of a job are.
    seed
        For the random ways.

    Yields
    ------
    The leaf group of every segment, in the order of ranks.
    """
    random = np.random.default_rng(seed)
    seen = set[tuple[int, ...]]()
    for leaves in _chosen(room, segments):
        counts = _spread([room[leaf] for leaf in leaves], segments)
        runs = {1, max(counts), *(each for each in strides if 1 < each < segments)}
        turns = np.arange(segments)
        wanted = [turns // run for run in sorted(runs)]
        wanted.append(turns + turns // len(leaves))
        ways = [_as_wanted(way.tolist(), counts) for way in wanted]
        ways += [random.permutation(ways[0]).tolist() for _ in range(_RANDOM)]
        for way in ways:
            places = tuple(leaves[at] for at in way)
            if places not in seen:
                seen.add(places)
                yield places


def hosts_at(leaves: Sequence[Sequence[int]], places: Sequence[int], size: int) -> Ids:
    """List the hosts of segments of a size, each from the leaf group that it is in."""
    taken = [0] * len(leaves)
    hosts: list[int] = []
    for leaf in places:
        hosts += leaves[leaf][taken[leaf] : taken[leaf] + size]
        taken[leaf] += size
    return np.array(hosts, np.int64)


def _chosen(room: Sequence[int], segments: int) -> list[list[int]]:
    """Choose all leaf groups, the fewest that suffice, and twice as many."""
    largest = sorted(range(len(room)), key=lambda leaf: -room[leaf])
    fits = np.cumsum([room[leaf] for leaf in largest])
    fewest = int(np.searchsorted(fits, segments)) + 1
    usable = [leaf for leaf in largest if room[leaf]]
    found = []
    for count in (len(usable), fewest, 2 * fewest):
        count = min(count, len(usable), segments)
        # Far apart where they suffice, since switches above leaves may be slow, too.
        apart = [usable[k * len(usable) // count] for k in range(count)]
        enough = sum(room[leaf] for leaf in apart) >= segments
        found.append(apart if enough else usable[:count])
    return found


def _spread(room: Sequence[int], segments: int) -> list[int]:
    """Count the segments of each leaf group: one by one where fewest are."""
    counts, left = [0] * len(room), segments
    while left:
        for leaf, most in enumerate(room):
            if counts[leaf] < most and left:
                counts[leaf] += 1
                left -= 1
    return counts


def _as_wanted(wanted: Sequence[int], counts: Sequence[int]) -> list[int]:
    """Give each segment the leaf group it wants, or the next that is not full."""
    left, found = list(counts), []
    for want in wanted:
        leaf = want % len(left)
        while not left[leaf]:
            leaf = (leaf + 1) % len(left)
        left[leaf] -= 1
        found.append(leaf)
    return found
