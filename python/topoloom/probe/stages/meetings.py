# SPDX-License-Identifier: BSD-3-Clause
"""Rounds of disjoint pairs such that any two disjoint pairs are once in the same round.

Such rounds are group tests of all combinations of two pairs. n hosts have 3 C(n, 4)
combinations of two disjoint pairs. A round covers C(n/2, 2) of them, so at least (n -
1)(n - 3) rounds are needed.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Pair = tuple[int, int]
#: Up to this count, numbers are shuffled as a list.
_LISTED = 1 << 20
Round = list[Pair]

#: Maximum number of pairs for the greedy choice, whose memory is quadratic in pairs.
MAX_CHOSEN = 1024
#: Maximum number of hosts.
MAX_HOSTS = 1 << 13
#: Minimal number of hosts for which rounds come from a finite field. Maximum ratio of
#: the number of such rounds to hosts^2, which the greedy choice achieves.
_MANY, _ROUNDS_PER_SQUARE = 16, 1.5
#: Primitive polynomials over GF(2) of degrees 2 to 13, as bits.
_POLYNOMIALS = (
    *(0b111, 0b1011, 0b10011, 0b100101, 0b1000011, 0b10000011, 0b100011101),
    *(0x211, 0x409, 0x805, 0x1053, 0x201B),
)


def yield_all_meetings(hosts: Sequence[int], rng: random.Random) -> Iterator[Round]:
    """Yield rounds in which any two disjoint pairs of hosts meet, in random order.

    Many hosts, or a power of two, are elements of the field GF(q), q = 2^k. Round (t,
    d) has the pairs whose images under x -> 1/(x + t) differ by d. For different a, b,
    c, d, 1/(a+t) + 1/(b+t) = 1/(c+t) + 1/(d+t) is a quadratic equation in t without a
    linear term, which has one solution in characteristic 2. If a+b = c+d, there is
    none, and the pairs meet under the identity instead of 1/(x + t). These are q^2 - 1
    rounds in all.
    """
    count = len(hosts)
    if count < 4:
        return
    degree = (count - 1).bit_length()
    few = count * (count - 1) // 2 <= MAX_CHOSEN
    if few and (count < _MANY or 4**degree > _ROUNDS_PER_SQUARE * count**2):
        chosen = choose_meetings(list(combinations(hosts, 2)))
        rng.shuffle(chosen)
        yield from chosen
        return
    inverse = _compute_inverses(degree)
    elements = np.arange(1 << degree)
    names = np.array(hosts)
    for number in _shuffle(len(elements) ** 2 - 1, rng):
        t, difference = divmod(number, len(elements) - 1)
        image = elements if t == 0 else inverse[elements ^ (t - 1)]
        back = elements if t == 0 else inverse[elements] ^ (t - 1)
        other = back[image[:count] ^ (difference + 1)]
        met = np.flatnonzero((other < count) & (other > elements[:count]))
        if len(met) > 1:
            yield list(
                zip(names[met].tolist(), names[other[met]].tolist(), strict=True)
            )


def _shuffle(count: int, rng: random.Random) -> Iterator[int]:
    """Yield numbers in random order; if there are many, generate them lazily."""
    if count <= _LISTED:
        numbers = list(range(count))
        rng.shuffle(numbers)
        yield from numbers
        return
    seen: set[int] = set()
    while len(seen) < count:
        number = rng.randrange(count)
        if number not in seen:
            seen.add(number)
            yield number


def choose_meetings(pairs: Sequence[Pair]) -> list[Round]:
    """Choose rounds in which any two disjoint pairs of at most `MAX_CHOSEN` meet.

    The choice is greedy: a round begins with the pair that must still meet the most
    other pairs. Then pairs are added that have not met most pairs of the round.
    """
    ends = np.array(pairs).reshape(-1, 2)
    apart = np.ones((len(pairs), len(pairs)), dtype=bool)
    for one in ends.T:
        for other in ends.T:
            apart &= one[:, None] != other[None, :]
    left = apart.copy()
    to_meet = left.sum(1)
    rounds: list[Round] = []
    while to_meet.any():
        chosen = [int(to_meet.argmax())]
        free = apart[chosen[0]].copy()
        gain = left[chosen[0]].astype(np.int64)
        while free.any():
            # On ties, prefer the pair that must still meet more other pairs.
            best = int(np.where(free, gain * (len(pairs) + 1) + to_meet, -1).argmax())
            chosen.append(best)
            free &= apart[best]
            gain += left[best]
        block = np.ix_(chosen, chosen)
        to_meet[chosen] -= left[block].sum(1)
        left[block] = False
        rounds.append([pairs[number] for number in sorted(chosen)])
    return rounds


def _compute_inverses(degree: int) -> NDArray[np.int64]:
    """Return 1/x for each x of GF(2^degree), and 0 for 0."""
    size = 1 << degree
    powers = [1]
    while len(powers) < size - 1:
        next_one = 2 * powers[-1]
        powers.append(next_one ^ (_POLYNOMIALS[degree - 2] if next_one >= size else 0))
    found = np.zeros(size, dtype=np.int64)
    for exponent, value in enumerate(powers):
        found[value] = powers[-exponent % (size - 1)]
    return found
