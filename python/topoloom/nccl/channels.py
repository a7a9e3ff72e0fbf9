# SPDX-License-Identifier: BSD-3-Clause
"""The rings and trees of NCCL's channels.

A ring passes node after node, in each by the order of the channel. A tree is a chain
in each node and one of two binary trees over the nodes, so that who passes data on in
the one tree is mostly a leaf of the other (Sanders, Speck, Träff: Two-tree algorithms
for full bandwidth broadcast, reduction and scan, Parallel Computing 35(12), 2009).
Half of the channels use the first tree, half the second.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

from topoloom.nccl.communicator import Communicator


class TreeNode(NamedTuple):
    """A node's neighbors in a binary tree over nodes; None where there is none.

    Attributes
    ----------
    parent
        Above it.
    lower, upper
        The children, numbered before and after it as the tree counts.
    is_lower
        Whether it is its parent's lower child.
    """

    parent: int | None
    lower: int | None
    upper: int | None
    is_lower: bool


class Tree(NamedTuple):
    """A channel's tree: ``up[rank]`` is its parent or -1, ``down[rank]`` children."""

    up: list[int]
    down: list[list[int]]


def binary_tree(count: int) -> list[TreeNode]:
    """Make the in-order tree over nodes 0 to ``count - 1``.

    The lowest set bit of a number is its height: the parent has the next bit in its
    place, or, where there is no such node, none there. So 0 is above all.
    """
    parents: list[int | None] = [None]
    for node in range(1, count):
        low = node & -node
        above = (node - low) | (low << 1)
        parents.append(above if above < count else node - low)
    lower: list[int | None] = [None] * count
    upper: list[int | None] = [None] * count
    for node, parent in enumerate(parents):
        if parent is not None:
            (lower if node < parent else upper)[parent] = node
    return [
        TreeNode(parents[node], lower[node], upper[node], node < (parents[node] or 0))
        for node in range(count)
    ]


def double_binary_tree(count: int) -> tuple[list[TreeNode], list[TreeNode]]:
    """Make the tree over nodes and its twin: mirrored, or shifted if nodes are odd."""
    first = binary_tree(count)
    odd = count % 2 == 1

    def twin_of(node: int) -> int:
        return (node - 1) % count if odd else count - 1 - node

    def named(node: int | None) -> int | None:
        if node is None:
            return None
        return (node + 1) % count if odd else count - 1 - node

    second = [
        TreeNode(named(t.parent), named(t.lower), named(t.upper), t.is_lower)
        for t in (first[twin_of(node)] for node in range(count))
    ]
    return first, second


def ring(group: Communicator, channel: int) -> list[int]:
    """Give the ranks of a channel's ring, from rank 0 on, as NCCL prints them."""
    ranks = [
        rank
        for node in range(len(group.nodes))
        for rank in group.ring_order(node, channel)
    ]
    start = ranks.index(0)
    return ranks[start:] + ranks[:start]


def tree(group: Communicator, channel: int) -> Tree:
    """Give the tree of a channel; in `down` the next of the chain comes first."""
    up = [-1] * group.ranks
    down: list[list[int]] = [[] for _ in range(group.ranks)]
    chains = [group.chain_order(n, channel) for n in range(len(group.nodes))]
    for chain in chains:
        for above, below in pairwise(chain):
            up[below] = above
            down[above].append(below)
    twins = double_binary_tree(len(group.nodes))
    for node, place in enumerate(twins[channel // group.paths_per_node % 2]):
        chain = chains[node]
        lower_end = chain[min(group.lower_child_at, len(chain) - 1)]
        for child, end in ((place.lower, lower_end), (place.upper, chain[0])):
            if child is not None:
                up[chains[child][0]] = end
                down[end].append(chains[child][0])
    return Tree(up, down)
