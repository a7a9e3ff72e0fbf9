# SPDX-License-Identifier: BSD-3-Clause
"""Long reductions: reduce-scatter by recursive halving, then gather or allgather.

R. Rabenseifner, "Optimization of collective reduction operations", ICCS 2004, in
MPICH's order: nearest partners first, with the larger halves.
"""

from __future__ import annotations

import numpy as np

from topoloom.graphs.collectives.blocks import Fold, fold, last_takes_rest_sums
from topoloom.graphs.collectives.messages import Ints, Messages, joined, messages


def _halved(folded: Fold, before: Ints) -> tuple[Messages, Ints]:
    """Exchange halves; return the messages and the block each number is left with."""
    number = np.arange(folded.power)
    first = np.zeros_like(number)
    blocks = folded.power
    parts = []
    distance = 1
    while distance < folded.power:
        blocks //= 2
        keeps_lower = (number & distance) == 0
        sent = np.where(keeps_lower, first + blocks, first)
        piece = before[sent + blocks] - before[sent]
        parts.append(messages(folded.old(number), folded.old(number ^ distance), piece))
        first = np.where(keeps_lower, first, first + blocks)
        distance *= 2
    return joined(parts), first


def reduce_rabenseifner(size: int, bytes: int, root: int) -> Messages:
    """Halve, then gather the blocks to the root along a binomial tree."""
    folded = fold(size, odd_stays=False)
    before = last_takes_rest_sums(bytes, folded.power)
    halved, first = _halved(folded, before)
    parts = [folded.hand_over(bytes), halved]
    ranks = folded.old(np.arange(folded.power))
    if root >= 2 * folded.extra:
        new_root = root - folded.extra
    elif root % 2 == 0:
        new_root = root // 2
    else:
        # The root sits out: it takes the place of number 0, whose block it is sent.
        new_root = 0
        parts.append(messages(int(ranks[0]), root, before[1] - before[0]))
        ranks[0] = root
    holders = np.arange(folded.power)
    blocks = 1
    for level in reversed(range(folded.power.bit_length() - 1)):
        stays = (holders >> level & 1) == (new_root >> level & 1)
        senders = holders[~stays]
        receivers = senders ^ (1 << level)
        piece = before[first[senders] + blocks] - before[first[senders]]
        parts.append(messages(ranks[senders], ranks[receivers], piece))
        first[receivers] = np.minimum(first[receivers], first[senders])
        holders = holders[stays]
        blocks *= 2
    return joined(parts)


def allreduce_rabenseifner(size: int, bytes: int, root: int) -> Messages:
    """Halve, then send everything the same way back."""
    folded = fold(size, odd_stays=True)
    halved, _ = _halved(folded, last_takes_rest_sums(bytes, folded.power))
    back = halved._replace(source=halved.target, target=halved.source)
    over, out = folded.hand_over(bytes), folded.hand_back(bytes)
    return joined([over, halved, back, out])
