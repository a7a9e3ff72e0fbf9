# SPDX-License-Identifier: BSD-3-Clause
"""Finds groups, levels and network of many ranks from few measured pairs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from topoloom.probe.inference.groups import (
    ALL,
    GROUP,
    HOST,
    GroupTest,
    RankGroup,
    TimeStatistics,
    find_rank_groups,
)
from topoloom.probe.inference.landmarks import HostGroup
from topoloom.probe.inference.neighbors import MAX_LINKED_HOSTS, find_linked_hosts
from topoloom.probe.inference.network import (
    HostNetwork,
    compute_host_costs,
    find_network,
    make_tree,
)
from topoloom.probe.inference.pair_costs import Numbers, PairCosts, SomeCosts

#: Minimal number of ranks for which the test is meaningful.
_MIN_TESTED = 4
#: Maximum number of hosts among which direct links are searched for.
_MAX_HOSTS = 1024


def find_large_groups(
    hosts: Sequence[Sequence[int]],
    costs: PairCosts,
    errors: PairCosts,
    parts: HostGroup | None,
) -> RankGroup:
    """Find all groups of many ranks.

    Parameters
    ----------
    hosts
        The ranks of each host; only its first rank was measured with other hosts.
    costs
        Seconds of a message between ranks.
    errors
        Relative standard errors of costs.
    parts
        Groups of hosts that landmarks showed; None if no groups are known.
    """
    inside = [_make_host_group(sorted(ranks), costs, errors) for ranks in hosts]
    if len(inside) == 1:
        return inside[0]
    first = np.array([min(ranks) for ranks in hosts])
    whole = parts or HostGroup(np.arange(len(hosts)), [])
    return _make_network_group(ALL, whole, inside, first, costs, errors)


def _make_host_group(
    ranks: list[int], costs: PairCosts, errors: PairCosts
) -> RankGroup:
    if len(ranks) < _MIN_TESTED:
        return RankGroup(HOST, tuple(ranks))
    own = np.ix_(ranks, ranks)
    local = find_rank_groups([list(range(len(ranks)))], costs[own], errors[own])
    return _renumber(local, ranks)


def _renumber(group: RankGroup, ranks: Sequence[int]) -> RankGroup:
    return replace(
        group,
        ranks=tuple(ranks[rank] for rank in group.ranks),
        groups=tuple(_renumber(part, ranks) for part in group.groups),
    )


def _make_network_group(
    kind: str,
    part: HostGroup,
    hosts: Sequence[RankGroup],
    first: Numbers,
    costs: PairCosts,
    errors: PairCosts,
) -> RankGroup:
    if not part.groups:
        return _split_small_group(kind, part.members, hosts, first, costs, errors)
    groups = [
        _make_network_group(GROUP, below, hosts, first, costs, errors)
        for below in part.groups
    ]
    ranks = sorted(rank for group in groups for rank in group.ranks)
    evidence = _make_evidence(part, first, costs)
    return RankGroup(kind, tuple(ranks), tuple(groups), evidence)


def _split_small_group(
    kind: str,
    members: Numbers,
    hosts: Sequence[RankGroup],
    first: Numbers,
    costs: PairCosts,
    errors: PairCosts,
) -> RankGroup:
    """Split a small group of hosts if all its pairs were measured."""
    own = np.ix_(first[members], first[members])
    local = RankGroup(ALL, tuple(range(len(members))))
    if len(members) >= _MIN_TESTED and costs.is_complete(first[members]):
        alone = [[n] for n in range(len(members))]
        local = find_rank_groups(alone, costs[own], errors[own])

    def add_hosts(kind: str, group: RankGroup) -> RankGroup:
        below = group.groups or [RankGroup(HOST, (n,)) for n in group.ranks]
        parts = tuple(
            hosts[members[part.ranks[0]]]
            if part.kind == HOST
            else add_hosts(GROUP, part)
            for part in below
        )
        ranks = sorted(rank for part in parts for rank in part.ranks)
        return RankGroup(kind, tuple(ranks), parts, group.evidence)

    return add_hosts(kind, local)


def _make_evidence(
    part: HostGroup, first: Numbers, costs: PairCosts
) -> tuple[GroupTest, ...]:
    """Compare the measured pairs inside each group with the pairs into the group.

    The test is Student's t with pooled variance; with this many pairs, t is normally
    distributed.
    """
    group = np.full(costs.shape[0], -1)
    for number, below in enumerate(part.groups):
        group[first[below.members]] = number
    a, b, seconds = costs.measured_pairs
    known = (group[a] >= 0) & (group[b] >= 0)
    a, b, seconds = group[a[known]], group[b[known]], seconds[known]
    same = a == b
    inside = _summarize_times(a[same], seconds[same], len(part.groups))
    ends, twice = np.concatenate([a[~same], b[~same]]), np.tile(seconds[~same], 2)
    into = _summarize_times(ends, twice, len(part.groups))
    return tuple(map(_compare_times, inside, into))


def _summarize_times(
    of: Numbers, seconds: NDArray[np.float64], count: int
) -> list[TimeStatistics]:
    n = np.bincount(of, minlength=count)
    mean = np.bincount(of, seconds, count) / np.maximum(n, 1)
    squares = np.bincount(of, (seconds - mean[of]) ** 2, count)
    sigma = np.sqrt(squares / np.maximum(n - 1, 1))
    return [
        TimeStatistics(float(m), float(s), int(k))
        for m, s, k in zip(mean, sigma, n, strict=True)
    ]


def _compare_times(inside: TimeStatistics, into: TimeStatistics) -> GroupTest:
    degrees = inside.n + into.n - 2
    if min(inside.n, into.n) < 1 or degrees < 1:
        return GroupTest(inside, into, 0.0, 1.0)
    squares = (inside.n - 1) * inside.sigma**2 + (into.n - 1) * into.sigma**2
    error = math.sqrt(squares / degrees * (1 / inside.n + 1 / into.n))
    t = (into.mean - inside.mean) / error if error else math.inf
    return GroupTest(inside, into, t, math.erfc(abs(t) / math.sqrt(2)))


class HostTimes:
    """Seconds between hosts, derived from their groups; indexed like a matrix."""

    def __init__(self, costs: PairCosts, first: Numbers) -> None:
        self._costs, self._first = costs, first

    def __getitem__(
        self, at: int | tuple[int, int] | tuple[Numbers, Numbers]
    ) -> NDArray[np.float64]:
        """Return the times of a host with all hosts, of two hosts, or of pairs."""
        a, b = at if isinstance(at, tuple) else (at, np.arange(len(self._first)))
        return self._costs.get_typical(self._first[a], self._first[b])


def infer_network(
    root: RankGroup,
    hosts: Sequence[Sequence[int]],
    host_of: Sequence[int],
    costs: SomeCosts,
    errors: PairCosts | None = None,
) -> HostNetwork:
    """Infer the network between many hosts.

    Parameters
    ----------
    hosts
        The ranks of each host.
    host_of
        The host of each rank.
    errors
        Relative errors of the costs of many hosts; if None, no neighbors are searched
        for.
    """
    if not isinstance(costs, PairCosts):
        return find_network(root, host_of, compute_host_costs(hosts, costs))
    first = np.array([min(ranks) for ranks in hosts])
    if len(hosts) <= _MAX_HOSTS and costs.is_complete(first):
        return find_network(root, host_of, costs[np.ix_(first, first)])
    tree = _make_large_network(root, host_of, costs.fill_missing(root))
    if errors is None or len(hosts) > MAX_LINKED_HOSTS:
        return tree
    return find_linked_hosts(costs, errors, first, tree.explained) or tree


def _make_large_network(
    root: RankGroup, host_of: Sequence[int], costs: PairCosts
) -> HostNetwork:
    """Build the tree of switches above groups of hosts.

    `costs` contains typical costs for unmeasured pairs.
    """
    middle = {}
    for group in root.all_groups():
        if group.kind in (ALL, GROUP):
            middle[id(group)] = costs.compute_median(group)
    hosts = np.array(host_of)
    a, b, seconds = costs.measured_pairs
    between = hosts[a] != hosts[b]
    a, b, seconds = a[between], b[between], seconds[between]
    measured, fitted = np.log(seconds), np.log(costs.get_typical(a, b))
    total = float(((measured - measured.mean()) ** 2).sum()) if len(a) else 0.0
    left = float(((measured - fitted) ** 2).sum())
    _, first = np.unique(hosts, return_index=True)
    return replace(
        make_tree(root, host_of, middle),
        predicted=HostTimes(costs, first),
        explained=1.0 if total == 0 else 1 - left / total,
    )
