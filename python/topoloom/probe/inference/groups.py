# SPDX-License-Identifier: BSD-3-Clause
"""Finds nested groups of ranks: hosts by name, other groups by message times.

Groups are those of `topoloom.schedules.find_cost_groups`: C. Karlsson, Optimizing
Multi-dimensional MPI Communications on Multi-core Architectures, 2012, sec. 4.1. Groups
that are too small for this t-test are split by `splits.find_best_cut`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoloom._core import CostGroup, find_cost_groups
from topoloom.probe.inference.splits import (
    Cut,
    WeightedTimes,
    compute_gain,
    find_best_cut,
    find_outsider,
)

#: Significance level: the probability that ranks are split although they are equal.
P_VALUE = 0.005
#: Minimal ratio of message times across groups to times inside groups. Smaller ratios
#: may only be due to links that concurrent pairs share.
LEVEL_RATIO = 1.05
#: Minimal number of pairs for estimating how much pairs deviate beyond their errors.
_FEW_PAIRS = 30
#: For normal values: standard deviation / median deviation, and standard error of the
#: median / standard error of the mean.
SIGMA, MEDIAN = 1.4826, 1.2533
#: Kinds of groups: all ranks, group of hosts, host, part of a host.
ALL, GROUP, HOST, PART = "all", "group", "host", "part"

Costs = NDArray[np.float64]
Pair = tuple[int, int]


class TimeStatistics(NamedTuple):
    """Statistics of times of pairs in seconds, without outliers; see `CostGroup`."""

    mean: float
    sigma: float
    n: int
    outliers: int = 0


class GroupTest(NamedTuple):
    """Times of pairs inside and into a group, and a t-test that compares them."""

    inside: TimeStatistics
    into: TimeStatistics
    t: float
    p: float


_NONE = TimeStatistics(math.nan, math.nan, 0)
_UNTESTED = GroupTest(_NONE, _NONE, math.nan, 1.0)


@dataclass(frozen=True)
class RankGroup:
    """A set of ranks that are nearer to each other than to others."""

    kind: str  # `ALL`, `GROUP` (of hosts), `HOST`, or `PART` (of a host)
    ranks: tuple[int, ...]  # ascending
    groups: tuple[RankGroup, ...] = ()  # its parts
    #: Test results of the parts that were tested; empty if the parts are hosts, or
    #: there are no parts.
    evidence: tuple[GroupTest, ...] = ()

    def all_groups(self) -> Iterator[RankGroup]:
        """Yield the group and all nested groups."""
        yield self
        for group in self.groups:
            yield from group.all_groups()

    def pairs(self) -> Iterator[tuple[int, int]]:
        """Yield the pairs whose smallest common group is this one, lower rank first."""
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


def find_rank_groups(
    hosts: Sequence[Sequence[int]], costs: Costs, errors: Costs
) -> RankGroup:
    """Find all groups of ranks.

    Parameters
    ----------
    hosts
        The ranks of each host.
    costs
        Seconds of a message between ranks, of shape ``(ranks, ranks)``; NaN if not
        measured.
    errors
        Relative standard errors of costs.
    """
    inside = [_make_host_group(sorted(ranks), costs, errors) for ranks in hosts]
    if len(inside) == 1:
        return inside[0]
    found = _find_splits(*compute_times_between(hosts, costs, errors))
    return _make_network_group(ALL, list(range(len(hosts))), inside, found)


def _make_host_group(ranks: list[int], costs: Costs, errors: Costs) -> RankGroup:
    own = np.ix_(ranks, ranks)
    found = _find_splits(costs[own], errors[own])

    def make_part(
        kind: str, members: Sequence[int], groups: Sequence[Split]
    ) -> RankGroup:
        return RankGroup(
            kind,
            tuple(ranks[m] for m in members),
            tuple(make_part(PART, g.members, g.groups) for g in groups),
            tuple(g.test for g in groups),
        )

    return make_part(HOST, range(len(ranks)), found)


def _make_network_group(
    kind: str,
    members: Sequence[int],
    hosts: Sequence[RankGroup],
    groups: Sequence[Split],
) -> RankGroup:
    parts = [_make_network_group(GROUP, g.members, hosts, g.groups) for g in groups]
    ranks = sorted(rank for member in members for rank in hosts[member].ranks)
    below = parts or [hosts[member] for member in members]
    return RankGroup(kind, tuple(ranks), tuple(below), tuple(g.test for g in groups))


class Split(NamedTuple):
    """A group that differs from its siblings, and the splits inside it."""

    members: list[int]
    groups: tuple[Split, ...]
    test: GroupTest


def _find_splits(costs: Costs, errors: Costs) -> tuple[Split, ...]:
    count = len(costs)
    if count < 4 or np.isnan(costs[~np.eye(count, dtype=bool)]).any():
        return ()
    whole = costs.copy()
    np.fill_diagonal(whole, 0)
    found = _keep_distinct(whole, find_cost_groups(whole, significance=P_VALUE).groups)
    known = weigh_pairs(whole, errors, _compute_typical(whole, found))
    return _remove_outsiders(_complete_splits(range(count), found, whole, known), known)


def _remove_outsiders(
    splits: Sequence[Split], known: WeightedTimes
) -> tuple[Split, ...]:
    """Remove members that are not nearer to their group than to other ranks."""
    kept: list[Split] = []
    for number, split in enumerate(splits):
        others = [m for n, s in enumerate(splits) if n != number for m in s.members]
        if split.groups:
            inside = _remove_outsiders(split.groups, known)
            kept.append(split._replace(groups=inside))
            continue
        members, apart = list(split.members), list[int]()
        while (
            alone := find_outsider(members, others, known, math.log(LEVEL_RATIO))
        ) is not None:
            members.remove(alone)
            apart.append(alone)
        kept.append(split._replace(members=members))
        kept += [Split([one], (), _UNTESTED) for one in apart]
    return tuple(kept)


def weigh_pairs(costs: Costs, errors: Costs, alike: Costs) -> WeightedTimes:
    """Weight pairs by their errors, which are enlarged if similar pairs differ more.

    `alike`: for each pair, the median of comparable pairs.
    """
    above = np.triu_indices(len(costs), 1)
    times = np.zeros_like(costs)
    times[above] = np.log(costs[above])
    far = np.abs(times[above] - np.log(alike[above])) / errors[above]
    square = max(1.0, SIGMA * float(np.median(far))) ** 2
    # Robust, because a few pairs may belong to undetected groups.
    larger = math.sqrt((len(far) * square + _FEW_PAIRS) / (len(far) + _FEW_PAIRS))
    weights = np.zeros_like(costs)
    weights[above] = 1 / (larger * errors[above]) ** 2
    return WeightedTimes(times + times.T, weights + weights.T)


def _compute_typical(costs: Costs, splits: Sequence[Split]) -> Costs:
    """Compute for each pair the median over pairs with the same smallest group."""
    found = np.ones_like(costs)

    def fill_medians(members: Sequence[int], splits: Sequence[Split]) -> None:
        parts = [split.members for split in splits]
        middle = (
            _compute_median_across(costs, parts)
            if parts
            else _compute_median_inside(costs, members)
        )
        found[np.ix_(members, members)] = middle
        for split in splits:
            fill_medians(split.members, split.groups)

    fill_medians(range(len(costs)), splits)
    return found


def _complete_splits(
    members: Sequence[int], splits: Sequence[Split], costs: Costs, known: WeightedTimes
) -> tuple[Split, ...]:
    """Split small groups further, where the errors of pairs allow it."""
    p = P_VALUE * len(members) / len(costs)
    things = [split.members for split in splits] or [[member] for member in members]
    cut = _find_cut(things, known, p)
    if splits and (cut is None or not cut.sure):
        single = [[member] for member in members]
        cut = _find_cut(single, known, p)
        if cut is not None and cut.sure and _contradicts(cut, members, splits, known):
            things, splits = single, ()
        else:
            cut = None
    if cut is None or not cut.sure:
        below = [
            split._replace(
                groups=_complete_splits(split.members, split.groups, costs, known)
            )
            for split in splits
        ]
        return _merge_levels(costs, below)
    new = []
    for part in cut.parts:
        inside = sorted(member for thing in part for member in things[thing])
        groups = tuple(splits[thing] for thing in part) if splits else ()
        if len(groups) == 1:
            groups = groups[0].groups
        others = [member for member in members if member not in set(inside)]
        new.append(Split(inside, groups, _compare_times(inside, others, costs, known)))
    return _complete_splits(members, new, costs, known)


def _contradicts(
    cut: Cut, members: Sequence[int], splits: Sequence[Split], known: WeightedTimes
) -> bool:
    """Return whether a cut contradicts the splits: neither refines nor merges them."""
    before = [set(split.members) for split in splits]
    after = [{members[thing] for thing in part} for part in cut.parts]
    if all(a <= b or b <= a or not a & b for a in after for b in before):
        return False
    of = {member: n for n, split in enumerate(splits) for member in split.members}
    chosen = np.ix_(members, members)
    among = WeightedTimes(known.times[chosen], known.weights[chosen])
    label = np.array([of[member] for member in members])
    return cut.gained > compute_gain(among, label, math.log(LEVEL_RATIO))


def _find_cut(
    things: Sequence[Sequence[int]], known: WeightedTimes, p: float
) -> Cut | None:
    members = [member for thing in things for member in thing]
    of = np.repeat(np.arange(len(things)), [len(thing) for thing in things])
    chosen = np.ix_(members, members)
    among = WeightedTimes(known.times[chosen], known.weights[chosen])
    return find_best_cut(among, of, math.log(LEVEL_RATIO), p)


def _compare_times(
    members: Sequence[int], others: Sequence[int], costs: Costs, known: WeightedTimes
) -> GroupTest:
    """Compare the pairs inside a group with the pairs into the group."""
    inside = np.array([(a, b) for n, a in enumerate(members) for b in members[:n]]).T
    into = np.array([(a, b) for a in members for b in others]).T
    times, means, squares = [], [], 0.0
    for a, b in (inside, into):
        values, weights = costs[a, b], known.weights[a, b]
        sigma = float(np.std(values, ddof=1)) if len(values) > 1 else math.nan
        times.append(TimeStatistics(float(np.mean(values)), sigma, len(values)))
        means.append(float(weights @ known.times[a, b] / weights.sum()))
        squares += 1 / float(weights.sum())
    z = (means[1] - means[0]) / math.sqrt(squares)
    return GroupTest(times[0], times[1], z, math.erfc(abs(z) / math.sqrt(2)))


def _read_test(group: CostGroup) -> GroupTest:
    def read_statistics(of: Any) -> TimeStatistics:
        return TimeStatistics(of.mean, of.sigma, of.n, of.outliers)

    return GroupTest(
        read_statistics(group.inside), read_statistics(group.into), group.t, group.p
    )


def _keep_distinct(costs: Costs, groups: Sequence[CostGroup]) -> tuple[Split, ...]:
    """Drop splits with ratios below `LEVEL_RATIO`; merge levels of equal distance."""
    if not groups:
        return ()
    splits = [
        Split(g.members, _keep_distinct(costs, g.groups), _read_test(g)) for g in groups
    ]
    kept = _merge_levels(costs, splits)
    across = _compute_median_across(costs, [split.members for split in splits])
    inside = [_compute_median_inside(costs, s.members) for s in kept if not s.groups]
    known = [value for value in inside if not np.isnan(value)]
    if known and across < LEVEL_RATIO * float(np.median(known)):
        return ()
    return kept


def _merge_levels(costs: Costs, splits: Sequence[Split]) -> tuple[Split, ...]:
    """Merge groups into enclosing groups whose distance is the same."""
    if not splits:
        return ()
    across = _compute_median_across(costs, [split.members for split in splits])
    kept: list[Split] = []
    for split in splits:
        below = [part.members for part in split.groups]
        near = bool(below) and across < LEVEL_RATIO * _compute_median_across(
            costs, below
        )
        kept += split.groups if near else [split]
    return tuple(kept)


def _compute_median_across(costs: Costs, parts: Sequence[Sequence[int]]) -> float:
    blocks = [
        costs[np.ix_(some, others)].ravel()
        for number, some in enumerate(parts)
        for others in parts[:number]
    ]
    return float(np.median(np.concatenate(blocks)))


def _compute_median_inside(costs: Costs, members: Sequence[int]) -> float:
    own = costs[np.ix_(members, members)]
    return float(np.median(own[~np.eye(len(members), dtype=bool)])) if len(own) else 0


def compute_times_between(
    parts: Sequence[Sequence[int]], costs: Costs, errors: Costs
) -> tuple[Costs, Costs]:
    """Compute the median time between all pairs of parts, and its relative error."""
    count = len(parts)
    if all(len(ranks) == 1 for ranks in parts):
        order = np.ix_(*[[ranks[0] for ranks in parts]] * 2)
        return costs[order], errors[order]
    found = np.full((2, count, count), np.nan)
    for a in range(count):
        for b in range(a):
            block = np.ix_(parts[a], parts[b])
            known = ~np.isnan(costs[block])
            if known.any():
                single = float(np.median(errors[block][known]))
                error = single * min(1.0, MEDIAN / math.sqrt(known.sum()))
                found[:, a, b] = np.median(costs[block][known]), error
                found[:, b, a] = found[:, a, b]
    return found[0], found[1]


def name_level(group: RankGroup) -> str:
    """Name the level of a group's pairs by kind and height."""
    if group.kind == PART or (group.kind == HOST and not group.groups):
        return "inside a host" if group.kind == HOST else "inside a part of a host"
    if group.kind == HOST:
        return "between parts of a host"
    if group.groups and group.groups[0].kind == HOST:
        return "between hosts" if group.kind == ALL else "between hosts of a group"
    below = max(count_network_levels(part) for part in group.groups)
    return f"between groups of level {below}"


def count_network_levels(group: RankGroup) -> int:
    """Count the network levels between hosts and a group."""
    if group.kind == HOST:
        return 0
    return 1 + max(count_network_levels(part) for part in group.groups)
