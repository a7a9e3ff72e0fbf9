# SPDX-License-Identifier: BSD-3-Clause
"""Messages between ranks as four arrays."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topoloom._core import CommGraph

Ints = NDArray[np.int64]


class Messages(NamedTuple):
    """Directed messages; equal pairs may occur several times until `summed`.

    Attributes
    ----------
    source, target
        int64 arrays of ranks.
    bytes, messages
        int64 arrays: the sum of the bytes and the number of messages of each entry.
    """

    source: Ints
    target: Ints
    bytes: Ints
    messages: Ints

    def times(self, count: int) -> Messages:
        """Repeat every message `count` times."""
        return self._replace(bytes=self.bytes * count, messages=self.messages * count)

    def renamed(self, names: ArrayLike) -> Messages:
        """Replace rank i by ``names[i]``, as a communicator does."""
        name_of = np.asarray(names, dtype=np.int64)
        return self._replace(source=name_of[self.source], target=name_of[self.target])

    def summed(self) -> Messages:
        """Sort by source and target and add up entries of the same pair."""
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
        """Make the communication graph of messages that are summed up."""
        source, target = self.source.astype(np.uint32), self.target.astype(np.uint32)
        return CommGraph.from_edges(ranks, source, target, self.bytes, self.messages)


def messages(
    source: ArrayLike, target: ArrayLike, bytes: Any, count: Any = 1
) -> Messages:
    """Make messages from arrays or numbers that broadcast; each entry `count` times."""
    arrays = np.broadcast_arrays(
        *(np.asarray(part, dtype=np.int64) for part in (source, target, bytes, count))
    )
    return Messages(*(np.ravel(array) for array in arrays))


def joined(parts: Iterable[Messages]) -> Messages:
    """Concatenate several sets of messages."""
    several = list(parts)
    if not several:
        return messages([], [], [])
    return Messages(*(np.concatenate(column) for column in zip(*several, strict=True)))
