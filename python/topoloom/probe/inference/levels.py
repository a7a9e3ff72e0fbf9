# SPDX-License-Identifier: BSD-3-Clause
"""Levels of a machine: sets of rank pairs that are comparable."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from topoloom.probe.inference.groups import RankGroup, name_level
from topoloom.probe.inference.pair_costs import (
    Numbers,
    SomeCosts,
    select_measured_pairs,
)

Pair = tuple[int, int]
#: Maximum number of candidate pairs in each group.
_MAX_CANDIDATES = 256


@dataclass(frozen=True)
class Level:
    """A level: all pairs whose smallest common groups are comparable."""

    name: str  # name of the level
    groups: tuple[
        RankGroup, ...
    ]  # the smallest groups that contain both ranks of a pair
    median: float  # median one-way seconds of a message in the scan


def find_levels(root: RankGroup, costs: SomeCosts) -> list[Level]:
    """Find the levels that have measured pairs, the fastest first."""
    by_name: dict[str, list[RankGroup]] = {}
    for group in root.all_groups():
        if len(group.ranks) > 1:
            by_name.setdefault(name_level(group), []).append(group)
    levels = []
    for name, groups in by_name.items():
        known = np.concatenate(
            [select_measured_pairs(group, costs)[1] for group in groups]
        )
        if len(known):
            levels.append(Level(name, tuple(groups), float(np.median(known))))
    return sorted(levels, key=lambda level: level.median)


def make_neighbor_level(
    root: RankGroup, first: Sequence[int], links: Sequence[Pair], costs: SomeCosts
) -> Level:
    """Build the level of directly linked hosts, in a network without switches.

    `first`: the first rank of each host. `links`: pairs of hosts.
    """
    known = [costs[first[a], first[b]] for a, b in links]
    return Level("between neighbors", (root,), float(np.median(known)))


def choose_neighbor_pairs(
    first: Sequence[int],
    links: Sequence[Pair],
    level: Level,
    costs: SomeCosts,
    count: int,
) -> list[Pair]:
    """Choose pairs of neighboring hosts whose times are typical."""
    pairs = [(first[a], first[b]) for a, b in links]
    return sorted(pairs, key=lambda pair: abs(costs[pair] / level.median - 1))[:count]


def choose_typical_pairs(
    level: Level,
    costs: SomeCosts,
    count: int,
    slow: Callable[[Numbers, Numbers], NDArray[np.bool_]] | None = None,
) -> list[Pair]:
    """Choose disjoint pairs whose times are typical of their level.

    `slow` returns a mask of pairs that are avoided if alternatives exist.
    """
    measured = [select_measured_pairs(group, costs) for group in level.groups]
    if slow is not None:
        usual = [~slow(own[:, 0], own[:, 1]) for own, _ in measured]
        if any(each.any() for each in usual):
            measured = [
                (own[each], seconds[each])
                for (own, seconds), each in zip(measured, usual, strict=True)
            ]
    near: list[list[tuple[float, Pair]]] = []
    for own, seconds in measured:
        if len(own):
            apart = np.abs(seconds / level.median - 1)
            best = np.lexsort((own[:, 1], own[:, 0], apart))[:_MAX_CANDIDATES]
            known = ((float(apart[n]), (int(own[n, 0]), int(own[n, 1]))) for n in best)
            near.append(list(known))
    near.sort(key=lambda pairs: pairs[0])
    chosen: list[Pair] = []
    used: set[int] = set()
    while near and len(chosen) < count:
        for pairs in near:
            fresh = [pair for _, pair in pairs if not used & set(pair)]
            if fresh and len(chosen) < count:
                chosen.append(fresh[0])
                used |= set(fresh[0])
        if not any(not used & set(pair) for pairs in near for _, pair in pairs):
            break
    return chosen or [near[0][0][1]]
