# SPDX-License-Identifier: BSD-3-Clause
"""How a message is cut into blocks, and how ranks fold onto a power of two.

The small arithmetic that the algorithms of `trees` and `exchanges` share.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from topoloom.graphs.collectives.messages import Ints, Messages, messages


def low_bit(ranks: Ints, size: int) -> Ints:
    """Give the lowest set bit; of rank 0 the power of two that is at least `size`."""
    return np.where(ranks == 0, 1 << (size - 1).bit_length(), ranks & -ranks)


def even_sums(total: int, count: int) -> Ints:
    """Cut into blocks that differ by a byte at most; ``[i]`` = before block i."""
    return np.arange(count + 1) * (total // count) + np.minimum(
        np.arange(count + 1), total % count
    )


def last_takes_rest_sums(total: int, count: int) -> Ints:
    """Cut into equal blocks, the last one with the rest, as MPICH's reductions do."""
    sums = np.arange(count + 1) * (total // count)
    sums[-1] = total
    return sums


def rounded_up_sums(total: int, count: int) -> Ints:
    """Cut into blocks rounded up, the last ones short, as MPICH's bcast does."""
    return np.minimum(np.arange(count + 1) * -(-total // count), total)


class Fold(NamedTuple):
    """The largest power of two of `size` ranks; `extra` of them sit out in pairs.

    Of the first ``2 * extra`` ranks, one of each pair hands its data to the other.
    """

    size: int
    power: int
    extra: int
    odd_stays: bool

    def old(self, new: Ints) -> Ints:
        """Give the rank behind a number among the power of two."""
        stays = 2 * new + (1 if self.odd_stays else 0)
        return np.where(new < self.extra, stays, new + self.extra)

    def hand_over(self, bytes: int | Ints) -> Messages:
        """Give the messages of those that sit out to their partners."""
        pairs = 2 * np.arange(self.extra)
        leaves, stays = (pairs, pairs + 1) if self.odd_stays else (pairs + 1, pairs)
        return messages(leaves, stays, bytes)

    def hand_back(self, bytes: int | Ints) -> Messages:
        """Give the messages back to those that sat out."""
        over = self.hand_over(bytes)
        return over._replace(source=over.target, target=over.source)


def fold(size: int, odd_stays: bool) -> Fold:
    """Fold `size` ranks onto the largest power of two among them."""
    power = 1 << (size.bit_length() - 1)
    return Fold(size, power, size - power, odd_stays)
