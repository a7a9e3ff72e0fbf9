# SPDX-License-Identifier: BSD-3-Clause
"""Computes the typical costs of each level, ignoring slow hosts and links."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from topoloom.probe.findings import Findings
from topoloom.probe.inference.groups import ALL, Costs, RankGroup
from topoloom.probe.inference.large_groups import infer_network
from topoloom.probe.inference.levels import (
    Level,
    choose_neighbor_pairs,
    choose_typical_pairs,
    find_levels,
)
from topoloom.probe.inference.message_costs import fit_level_costs
from topoloom.probe.inference.pair_costs import (
    PairCosts,
    SomeCosts,
    select_measured_pairs,
)
from topoloom.probe.job.probe_job import ProbeJob
from topoloom.probe.job.samples import Exchange
from topoloom.probe.scan_inference import group_by_host, list_first_ranks
from topoloom.probe.stages.effort import Clock, Effort
from topoloom.probe.stages.messages import Pairs, measure_messages


def choose_level_pairs(found: Findings, effort: Effort) -> Pairs:
    """Choose representative pairs of each level that use no parts known to be slow."""
    return {level.name: _choose_pairs(found, level, effort) for level in found.levels}


def _choose_pairs(
    found: Findings, level: Level, effort: Effort
) -> list[tuple[int, int]]:
    network, slow = found.network, found.slow_pairs
    if network is None or not network.is_graph or level.groups[0].kind != ALL:
        return choose_typical_pairs(level, found.costs, effort.pairs, slow.select_slow)
    first = list_first_ranks(found)
    links = [
        (a, b) for a, b in network.neighbors if not slow.contains(first[a], first[b])
    ] or network.neighbors
    return choose_neighbor_pairs(first, links, level, found.costs, effort.pairs)


def measure_levels(
    job: ProbeJob,
    found: Findings,
    pairs: Pairs,
    effort: Effort,
    clock: Clock,
    advance: Callable[[int, int], None],
) -> tuple[Pairs, bool]:
    """Measure messages between other pairs if the chosen pairs are slow.

    Returns the pairs that are not slow, and whether time sufficed.
    """
    slow = found.slow_pairs
    _exclude_slow(found)
    again = {
        name: of for name, of in pairs.items() if any(slow.contains(*p) for p in of)
    }
    if not again:
        return pairs, True
    better = choose_level_pairs(found, effort)
    again = {name: better[name] for name in again if set(better[name]) - {*pairs[name]}}
    begin = len(job.samples.orders)
    whole = True
    try:
        if again:
            whole = measure_messages(job, again, effort, clock, advance)
    finally:
        found.of_sizes += range(begin, len(job.samples.orders))
    return {**pairs, **again}, whole


def _exclude_slow(found: Findings) -> None:
    """Exclude slow parts from the times of levels, and from the links of a tree.

    The links of a graph already have a typical time, from very many pairs.
    """
    if found.network is None or found.network.is_graph:
        return
    costs = compute_typical_costs(found)
    levels = {level.name: level for level in find_levels(found.root, costs)}
    found.levels = [levels[level.name] for level in found.levels]
    ranks, _ = group_by_host(found.samples)
    found.network = infer_network(found.root, ranks, found.host_of, costs)


def compute_typical_costs(found: Findings) -> SomeCosts:
    """Compute costs in which each slow pair has the median cost of comparable pairs."""
    if isinstance(found.costs, PairCosts) or not found.suspects:
        return found.costs
    costs: Costs = found.costs.copy()
    slow = found.slow_pairs
    for group in found.root.all_groups():
        pairs, seconds = select_measured_pairs(group, found.costs)
        if not len(pairs):
            continue
        a, b = pairs.T
        odd = slow.select_slow(a, b)
        if odd.any() and not odd.all():
            a, b, middle = a[odd], b[odd], np.median(seconds[~odd])
            costs[a, b] = costs[b, a] = middle
    return costs


def fit_typical_costs(found: Findings) -> None:
    """Fit the message costs of each level, ignoring slow pairs."""
    alone = found.samples.exchanges.select_orders(found.of_sizes)
    for level in found.levels:
        is_in_level = _make_level_filter(found, level)
        own = [e for e in alone if is_in_level(e)]
        usual = [e for e in own if not found.slow_pairs.contains(e.first, e.second)]
        costs = fit_level_costs(usual) or fit_level_costs(own)
        if costs is not None:
            found.level_costs[level.name] = costs


def _make_level_filter(found: Findings, level: Level) -> Callable[[Exchange], bool]:
    chosen = {id(group) for group in level.groups}

    def is_in_level(exchange: Exchange) -> bool:
        return (
            id(_find_smallest_group(found.root, exchange.first, exchange.second))
            in chosen
        )

    return is_in_level


def _find_smallest_group(root: RankGroup, a: int, b: int) -> RankGroup:
    for group in root.groups:
        if a in group.ranks and b in group.ranks:
            return _find_smallest_group(group, a, b)
    return root
