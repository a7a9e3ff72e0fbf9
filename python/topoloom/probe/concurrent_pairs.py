# SPDX-License-Identifier: BSD-3-Clause
"""Chooses pairs of ranks to measure concurrently; fits curves of total bandwidth."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import zip_longest

import numpy as np
from numpy.typing import NDArray

from topoloom.model.channels import PairCurve, make_pair_curve
from topoloom.probe.findings import Findings
from topoloom.probe.inference.groups import HOST, RankGroup, name_level
from topoloom.probe.inference.network import list_network_groups
from topoloom.probe.inference.suspects import find_slow_uplinks
from topoloom.probe.job.samples import Exchange
from topoloom.probe.network_model import find_host_costs
from topoloom.probe.stages.rates import WINDOW, PairPattern


def choose_concurrent_pairs(found: Findings) -> list[PairPattern]:
    """Choose pairs inside a host, between two hosts, and between two groups of hosts.

    Slow hosts and links are avoided if alternatives exist.
    """
    patterns: list[PairPattern] = []
    every = [g for g in found.root.all_groups() if g.kind == HOST]
    hosts = [host for host in every if not _is_slow(found, host)]
    hosts = hosts if len(hosts) >= min(2, len(every)) else every
    largest = max(hosts, key=lambda host: len(host.ranks))
    if len(largest.ranks) >= 4:
        patterns += _pair_inside_host(largest)
    several = [host for host in hosts if len(host.ranks) >= 2]
    if len(several) >= 2:
        pair = _find_nearest_hosts(found, several)
        ranks = zip(*(host.ranks for host in pair), strict=False)
        patterns.append(PairPattern("between two hosts", list(ranks)))
    for group in list_network_groups(found.root):
        patterns += _pair_groups(found, group)
    return patterns


def _is_slow(found: Findings, host: RankGroup) -> bool:
    return found.slow_pairs.is_slow(found.host_of[host.ranks[0]])


def _pair_inside_host(host: RankGroup) -> list[PairPattern]:
    parts = [part.ranks for part in host.groups if len(part.ranks) >= 4]
    if not parts:
        return [PairPattern("inside a host", _pair_adjacent(host.ranks))]
    patterns = [PairPattern("inside a part of a host", _pair_adjacent(parts[0]))]
    if len(parts) > 1:
        across = list(zip(parts[0], parts[1], strict=False))
        patterns.append(PairPattern("between two parts of a host", across))
    return patterns


def _pair_adjacent(ranks: Sequence[int]) -> list[tuple[int, int]]:
    return list(zip(ranks[::2], ranks[1::2], strict=False))


def _find_nearest_hosts(
    found: Findings, hosts: Sequence[RankGroup]
) -> tuple[RankGroup, ...]:
    first = hosts[0]
    slow = found.slow_pairs

    def measure_distance(host: RankGroup) -> tuple[bool, float]:
        ends = first.ranks[0], host.ranks[0]
        return slow.contains(*ends), found.costs[ends]

    return first, min(hosts[1:], key=measure_distance)


def _pair_groups(found: Findings, group: RankGroup) -> list[PairPattern]:
    """Pair the hosts of each group with those of the next group, around a ring."""
    slow = found.slow_pairs

    def is_usual(rank: int) -> bool:
        return not slow.is_slow(found.host_of[rank])

    level = name_level(group)
    parts = group.groups
    rings = []
    for n in range(len(parts) if len(parts) > 2 else 1):
        others = _list_ranks_round_robin(parts[(n + 1) % len(parts)], is_usual)
        ends = np.array(others)

        def is_free(rank: int, ends: NDArray[np.intp] = ends) -> bool:
            return not slow.select_slow(np.full_like(ends, rank), ends).any()

        own = _list_ranks_round_robin(parts[n], is_free)
        rings.append(list(zip(own, others, strict=False)))
    common = min(min(map(len, rings)), *(len(part.groups) for part in parts))
    rings.sort(key=lambda pairs: -len(pairs))
    return [PairPattern(level, pairs, common, n == 0) for n, pairs in enumerate(rings)]


def _list_ranks_round_robin(
    group: RankGroup, is_wanted: Callable[[int], bool]
) -> list[int]:
    """Return one rank per host, taken from the subgroups in turn.

    An unwanted host is replaced by the next host of its group, so that the first ranks
    still share as few links as possible. If all hosts are unwanted, all are used.
    """
    return _select_ranks(group, is_wanted) or _select_ranks(group, lambda _: True)


def _select_ranks(group: RankGroup, is_wanted: Callable[[int], bool]) -> list[int]:
    if group.kind == HOST:
        return [rank for rank in group.ranks[:1] if is_wanted(rank)]
    return [
        rank
        for turn in zip_longest(
            *(_select_ranks(part, is_wanted) for part in group.groups)
        )
        for rank in turn
        if rank is not None
    ]


def fit_concurrent_pairs(
    found: Findings, patterns: Sequence[PairPattern], begin: int
) -> None:
    """Fit a bandwidth curve for each pattern, and compare groups of hosts."""
    by_order: dict[int, list[Exchange]] = {}
    for exchange in found.samples.select("together", "burst"):
        if exchange.order >= begin:
            by_order.setdefault(exchange.order, []).append(exchange)
    runs = list(by_order.values())
    for each in patterns:
        mine, runs = runs[: len(each.counts)], runs[len(each.counts) :]
        if len(mine) >= 2 and each.whole and each.pattern not in found.curves:
            found.curves[each.pattern] = _make_curve(found, mine)
    _compare_uplinks(found, patterns, list(by_order.values()))


def _make_curve(found: Findings, runs: Iterable[Sequence[Exchange]]) -> PairCurve:
    pairs, times, numbers = [], [], []
    for run in runs:
        for exchange in run:
            back = 2 * found.costs[exchange.first, exchange.second]
            for number, seconds in enumerate(exchange.seconds):
                pairs.append(len(run))
                times.append(max(seconds - back, seconds / 10))
                numbers.append(number)
    return make_pair_curve(pairs, times, found.long_bytes * WINDOW, numbers)


def _compare_uplinks(
    found: Findings,
    patterns: Sequence[PairPattern],
    runs: Sequence[Sequence[Exchange]],
) -> None:
    """Compute uplink rates of sibling groups; compare them for equally many pairs."""
    counts = [(each, count) for each in patterns for count in each.counts]
    for group in list_network_groups(found.root):
        number = {rank: n for n, part in enumerate(group.groups) for rank in part.ranks}
        seconds: dict[tuple[int, int], float] = {}
        costs = found.level_costs.get(name_level(group)) or find_host_costs(found)
        single = math.inf  # seconds of a burst of a single pair
        for (each, count), run in zip(counts, runs, strict=False):
            ends = {number.get(rank, -1) for pair in each.pairs for rank in pair}
            if len(ends) != 2 or -1 in ends:
                continue
            # The median ignores a single slow host.
            usual = float(np.median([e.median for e in run]))
            single = min(single, usual)
            if costs is None:
                continue
            # Fixed costs cancel in the difference; the total rate is at most the sum of
            # the rates of single pairs.
            longer = (usual - single) / (found.long_bytes * WINDOW)
            rate = count / (longer + 1 / costs.bandwidth)
            for part in (group.groups[end] for end in ends):
                known = found.uplinks.get(part.ranks, 0.0)
                found.uplinks[part.ranks] = max(known, rate)
            if count == each.common:
                back = 2 * found.costs[run[0].first, run[0].second]
                seconds[min(ends), max(ends)] = usual - back
        if _are_comparable(group.groups):
            found.suspects += find_slow_uplinks(group.groups, found.host_of, seconds)


def _are_comparable(groups: Sequence[RankGroup]) -> bool:
    """Return whether groups are comparable: made of hosts only, or of equal shapes."""
    if all(part.kind == HOST for group in groups for part in group.groups):
        return True
    sizes = {len(group.groups) for group in groups}
    return len(sizes) == 1 and _are_comparable([p for g in groups for p in g.groups])
