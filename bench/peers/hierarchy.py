# SPDX-License-Identifier: BSD-3-Clause
"""Trees for tools that support only trees: a torus, whole or ragged, as a tree.

Slots are divided recursively at the median of the widest extent, into the prime factors
of their number. A level's distance is the mean distance of the slots that the level
separates. This is our best approximation; the answer is scored on the true machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

from peers.graphs import Ints
from peers.instance import Instance

#: Scale of the mean distances, because tools require integers.
SCALE = 10


@dataclass(frozen=True)
class Tree:
    """A tree over the slots of an allocation, bottom-up.

    Attributes
    ----------
    arities, distances
        As KaHIP's hierarchy and distance strings.
    place
        ``place[i]`` is the allocation's index of the tree's leaf i.
    """

    arities: tuple[int, ...]
    distances: tuple[int, ...]
    place: Ints


def make_tree(instance: Instance) -> Tree:
    """Return the instance's tree, or a tree that approximates its torus."""
    if instance.hierarchy:
        order = np.arange(instance.slots)
        return Tree(instance.hierarchy, instance.distances, order)
    extents = instance.extents
    grid = np.stack(np.unravel_index(instance.slot_ids(), extents), axis=1)
    factors = prime_factors(instance.slots)  # largest first, at the root
    order = _cut_grid(grid, np.arange(instance.slots), factors)
    arities = tuple(reversed(factors)) or (1,)
    return Tree(arities, _count_level_distances(grid[order], extents, arities), order)


def prime_factors(number: int) -> list[int]:
    """Return the prime factors in descending order."""
    found, factor = [], 2
    while number > 1:
        while number % factor == 0:
            found.append(factor)
            number //= factor
        factor += 1
    return found[::-1]


def _cut_grid(grid: Ints, members: Ints, factors: list[int]) -> Ints:
    if not factors:
        return members
    axis = int(np.argmax(np.ptp(grid[members], axis=0)))
    order = members[np.argsort(grid[members, axis], kind="stable")]
    parts = np.split(order, factors[0])
    return np.concatenate([_cut_grid(grid, part, factors[1:]) for part in parts])


def _count_level_distances(
    grid: Ints, extents: tuple[int, ...], arities: tuple[int, ...]
) -> tuple[int, ...]:
    rng = np.random.default_rng(1)
    one, two = rng.integers(0, len(grid), (2, 200_000))
    apart = np.abs(grid[one] - grid[two])
    hops = np.minimum(apart, np.array(extents) - apart).sum(axis=1)
    found: list[int] = []
    for level in range(len(arities)):
        group, within = prod(arities[: level + 1]), prod(arities[:level])
        here = (one // group == two // group) & (one // within != two // within)
        mean = float(hops[here].mean()) if here.any() else 1.0
        found.append(max(1, round(SCALE * mean), *found))
    return tuple(found)
