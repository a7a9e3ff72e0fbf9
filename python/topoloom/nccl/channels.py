# SPDX-License-Identifier: BSD-3-Clause
"""Makes the rings and trees of NCCL's channels.

A ring visits node after node, and the GPUs of each node in the channel's order. A tree
has a chain in each node and one of two binary trees over the nodes. Inner nodes of one
tree are mostly leaves of the other tree (Sanders, Speck, Träff: Two-tree algorithms for
full bandwidth broadcast, reduction and scan, Parallel Computing 35(12), 2009). Half of
the channels use the first tree, half use the second.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

from topoloom.nccl.communicator import Communicator


class TreeNode(NamedTuple):
    """The parent and children of a node in a binary tree over nodes; None if absent.

    Attributes
    ----------
    lower, upper
        Children with lower and higher in-order numbers.
    is_lower
        Whether the node is its parent's lower child.
    """

    parent: int | None
    lower: int | None
    upper: int | None
    is_lower: bool


class Tree(NamedTuple):
    """Tree of a channel: ``up[rank]`` is the parent or -1, ``down[rank]`` children."""

    up: list[int]
    down: list[list[int]]


def make_binary_tree(count: int) -> list[TreeNode]:
    """Make the in-order tree over nodes 0 to ``count - 1``.

    The lowest set bit of a node's number determines its height. In the parent's number,
    this bit is clear and the next higher bit is set; if there is no such node, both
    bits are clear. Node 0 is the root.
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


def make_double_binary_tree(count: int) -> tuple[list[TreeNode], list[TreeNode]]:
    """Make a tree and its complement, a mirrored tree, or shifted if `count` is odd."""
    first = make_binary_tree(count)
    odd = count % 2 == 1

    def map_to_first(node: int) -> int:
        return (node - 1) % count if odd else count - 1 - node

    def renumber(node: int | None) -> int | None:
        if node is None:
            return None
        return (node + 1) % count if odd else count - 1 - node

    second = [
        TreeNode(renumber(t.parent), renumber(t.lower), renumber(t.upper), t.is_lower)
        for t in (first[map_to_first(node)] for node in range(count))
    ]
    return first, second


def make_ring(group: Communicator, channel: int) -> list[int]:
    """List the ranks of a channel's ring, starting at rank 0 as NCCL's output does."""
    ranks = [
        rank
        for node in range(len(group.nodes))
        for rank in group.ring_order(node, channel)
    ]
    start = ranks.index(0)
    return ranks[start:] + ranks[:start]


def make_tree(group: Communicator, channel: int) -> Tree:
    """Make the tree of a channel; in `down`, the next rank of the chain is first."""
    up = [-1] * group.ranks
    down: list[list[int]] = [[] for _ in range(group.ranks)]
    chains = [group.chain_order(n, channel) for n in range(len(group.nodes))]
    for chain in chains:
        for above, below in pairwise(chain):
            up[below] = above
            down[above].append(below)
    trees = make_double_binary_tree(len(group.nodes))
    for node, place in enumerate(trees[channel // group.paths_per_node % 2]):
        chain = chains[node]
        lower_end = chain[min(group.lower_child_at, len(chain) - 1)]
        for child, end in ((place.lower, lower_end), (place.upper, chain[0])):
            if child is not None:
                up[chains[child][0]] = end
                down[end].append(chains[child][0])
    return Tree(up, down)
