# SPDX-License-Identifier: BSD-3-Clause
"""Collectives in which all ranks send in every round: doubling, rings, Bruck, pairs.

Each function takes the number of ranks, the bytes that the table of operations speaks
of, and the root (which only the second half of a broadcast uses).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from topoloom._core import Error
from topoloom.graphs.collectives.blocks import even_sums, fold, rounded_up_sums
from topoloom.graphs.collectives.messages import Ints, Messages, joined, messages

#: pairwise exchanges make size * (size - 1) messages of 32 bytes of memory each
MAX_PAIRS = 5 * 10**7


def barrier_dissemination(size: int, bytes: int, root: int) -> Messages:
    """Signal the rank 1, 2, 4, ... places on."""
    return joined(_rotations(size, lambda distance: 0))


def allreduce_doubling(size: int, bytes: int, root: int) -> Messages:
    """Exchange the whole vector with the partner at distance 1, 2, 4, ..."""
    folded = fold(size, odd_stays=True)
    number = np.arange(folded.power)
    parts = [folded.hand_over(bytes)]
    for distance in _powers_below(folded.power):
        there = folded.old(number ^ distance)
        parts.append(messages(folded.old(number), there, bytes))
    return joined([*parts, folded.hand_back(bytes)])


def scan_doubling(size: int, bytes: int, root: int) -> Messages:
    """Exchange partial results with the partner at distance 1, 2, 4, ..., if any."""
    rank = np.arange(size)
    parts = []
    for distance in _powers_below(size):
        paired = rank[rank ^ distance < size]
        parts.append(messages(paired, paired ^ distance, bytes))
    return joined(parts)


def allgather_doubling(size: int, total: int, root: int) -> Messages:
    """Exchange all one has at distance 1, 2, 4, ...; `size` is a power of two."""
    return _doubled(even_sums(total, size), 0)


def allgather_ring(size: int, total: int, root: int) -> Messages:
    """Pass every block once round the ring."""
    return _ring(even_sums(total, size), 0)


def allgather_bruck(size: int, total: int, root: int) -> Messages:
    """Send the first blocks one has to the rank 1, 2, 4, ... places before (Bruck)."""
    rank = np.arange(size)
    before = even_sums(total, size)
    around = np.concatenate([before, total + before[1:]])
    parts = []
    for distance in _powers_below(size):
        blocks = min(distance, size - distance)
        piece = around[rank + blocks] - around[rank]
        parts.append(messages(rank, (rank - distance) % size, piece))
    return joined(parts)


def bcast_pieces_doubled(size: int, bytes: int, root: int) -> Messages:
    """Collect the scattered pieces of a broadcast by recursive doubling."""
    return _doubled(rounded_up_sums(bytes, size), root)


def bcast_pieces_ring(size: int, bytes: int, root: int) -> Messages:
    """Collect the scattered pieces of a broadcast round a ring."""
    return _ring(rounded_up_sums(bytes, size), root)


def alltoall_bruck(size: int, bytes: int, root: int) -> Messages:
    """Send the blocks whose distance has bit k set 2^k places on (Bruck)."""
    distance = np.arange(size)
    return joined(
        _rotations(size, lambda power: bytes * int(np.sum((distance & power) != 0)))
    )


def alltoall_pairs(size: int, bytes: int, root: int) -> Messages:
    """Send each block straight to its owner."""
    source, target = np.divmod(_pairs(size), size)
    return messages(source, target, bytes)


def reduce_scatter_halving(size: int, total: int, root: int) -> Messages:
    """Exchange halves of what is left, farthest partners first."""
    folded = fold(size, odd_stays=True)
    number = np.arange(folded.power)
    # Number i answers for its own block and for that of the rank that sat out.
    before = even_sums(total, size)
    ends = np.append(0, before[folded.old(number) + 1])
    parts = [folded.hand_over(total)]
    first = np.zeros_like(number)
    distance = folded.power // 2
    while distance > 0:
        keeps_lower = (number & distance) == 0
        sent = np.where(keeps_lower, first + distance, first)
        piece = ends[sent + distance] - ends[sent]
        parts.append(messages(folded.old(number), folded.old(number ^ distance), piece))
        first = np.where(keeps_lower, first, first + distance)
        distance //= 2
    left = 2 * np.arange(folded.extra)
    return joined([*parts, folded.hand_back(before[left + 1] - before[left])])


def reduce_scatter_pairs(size: int, total: int, root: int) -> Messages:
    """Send each block straight to the rank that reduces it."""
    before = even_sums(total, size)
    source, target = np.divmod(_pairs(size), size)
    return messages(source, target, before[target + 1] - before[target])


def _powers_below(size: int) -> list[int]:
    return [1 << k for k in range((size - 1).bit_length())]


def _rotations(size: int, bytes_at: Callable[[int], int]) -> list[Messages]:
    rank = np.arange(size)
    return [
        messages(rank, (rank + distance) % size, bytes_at(distance))
        for distance in _powers_below(size)
    ]


def _doubled(before: Ints, root: int) -> Messages:
    size = len(before) - 1
    rank = np.arange(size)
    parts = []
    for distance in _powers_below(size):
        first = rank // distance * distance
        piece = before[first + distance] - before[first]
        parts.append(messages(rank, rank ^ distance, piece))
    return joined(parts).renamed((rank + root) % size)


def _ring(before: Ints, root: int) -> Messages:
    """Rank r passes on all blocks but the one its neighbor started with."""
    size = len(before) - 1
    rank = np.arange(size)
    following = (rank + 1) % size
    passed = before[-1] - (before[following + 1] - before[following])
    ring = messages(rank, following, passed, size - 1)
    return ring.renamed((rank + root) % size)


def _pairs(size: int) -> Ints:
    if size * (size - 1) > MAX_PAIRS:
        raise Error(
            f"an exchange between all of {size} ranks is {size * (size - 1)} messages, "
            "too many to expand; keep or drop the collectives instead"
        )
    pair: Ints = np.arange(size * size)
    others: Ints = pair[pair // size != pair % size]
    return others
