# SPDX-License-Identifier: BSD-3-Clause
"""The alias method compared with exact search, for few ranks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

import topoloom as tl

INFINITE = 10**9


class OptimalCounts(NamedTuple):
    """The alias method compared with the optimum for a number of ranks.

    Attributes
    ----------
    ranks
        Number of ranks.
    draws
        Number of random loads.
    receives
        Draws in which a rank receives no more messages than in the best plan.
    largest
        Draws in which the largest message equals that of the best plan with one message
        per receiver.
    ratio, worst
        Number of messages over the minimum: mean and maximum.
    exact
        Mean ratio with ``remainder=exact``.
    """

    ranks: int
    draws: int
    receives: int
    largest: int
    ratio: float
    worst: float
    exact: float


def search(ranks: int, draws: int) -> OptimalCounts:
    """Draw loads whose sum is divisible by the number of ranks, and compare."""
    rng = np.random.default_rng(ranks)
    receives = largest = 0
    ratios, exact = [], []
    for _ in range(draws):
        loads = rng.integers(0, 12, ranks)
        loads[rng.integers(ranks)] += -loads.sum() % ranks
        found = tl.tasks.balance(loads, method="alias").measures
        excess = [int(e) for e in loads - loads.sum() // ranks if e]
        fewest = fewest_messages(excess)
        receives += found["max_receives"] == min(1, fewest)
        largest += found["max_tasks_received"] == least_largest_message(excess)
        if fewest:
            ratios.append(found["messages"] / fewest)
            short = tl.tasks.balance(loads, method="alias(remainder=exact)").measures
            exact.append(short["messages"] / fewest)
    return OptimalCounts(
        ranks,
        draws,
        receives,
        largest,
        float(np.mean(ratios)),
        float(np.max(ratios)),
        float(np.mean(exact)),
    )


def fewest_messages(excess: list[int]) -> int:
    """Count the messages of the best plan: ranks minus the number of balanced groups.

    A group of g ranks needs g - 1 messages; all subsets are tried as groups.
    """
    full = (1 << len(excess)) - 1
    sums = _sum_subsets(excess)
    groups = [0] * (full + 1)
    for chosen in range(1, full + 1):
        rest = chosen
        best = 0
        while rest:
            low = rest & -rest
            best = max(best, groups[chosen ^ low])
            rest ^= low
        groups[chosen] = best + (sums[chosen] == 0)
    return len(excess) - groups[full]


def least_largest_message(excess: list[int]) -> int:
    """Compute the minimum largest message of plans with one message per receiver.

    Such a plan is a forest: the message to a rank carries what all ranks below the rank
    lack. All forests are tried, by subsets.
    """
    full = (1 << len(excess)) - 1
    sums = _sum_subsets(excess)
    below = [0] + [INFINITE] * full  # set of trees, including the messages to them
    tree = [INFINITE] * (full + 1)  # one tree, including the message to its root
    alone = [0] + [INFINITE] * full  # set divided into balanced trees
    for chosen in range(1, full + 1):
        rest, best = chosen, INFINITE
        while rest:
            low = rest & -rest
            best = min(best, below[chosen ^ low])
            rest ^= low
        if sums[chosen] < 0:
            tree[chosen] = max(best, -sums[chosen])
        balanced = best if sums[chosen] == 0 else INFINITE
        first = chosen & -chosen
        part = chosen
        below_best, alone_best = INFINITE, balanced
        while part:
            if part & first:
                others = chosen ^ part
                below_best = min(below_best, max(tree[part], below[others]))
            part = (part - 1) & chosen
        below[chosen] = below_best
        alone[chosen] = alone_best
    return alone[full]


def _sum_subsets(excess: list[int]) -> list[int]:
    sums = [0] * (1 << len(excess))
    for chosen in range(1, len(sums)):
        low = chosen & -chosen
        sums[chosen] = sums[chosen ^ low] + excess[low.bit_length() - 1]
    return sums
