# SPDX-License-Identifier: BSD-3-Clause
"""Messages between ranks, as arrays."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topoloom._core import CommGraph

Ints = NDArray[np.int64]


class Messages(NamedTuple):
    """Directed messages between pairs of ranks; a pair may have several entries.

    Attributes
    ----------
    source, target
        int64 arrays of ranks.
    bytes, messages
        int64 arrays: total bytes and number of messages of each entry.
    """

    source: Ints
    target: Ints
    bytes: Ints
    messages: Ints

    def times(self, count: int) -> Messages:
        """Return the messages, each sent `count` times."""
        return self._replace(bytes=self.bytes * count, messages=self.messages * count)

    def renumbered(self, ranks: ArrayLike) -> Messages:
        """Replace rank i by ``ranks[i]``, such as its rank in the world."""
        rank_of = np.asarray(ranks, dtype=np.int64)
        return self._replace(source=rank_of[self.source], target=rank_of[self.target])

    def select(self, chosen: NDArray[np.bool_]) -> Messages:
        """Return the entries where `chosen` is true."""
        return Messages(*(values[chosen] for values in self))

    def summed(self) -> Messages:
        """Sort by source and target, and sum entries of the same pair."""
        if not len(self.source):
            return self
        order = np.lexsort((self.target, self.source))
        source, target = self.source[order], self.target[order]
        new = np.ones(len(order), dtype=bool)
        new[1:] = (source[1:] != source[:-1]) | (target[1:] != target[:-1])
        first = np.flatnonzero(new)
        return Messages(
            source[first],
            target[first],
            np.add.reduceat(self.bytes[order], first),
            np.add.reduceat(self.messages[order], first),
        )

    def graph(self, ranks: int) -> CommGraph:
        """Make the communication graph of summed messages."""
        source, target = self.source.astype(np.uint32), self.target.astype(np.uint32)
        return CommGraph.from_edges(ranks, source, target, self.bytes, self.messages)


def make_messages(
    source: ArrayLike, target: ArrayLike, bytes: Any, count: Any = 1
) -> Messages:
    """Make messages from arrays or single numbers, which apply to all messages."""
    arrays = np.broadcast_arrays(
        *(np.asarray(part, dtype=np.int64) for part in (source, target, bytes, count))
    )
    return Messages(*(np.ravel(array) for array in arrays))


def concatenate(parts: Iterable[Messages]) -> Messages:
    """Concatenate sets of messages."""
    several = list(parts)
    if not several:
        return make_messages([], [], [])
    return Messages(*(np.concatenate(column) for column in zip(*several, strict=True)))
