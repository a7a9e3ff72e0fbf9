# SPDX-License-Identifier: BSD-3-Clause
"""Measures a machine stage by stage, and infers what it is like."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import zip_longest
from typing import Protocol

import numpy as np

from topoloom.model.channels import PairCurve, pair_curve
from topoloom.probe.doubts import doubts_of
from topoloom.probe.findings import Findings
from topoloom.probe.inference.groups import (
    ALL,
    HOST,
    PART,
    RankGroup,
    level_name,
    rank_groups,
)
from topoloom.probe.inference.latency import cost_matrix, filled
from topoloom.probe.inference.levels import (
    Level,
    find_levels,
    nearest_pairs,
    neighbor_level,
    typical_pairs,
)
from topoloom.probe.inference.message_costs import level_costs
from topoloom.probe.inference.network import (
    find_network,
    host_groups,
    network_groups,
)
from topoloom.probe.inference.suspects import (
    Residuals,
    rate_residuals,
    slow_uplinks,
)
from topoloom.probe.job.running import JobEnded, ProbeJob
from topoloom.probe.job.samples import Exchange, ProbeSamples
from topoloom.probe.second_look import look_again
from topoloom.probe.stages.effort import Clock, Effort
from topoloom.probe.stages.messages import measure_messages
from topoloom.probe.stages.rates import (
    WINDOW,
    AtOnce,
    long_size,
    measure_at_once,
    measure_links,
    measure_rates,
)
from topoloom.probe.stages.scan import SIZE as SCAN_SIZE, refine, scan

_ALL_ORDERS = 1 << 62
#: How much longer work may take than at best, as a part of that.
_NOISY = 0.05
#: Seconds that a piece of work takes at least.
_QUANTUM = 5e-7


class Watching(Protocol):
    """Learns how far a stage is."""

    def __call__(self, stage: str) -> Callable[[int, int], None]:
        """Begin a stage; what it returns is called with what is done, and with all."""
        ...


def measure(job: ProbeJob, effort: Effort, clock: Clock, watch: Watching) -> Findings:
    """Measure all that there is time for.

    A job that ends before, or Ctrl-C, leaves what was measured, and `Findings.ended`.
    """
    samples = job.samples
    hosts, _ = hosts_of(samples)
    doubts = doubts_of(samples)
    found: Findings | None = None
    try:
        whole = scan(job, hosts, effort, clock, 1, watch("all pairs"))
        found = infer(samples, doubts)
        if whole:
            refine(job, _smallest_groups(found), effort)
            found = infer(samples, doubts)
        else:
            found.doubts.append("there was no time for all pairs; --time gives more")
        _measure_more(job, found, effort, clock, watch)
    except (JobEnded, KeyboardInterrupt) as error:
        if found is None and not any(samples.of("circle", "echo")):
            raise
        found = found or infer(samples, doubts)
        found.ended = str(error) or "interrupted"
    _conclude(found)
    return found


def hosts_of(samples: ProbeSamples) -> tuple[list[list[int]], list[int]]:
    """Return the ranks of each host, in the order of their first, and each rank's."""
    number: dict[str, int] = {}
    ranks: list[list[int]] = []
    host_of = []
    for rank, place in enumerate(samples.places):
        host = number.setdefault(place.host, len(number))
        if host == len(ranks):
            ranks.append([])
        ranks[host].append(rank)
        host_of.append(host)
    return ranks, host_of


def infer(samples: ProbeSamples, doubts: Sequence[str] = ()) -> Findings:
    """Find the groups, levels and network that the scan shows."""
    hosts, host_of = hosts_of(samples)
    scanned = [
        e
        for how in ("circle", "pairs")  # what was refined comes last
        for e in samples.of(how, "echo")
        if e.bytes == SCAN_SIZE
    ]
    measured = cost_matrix(samples.ranks, scanned)
    root = rank_groups(hosts, measured)
    costs = filled(root, measured)
    found = Findings(
        samples,
        [samples.places[ranks[0]].host for ranks in hosts],
        host_of,
        costs,
        root,
        find_levels(root, measured),
        doubts=list(doubts),
    )
    if len(hosts) > 1 and not np.isnan(costs).any():
        between = np.array(
            [[np.median(costs[np.ix_(a, b)]) for b in hosts] for a in hosts]
        )
        found.network = find_network(root, host_of, between)
        if found.network.is_graph:
            _forget_groups(found)
    return found


def _smallest_groups(found: Findings) -> list[list[int]]:
    """Return the ranks of each smallest part of a host, and a rank of each host."""
    inside = [
        list(group.ranks)
        for group in found.root.all_groups()
        if group.kind in (HOST, PART) and not group.groups
    ]
    return [*inside, *(_sets_of_like(found) if len(found.hosts) > 1 else [])]


def _forget_groups(found: Findings) -> None:
    """Leave hosts side by side: near and far follow from links, not from groups."""
    assert found.network is not None
    hosts = [group for group in found.root.all_groups() if group.kind == HOST]
    found.root = RankGroup(ALL, found.root.ranks, tuple(hosts))
    inside = [level for level in found.levels if level.groups[0].kind in (HOST, PART)]
    links, first = found.network.neighbors, _first_ranks(found)
    found.levels = [*inside, neighbor_level(found.root, first, links, found.costs)]


