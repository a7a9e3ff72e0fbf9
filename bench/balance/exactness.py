# SPDX-License-Identifier: BSD-3-Clause
"""Guarantees of balancers, on ten million random loads."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

import topoloom as tl

#: Numbers of ranks, and how many random loads are drawn for each.
SIZES = {2: 2000, 3: 2000, 7: 2000, 16: 2000, 100: 2000, 1000: 750, 10_000: 100}
SIZES |= {100_000: 30, 1_000_000: 5}


class GuaranteeCheck(NamedTuple):
    """Guarantees of a balancer, and violations.

    Attributes
    ----------
    method
        The balancer.
    below
        How far a final load may be below the ceiling of the mean.
    receives
        Allowed number of senders per receiver; 0: any number.
    loads, draws
        Numbers of random loads and of draws.
    broken
        Draws that violated a guarantee.
    least
        How far the smallest final load was below the ceiling.
    """

    method: str
    below: int
    receives: int
    loads: int
    draws: int
    broken: int
    least: int


#: balancer -> (allowed difference below the ceiling, allowed senders per receiver)
PROMISES = {
    "alias": (2, 1),
    "alias(remainder=exact)": (1, 1),
    "qwalk": (1, 0),
}


def check(every: int = 1) -> list[GuaranteeCheck]:
    """Draw loads, balance them by each method, and count violations."""
    found = []
    for method, (below, receives) in PROMISES.items():
        rng = np.random.default_rng(1)
        loads_drawn = draws = broken = least = 0
        for size, times in SIZES.items():
            for draw in range(0, times, every):
                loads = rng.integers(0, rng.integers(2, 50), size)
                if draw % 2:  # make the sum divisible by the number of ranks
                    loads[rng.integers(size)] += -loads.sum() % size
                loads_drawn += size
                draws += 1
                depth, kept = _balance_or_fail(loads, method, below, receives)
                least = max(least, depth)
                broken += not kept
        kept_all = GuaranteeCheck(
            method, below, receives, loads_drawn, draws, broken, least
        )
        found.append(kept_all)
    return found


def _balance_or_fail(
    loads: np.ndarray, method: str, below: int, receives: int
) -> tuple[int, bool]:
    """Execute a plan; return loads' depth below the ceiling, and if guarantees hold."""
    size = len(loads)
    source, target, tasks = tl.tasks.balance(loads, method=method).plan.T
    ends = loads.copy()
    np.subtract.at(ends, source, tasks)
    np.add.at(ends, target, tasks)
    ceiling = -(-int(loads.sum()) // size)
    depth = ceiling - int(ends.min())
    most = int(np.bincount(target, minlength=1).max()) if len(target) else 0
    given = np.bincount(source, tasks, size) if len(source) else np.zeros(size)
    kept = (
        int(ends.max()) <= ceiling
        and depth <= (below if loads.sum() % size else 0)
        and len(source) <= size - 1
        and (not receives or most <= receives)
        and bool((given <= loads).all())
        and int(ends.sum()) == int(loads.sum())
    )
    return depth, kept
