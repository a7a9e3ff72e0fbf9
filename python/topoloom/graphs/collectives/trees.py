# SPDX-License-Identifier: BSD-3-Clause
"""Collectives along a binomial tree: one root, log2(size) rounds, size - 1 messages.

Each function takes the number of ranks first. Ranks are counted from the root,
wrapping around; rank r's parent is r without its lowest set bit, and its subtree is
the low_bit(r) ranks from r on.
"""

from __future__ import annotations

import numpy as np

from topoloom.graphs.collectives.blocks import low_bit, rounded_up_sums
from topoloom.graphs.collectives.messages import Ints, Messages, messages


def _children(size: int, root: int) -> tuple[Ints, Ints, Ints]:
    """Return the ranks below the root, counted from it, and the edges' two ends."""
    child = np.arange(1, size)
    parent = child - low_bit(child, size)
    return child, (child + root) % size, (parent + root) % size


def bcast_binomial(size: int, bytes: int, root: int) -> Messages:
    """Send the whole message down the tree."""
    _, child, parent = _children(size, root)
    return messages(parent, child, bytes)


def reduce_binomial(size: int, bytes: int, root: int) -> Messages:
    """Send the whole vector up the tree."""
    _, child, parent = _children(size, root)
    return messages(child, parent, bytes)


def scatter_binomial(size: int, bytes: int, root: int) -> Messages:
    """Send down what the subtree needs; `bytes` is one rank's block."""
    below, child, parent = _children(size, root)
    subtree = np.minimum(low_bit(below, size), size - below)
    return messages(parent, child, subtree * bytes)


def gather_binomial(size: int, bytes: int, root: int) -> Messages:
    """Send up what the subtree has; `bytes` is one rank's block."""
    down = scatter_binomial(size, bytes, root)
    return down._replace(source=down.target, target=down.source)


def scatter_pieces(size: int, bytes: int, root: int) -> Messages:
    """Scatter one message in pieces, the first half of a long broadcast."""
    below, child, parent = _children(size, root)
    before = rounded_up_sums(bytes, size)
    piece = before[np.minimum(below + low_bit(below, size), size)] - before[below]
    sent = piece > 0  # ranks for which nothing is left get no message
    return messages(parent[sent], child[sent], piece[sent])
