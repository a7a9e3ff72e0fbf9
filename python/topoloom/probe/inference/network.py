# SPDX-License-Identifier: BSD-3-Clause
"""Infers the network between hosts: a tree of switches, or links to neighbors."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from topoloom.probe.inference.groups import (
    GROUP,
    HOST,
    PART,
    Costs,
    RankGroup,
    name_level,
)
from topoloom.probe.inference.pair_costs import HostCosts, Numbers

#: Two conditions for a graph of neighbors: its unexplained variance is at most the
#: first share of what groups leave unexplained. It explains at least the second share
#: of the total variance.
MAX_LEFT, MIN_EXPLAINED = 0.5, 0.9
#: Between sorted costs, this number of largest steps is tried as the limit below which
#: hosts are neighbors.
_STEPS = 24
#: Largest plausible mean number of neighbors per host; a larger mean implies a switch.
_NEIGHBORS = 16
DIAMETER = 3
#: If a group has fewer pairs, one of them may be slow. Therefore it uses the time of
#: its level if the log times differ by at most the second number.
_FEW, _LIKE = 4, 0.3


@dataclass(frozen=True)
class SwitchLink:
    """An upward link of a tree, from a host or a group of hosts."""

    below: RankGroup  # the host or the group of hosts at the lower end
    #: Seconds that the link adds to the minimal message time between hosts.
    latency: float


@dataclass(frozen=True)
class HostNetwork:
    """The network between hosts."""

    order: list[int]  # host of each node of the machine
    root: RankGroup | None  # tree of groups of hosts; None for a graph
    links: list[SwitchLink]  # links of a tree: hosts first, then groups bottom-up
    #: Pairs of linked hosts, if the network is a graph without switches.
    neighbors: list[tuple[int, int]]
    base: float  # minimal seconds of a message
    hop: float  # in a graph, seconds for each link after the first
    #: Predicted seconds between hosts, indexed like a matrix ``(hosts, hosts)``.
    predicted: HostCosts
    explained: float  # explained share of the variance of log costs

    @property
    def is_graph(self) -> bool:
        """Whether hosts are linked directly, without switches."""
        return self.root is None

    @property
    def hops(self) -> Numbers:
        """Number of hops between all pairs of hosts of a graph."""
        return count_hops(self.neighbors, len(self.order))

    @property
    def levels(self) -> list[int] | None:
        """Children of a group at each level, bottom-up; None if groups differ."""
        return None if self.root is None else _find_even_levels(self.root)


def compute_host_costs(hosts: Sequence[Sequence[int]], costs: Costs) -> Costs:
    """Compute the median time between the ranks of each pair of hosts."""
    return np.array([[np.median(costs[np.ix_(a, b)]) for b in hosts] for a in hosts])


def find_network(root: RankGroup, hosts: Sequence[int], costs: Costs) -> HostNetwork:
    """Infer the network: a tree of switches or a graph of neighbors.

    Parameters
    ----------
    root
        Group of all ranks, with nested groups.
    hosts
        The host of each rank.
    costs
        Seconds between hosts, of shape ``(hosts, hosts)``.
    """
    tree = _fit_tree(root, hosts, costs)
    graph = _fit_graph(costs)
    if graph is None:
        return tree
    better = (1 - graph.explained) <= MAX_LEFT * (1 - tree.explained)
    return graph if better and graph.explained >= MIN_EXPLAINED else tree


def _fit_tree(root: RankGroup, hosts: Sequence[int], costs: Costs) -> HostNetwork:
    predicted = np.full_like(costs, np.nan)
    pairs_of: dict[int, tuple[Numbers, ...]] = {}
    of_level: dict[str, list[Costs]] = {}
    level_of: dict[int, str] = {}
    for group in root.all_groups():
        if group.kind in (HOST, PART):
            continue
        number = np.full(len(costs), -1)
        for part_number, part in enumerate(group.groups):
            number[[hosts[rank] for rank in part.ranks]] = part_number
        apart = (number[:, None] > number[None]) & (number[None] >= 0)
        pairs_of[id(group)] = a, b = np.nonzero(apart)
        level_of[id(group)] = name_level(group)
        of_level.setdefault(name_level(group), []).append(costs[a, b])
    known = {name: np.concatenate(of) for name, of in of_level.items()}
    least = min((float(np.median(of)) for of in known.values() if len(of)), default=0.0)
    levels = {
        name: float(np.median(of)) if len(of) else least for name, of in known.items()
    }
    middle: dict[int, float] = {}
    for key, (a, b) in pairs_of.items():
        like = levels[level_of[key]]
        if not len(a):  # the group is a single host
            middle[key] = like
            continue
        own = float(np.median(costs[a, b]))
        near = abs(math.log(own / like)) < _LIKE
        middle[key] = like if len(a) < _FEW and near else own
        predicted[a, b] = predicted[b, a] = middle[key]
    explained = _compute_explained(costs, predicted)
    tree = make_tree(root, hosts, middle)
    return replace(tree, predicted=predicted, explained=explained)


def make_tree(
    root: RankGroup, hosts: Sequence[int], middle: Mapping[int, float]
) -> HostNetwork:
    """Build a tree of groups, without predictions.

    `hosts`: the host of each rank. `middle`: seconds between the parts of each group of
    hosts, by ``id(group)``.
    """
    order: list[int] = []
    groups: list[RankGroup] = []

    def collect_groups(group: RankGroup) -> None:
        if group.kind == HOST:
            order.append(hosts[group.ranks[0]])
            return
        for part in group.groups:
            collect_groups(part)
        groups.append(group)

    collect_groups(root)
    base = min(middle.values(), default=0.0)
    up = {id(group): (middle[id(group)] - base) / 2 for group in groups}
    links = [
        SwitchLink(part, max(0.0, up[id(group)] - up.get(id(part), 0.0)))
        for group in groups
        for part in group.groups
    ]
    links.sort(key=lambda link: link.below.kind != HOST)
    return HostNetwork(order, root, links, [], base, 0.0, np.zeros((0, 0)), 0.0)


def _compute_explained(costs: Costs, predicted: Costs) -> float:
    above = np.triu_indices(len(costs), 1)
    measured, fitted = np.log(costs[above]), np.log(predicted[above])
    total = float(((measured - measured.mean()) ** 2).sum())
    left = float(((measured - fitted) ** 2).sum())
    return 1.0 if total == 0 else 1 - left / total


def _fit_graph(costs: Costs) -> HostNetwork | None:
    """Try the largest steps between sorted costs as limits; return the best fit."""
    count = len(costs)
    if count < DIAMETER + 1:
        return None
    above = np.triu_indices(count, 1)
    sorted_costs = np.sort(costs[above])
    most = min(len(sorted_costs) - 1, count * _NEIGHBORS // 2)
    steps = np.diff(np.log(sorted_costs[: most + 1]))
    steps[: count - 2] = 0  # with fewer links, hosts would not be connected
    best: HostNetwork | None = None
    for step in np.argsort(steps)[::-1][:_STEPS]:
        if steps[step] <= 0:
            break
        near = costs <= sorted_costs[step]
        np.fill_diagonal(near, False)
        found = _fit_neighbors(costs, near)
        if found is not None and (best is None or found.explained > best.explained):
            best = found
    return best


def _fit_neighbors(costs: Costs, near: NDArray[np.bool_]) -> HostNetwork | None:
    neighbors = [(int(a), int(b)) for a, b in zip(*np.nonzero(near), strict=True)]
    links = [(a, b) for a, b in neighbors if a < b]
    hops = count_hops(links, len(costs))
    above = np.triu_indices(len(costs), 1)
    of_pairs = hops[above]
    if of_pairs.min() < 0 or of_pairs.max() < DIAMETER:
        return None
    hop, first = np.polyfit(of_pairs - 1, costs[above], 1)
    if hop <= 0 or first <= 0:
        return None
    predicted = first + hop * np.maximum(hops - 1, 0)
    explained = _compute_explained(costs, predicted)
    order = list(range(len(costs)))
    return HostNetwork(
        order, None, [], links, float(first), float(hop), predicted, explained
    )


def count_hops(neighbors: Sequence[tuple[int, int]], count: int) -> Numbers:
    """Count the hops between all pairs of hosts; -1 without a route."""
    pairs = np.array(neighbors, np.int64).reshape(-1, 2)
    own = np.repeat(
        np.arange(count)[:, None], 2, axis=1
    )  # smallest limit at which each host has a neighbor
    ends = np.concatenate([pairs, pairs[:, ::-1], own])
    ends = ends[np.argsort(ends[:, 0], kind="stable")]
    begins = np.searchsorted(ends[:, 0], np.arange(count))
    hops = np.full((count, count), -1)
    fresh = reached = np.eye(count, dtype=bool)
    distance = 0
    while fresh.any():
        hops[fresh] = distance
        beside = np.logical_or.reduceat(fresh[:, ends[:, 1]], begins, axis=1)
        fresh = beside & ~reached
        reached = reached | fresh
        distance += 1
    return hops


def _find_even_levels(root: RankGroup) -> list[int] | None:
    """Find the number of children per group at each level; None if groups differ."""
    counts: list[int] = []
    level = [root]
    while level[0].kind != HOST:
        if any(group.kind == HOST for group in level):
            return None
        sizes = {len(group.groups) for group in level}
        if len(sizes) > 1:
            return None
        counts.append(sizes.pop())
        level = [part for group in level for part in group.groups]
        if len({part.kind == HOST for part in level}) > 1:
            return None
    return counts[::-1]


def list_host_groups(root: RankGroup) -> list[RankGroup]:
    """List the smallest groups of hosts, or hosts without a group."""
    return [
        group
        for group in root.all_groups()
        if group.kind != HOST
        and group.groups
        and any(part.kind == HOST for part in group.groups)
    ]


def list_network_groups(root: RankGroup) -> list[RankGroup]:
    """List the groups that contain groups of hosts."""
    return [
        group
        for group in root.all_groups()
        if group.groups and all(part.kind == GROUP for part in group.groups)
    ]