def _first_ranks(found: Findings) -> list[int]:
    return [found.host_of.index(host) for host in range(len(found.hosts))]


def _measure_more(
    job: ProbeJob, found: Findings, effort: Effort, clock: Clock, watch: Watching
) -> None:
    pairs = {level.name: _pairs_of(found, level, effort) for level in found.levels}
    late = "there was no time for {}; --time gives more"
    begin = len(job.samples.orders)
    found.of_sizes = range(begin, _ALL_ORDERS)
    if not measure_messages(job, pairs, effort, clock, watch("sizes")):
        found.doubts.append(late.format("messages of all sizes"))
    found.of_sizes = range(begin, len(job.samples.orders))
    _fit_costs(found)
    found.long_bytes = _long_bytes(found)
    typical = [pair for of_level in pairs.values() for pair in of_level]
    rates, partners, whole = _measure_long(job, found, typical, effort, clock)
    if not whole:
        found.doubts.append(late.format("long messages of all hosts"))
    found.suspects += look_again(job, found, rates, partners)
    asked = _asked_at_once(found)
    begin = len(job.samples.orders)
    if not measure_at_once(job, asked, found.long_bytes, clock, watch("pairs at once")):
        found.doubts.append(late.format("all numbers of pairs at once"))
    _find_curves(found, asked, begin)


def _measure_long(
    job: ProbeJob,
    found: Findings,
    typical: Sequence[tuple[int, int]],
    effort: Effort,
    clock: Clock,
) -> tuple[Residuals, dict[int, list[int]], bool]:
    """Exchange long messages; return residuals, by host its like, and if all was."""
    size, sets, whole = found.long_bytes, _sets_of_like(found), True
    host_of, first = found.host_of, _first_ranks(found)
    partners: dict[int, list[int]] = {host: [] for host in range(len(found.hosts))}
    network = found.network
    if network is not None and network.is_graph:
        links = [(first[a], first[b]) for a, b in network.neighbors]
        bursts = measure_links(job, links, typical, size)
        sets = [list(found.root.ranks)]
        for a, b in network.neighbors:
            partners[a].append(b)
            partners[b].append(a)
    else:
        bursts, whole = measure_rates(job, sets, typical, size, effort, clock)
        for ranks in sets:
            for rank in ranks:
                partners[host_of[rank]] = [host_of[o] for o in ranks if o != rank]
    return rate_residuals(sets, host_of, bursts), partners, whole


def _pairs_of(found: Findings, level: Level, effort: Effort) -> list[tuple[int, int]]:
    network = found.network
    if network is None or not network.is_graph or level.groups[0].kind != ALL:
        return typical_pairs(level, found.costs, effort.pairs)
    first = _first_ranks(found)
    return nearest_pairs(first, network.neighbors, level, found.costs, effort.pairs)


def _sets_of_like(found: Findings) -> list[list[int]]:
    """Return one rank of each host in groups that share switches, or a host's ranks."""
    if len(found.hosts) == 1:
        return [list(found.root.ranks)]
    return [
        [part.ranks[0] for part in group.groups] for group in host_groups(found.root)
    ]


def _smallest(root: RankGroup, a: int, b: int) -> RankGroup:
    for group in root.groups:
        if a in group.ranks and b in group.ranks:
            return _smallest(group, a, b)
    return root


def _asked_at_once(found: Findings) -> list[AtOnce]:
    """Choose pairs: inside a host, between two, and between groups of them."""
    asked: list[AtOnce] = []
    hosts = [g for g in found.root.all_groups() if g.kind == HOST]
    largest = max(hosts, key=lambda host: len(host.ranks))
    if len(largest.ranks) >= 4:
        asked += _inside(largest)
    several = [host for host in hosts if len(host.ranks) >= 2]
    if len(several) >= 2:
        pair = _nearest(found, several)
        ranks = zip(*(host.ranks for host in pair), strict=False)
        asked.append(AtOnce("between two hosts", list(ranks)))
    for group in network_groups(found.root):
        asked += _between(group)
    return asked


def _inside(host: RankGroup) -> list[AtOnce]:
    parts = [part.ranks for part in host.groups if len(part.ranks) >= 4]
    if not parts:
        return [AtOnce("inside a host", _paired(host.ranks))]
    asked = [AtOnce("inside a part of a host", _paired(parts[0]))]
    if len(parts) > 1:
        across = list(zip(parts[0], parts[1], strict=False))
        asked.append(AtOnce("between two parts of a host", across))
    return asked


def _paired(ranks: Sequence[int]) -> list[tuple[int, int]]:
    return list(zip(ranks[::2], ranks[1::2], strict=False))


def _nearest(found: Findings, hosts: Sequence[RankGroup]) -> tuple[RankGroup, ...]:
    first = hosts[0]
    return first, min(
        hosts[1:], key=lambda host: found.costs[first.ranks[0], host.ranks[0]]
    )


