# SPDX-License-Identifier: BSD-3-Clause
"""Assigns ranks, or blocks of consecutive ranks, to nodes in turn."""

from __future__ import annotations

from collections.abc import Sequence

#: The ranks of each node.
Rows = list[list[int]]


def deal_blocks(counts: Sequence[int], size: int) -> Rows:
    """Assign ranks to nodes in turn, in blocks of `size`.

    >>> deal_blocks([3, 1, 2], 2)
    [[0, 1, 5], [2], [3, 4]]
    """
    rows: Rows = [[] for _ in counts]
    rank, open_nodes = 0, [node for node, count in enumerate(counts) if count]
    while open_nodes:
        for node in open_nodes:
            block = min(size, counts[node] - len(rows[node]))
            rows[node] += range(rank, rank + block)
            rank += block
        open_nodes = [node for node in open_nodes if len(rows[node]) < counts[node]]
    return rows


def count_ranks_in_turn(room: Sequence[int], ranks: int, size: int = 1) -> list[int]:
    """Count the ranks of nodes that get one rank, then blocks of `size` in turn.

    >>> count_ranks_in_turn([4, 1, 1], 6, 2)
    [4, 1, 1]
    """
    counts = [0] * len(room)
    left = ranks - _add(counts, room, ranks, 1)
    left -= _add(counts, room, left, size - 1)
    while left:
        left -= _add(counts, room, left, size)
    return counts


def _add(counts: list[int], room: Sequence[int], ranks: int, block: int) -> int:
    """Add up to `block` of the ranks to each node in turn; return their number."""
    added = 0
    for node, most in enumerate(room):
        count = min(block, most - counts[node], ranks - added)
        counts[node] += count
        added += count
    return added
