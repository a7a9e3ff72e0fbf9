# SPDX-License-Identifier: BSD-3-Clause
"""Ranks in groups in groups: hosts by their names, all else by how long messages take.

Groups are those of `topoloom.schedules.find_cost_groups`: C. Karlsson, Optimizing
Multi-dimensional MPI Communications on Multi-core Architectures, 2012, sec. 4.1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoloom._core import CostGroup, find_cost_groups

#: With which probability at most ranks that are alike are split.
P_VALUE = 0.005
#: How many times as long messages take across groups as inside them, at least: rounds
#: in which links are shared make less of a difference than that.
APART = 1.05
#: What a group is.
ALL, GROUP, HOST, PART = "all", "group", "host", "part"

Costs = NDArray[np.float64]


@dataclass(frozen=True)
class RankGroup:
    """Ranks that are nearer to each other than to others.

    Attributes
    ----------
    kind
        `ALL`, a `GROUP` of hosts, a `HOST`, or a `PART` of one.
    ranks
        Ascending.
    groups
        In which it is split.
    evidence
        The groups that the test found inside; empty where they are hosts, or none.
    """

    kind: str
    ranks: tuple[int, ...]
    groups: tuple[RankGroup, ...] = ()
    evidence: tuple[CostGroup, ...] = ()

    def all_groups(self) -> Iterator[RankGroup]:
        """Yield it and all that are inside."""
        yield self
        for group in self.groups:
            yield from group.all_groups()

    def pairs(self) -> Iterator[tuple[int, int]]:
        """Yield the pairs of ranks of which this is the smallest group, lower first."""
        parts = [group.ranks for group in self.groups] or [(r,) for r in self.ranks]
        for number, some in enumerate(parts):
            for others in parts[:number]:
                for a in some:
                    for b in others:
                        yield (a, b) if a < b else (b, a)

    def document(self) -> list[object]:
        """Return the ranks as nested lists."""
        if all(len(group.ranks) == 1 for group in self.groups):
            return list(self.ranks)
        return [group.document() for group in self.groups]


def rank_groups(hosts: Sequence[Sequence[int]], costs: Costs) -> RankGroup:
    """Find all groups.

    Parameters
    ----------
    hosts
        The ranks of each host.
    costs
        Seconds of a message between ranks, of shape ``(ranks, ranks)``; NaN where that
        was not measured.
    """
    inside = [_host(sorted(ranks), costs) for ranks in hosts]
    if len(inside) == 1:
        return inside[0]
    between = _between(hosts, costs)
    return _network(ALL, list(range(len(hosts))), inside, _found(between))


def _host(ranks: list[int], costs: Costs) -> RankGroup:
    own = costs[np.ix_(ranks, ranks)]
    found = _found(own)

    def part(kind: str, members: Sequence[int], groups: Sequence[Split]) -> RankGroup:
        return RankGroup(
            kind,
            tuple(ranks[m] for m in members),
            tuple(part(PART, g.members, g.groups) for g in groups),
            tuple(g.test for g in groups),
        )

    return part(HOST, range(len(ranks)), found)


def _network(
    kind: str,
    members: Sequence[int],
    hosts: Sequence[RankGroup],
    groups: Sequence[Split],
) -> RankGroup:
    parts = [_network(GROUP, g.members, hosts, g.groups) for g in groups]
    ranks = sorted(rank for member in members for rank in hosts[member].ranks)
    below = parts or [hosts[member] for member in members]
    return RankGroup(kind, tuple(ranks), tuple(below), tuple(g.test for g in groups))


class Split(NamedTuple):
    """A group that is far enough from those beside it."""

    members: list[int]
    groups: tuple[Split, ...]
    test: CostGroup


def _found(costs: Costs) -> tuple[Split, ...]:
    known = costs.copy()
    np.fill_diagonal(known, 0)
    if len(costs) < 4 or np.isnan(known).any():
        return ()
    return _far_apart(known, find_cost_groups(known, p=P_VALUE).groups)


def _far_apart(costs: Costs, groups: Sequence[CostGroup]) -> tuple[Split, ...]:
    """Keep what is split by more than `APART`; join levels that are as far apart."""
    if not groups:
        return ()
    splits = [Split(g.members, _far_apart(costs, g.groups), g) for g in groups]
    across = _across(costs, [split.members for split in splits])
    kept: list[Split] = []
    for split in splits:
        below = [part.members for part in split.groups]
        near = bool(below) and across < APART * _across(costs, below)
        kept += split.groups if near else [split]
    inside = [_inside(costs, s.members) for s in kept if not s.groups]
    known = [value for value in inside if not np.isnan(value)]
    if known and across < APART * float(np.median(known)):
        return ()
    return tuple(kept)


def _across(costs: Costs, parts: Sequence[Sequence[int]]) -> float:
    blocks = [
        costs[np.ix_(some, others)].ravel()
        for number, some in enumerate(parts)
        for others in parts[:number]
    ]
    return float(np.median(np.concatenate(blocks)))


def _inside(costs: Costs, members: Sequence[int]) -> float:
    own = costs[np.ix_(members, members)]
    return float(np.median(own[~np.eye(len(members), dtype=bool)])) if len(own) else 0


def _between(hosts: Sequence[Sequence[int]], costs: Costs) -> Costs:
    """Return the median of each two hosts."""
    count = len(hosts)
    if all(len(ranks) == 1 for ranks in hosts):
        order = [ranks[0] for ranks in hosts]
        return costs[np.ix_(order, order)]
    found = np.full((count, count), np.nan)
    for a in range(count):
        for b in range(a):
            block = costs[np.ix_(hosts[a], hosts[b])]
            if not np.isnan(block).all():
                found[a, b] = found[b, a] = np.nanmedian(block)
    return found


def level_name(group: RankGroup) -> str:
    """Name what the pairs of a group have in common, by kind and height."""
    if group.kind == PART or (group.kind == HOST and not group.groups):
        return "inside a host" if group.kind == HOST else "inside a part of a host"
    if group.kind == HOST:
        return "between parts of a host"
    if group.groups and group.groups[0].kind == HOST:
        return "between hosts" if group.kind == ALL else "between hosts of a group"
    below = max(network_height(part) for part in group.groups)
    return f"between groups of level {below}"


def network_height(group: RankGroup) -> int:
    """Levels of the network from hosts up to a group."""
    if group.kind == HOST:
        return 0
    return 1 + max(network_height(part) for part in group.groups)