def _between(group: RankGroup) -> list[AtOnce]:
    """Pair the hosts of groups with those of the next group, around in a ring."""
    leaders = [_spread(below) for below in group.groups]
    level = level_name(group)
    rings = [
        list(zip(leaders[n], leaders[(n + 1) % len(leaders)], strict=False))
        for n in range(len(leaders) if len(leaders) > 2 else 1)
    ]
    common = min(min(map(len, rings)), *(len(part.groups) for part in group.groups))
    rings.sort(key=lambda pairs: -len(pairs))
    return [AtOnce(level, pairs, common, n == 0) for n, pairs in enumerate(rings)]


def _spread(group: RankGroup) -> list[int]:
    """Return a rank of each host, one of each group inside before the next of them."""
    if group.kind == HOST:
        return [group.ranks[0]]
    return [
        rank
        for turn in zip_longest(*map(_spread, group.groups))
        for rank in turn
        if rank is not None
    ]


def _find_curves(found: Findings, asked: Sequence[AtOnce], begin: int) -> None:
    """Make a curve of each pattern, and compare the groups of a network."""
    by_order: dict[int, list[Exchange]] = {}
    for exchange in found.samples.of("together", "burst"):
        if exchange.order >= begin:
            by_order.setdefault(exchange.order, []).append(exchange)
    runs = list(by_order.values())
    for each in asked:
        mine, runs = runs[: len(each.counts)], runs[len(each.counts) :]
        if len(mine) >= 2 and each.whole and each.pattern not in found.curves:
            found.curves[each.pattern] = _curve(found, mine)
    _compare_uplinks(found, asked, list(by_order.values()))


def _curve(found: Findings, runs: Iterable[Sequence[Exchange]]) -> PairCurve:
    pairs, times, numbers = [], [], []
    for run in runs:
        for exchange in run:
            back = 2 * found.costs[exchange.first, exchange.second]
            for number, seconds in enumerate(exchange.seconds):
                pairs.append(len(run))
                times.append(max(seconds - back, seconds / 10))
                numbers.append(number)
    return pair_curve(pairs, times, found.long_bytes * WINDOW, numbers)


def _compare_uplinks(
    found: Findings, asked: Sequence[AtOnce], runs: Sequence[Sequence[Exchange]]
) -> None:
    """Find what groups side by side send; compare them by equal numbers of pairs."""
    counts = [(each, count) for each in asked for count in each.counts]
    for group in network_groups(found.root):
        number = {rank: n for n, part in enumerate(group.groups) for rank in part.ranks}
        seconds: dict[tuple[int, int], float] = {}
        for (each, count), run in zip(counts, runs, strict=False):
            ends = {number.get(rank, -1) for pair in each.pairs for rank in pair}
            if len(ends) != 2 or -1 in ends:
                continue
            back = 2 * found.costs[run[0].first, run[0].second]
            # Of a single slow host the others know nothing: their median counts.
            usual = float(np.median([e.median for e in run])) - back
            rate = count * found.long_bytes * WINDOW / usual
            for part in (group.groups[end] for end in ends):
                known = found.uplinks.get(part.ranks, 0.0)
                found.uplinks[part.ranks] = max(known, rate)
            if count == each.common:
                seconds[min(ends), max(ends)] = usual
        if _are_alike(group.groups):
            found.suspects += slow_uplinks(group.groups, found.host_of, seconds)


def _are_alike(groups: Sequence[RankGroup]) -> bool:
    """Whether as many pairs of each share the same links: hosts only, or one shape."""
    if all(part.kind == HOST for group in groups for part in group.groups):
        return True
    sizes = {len(group.groups) for group in groups}
    return len(sizes) == 1 and _are_alike([p for g in groups for p in g.groups])


def _long_bytes(found: Findings) -> int:
    """Choose the bytes of long messages by the level on which they cost most."""
    last = [costs.alone.model.lines[-1] for costs in found.level_costs.values()]
    return max((long_size(line[0], line[1]) for line in last), default=1 << 18)


def _fit_costs(found: Findings) -> None:
    """Fit what messages of each level cost."""
    alone = [e for e in found.samples.exchanges if e.order in found.of_sizes]
    for level in found.levels:
        inside = _of_level(found, level)
        costs = level_costs(e for e in alone if inside(e))
        if costs is not None:
            found.level_costs[level.name] = costs


def _conclude(found: Findings) -> None:
    _fit_costs(found)
    quanta = [e for e in found.samples.of("noise", "noise") if e.seconds[0] > _QUANTUM]
    if quanta:  # not those of a simulated clock
        shares = [e.seconds[2] / e.seconds[0] - 1 for e in quanta]
        found.noise = float(np.median(shares))
        if found.noise > _NOISY:
            found.doubts.append(
                f"work takes {found.noise:.0%} longer than at best: something else "
                "runs on the hosts, or ranks share cores"
            )


def _of_level(found: Findings, level: Level) -> Callable[[Exchange], bool]:
    chosen = {id(group) for group in level.groups}

    def inside(exchange: Exchange) -> bool:
        return id(_smallest(found.root, exchange.first, exchange.second)) in chosen

    return inside
