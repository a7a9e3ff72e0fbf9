# SPDX-License-Identifier: BSD-3-Clause
"""Finds links that host pairs share, without measuring all pairs with each other.

Rounds of concurrent pairs are group tests. Pairs that other pairs of the round seem to
slow down are measured again, with these pairs and alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from topoloom.probe.findings import Findings
from topoloom.probe.inference.groups import GROUP, HOST, RankGroup
from topoloom.probe.inference.large_groups import infer_network
from topoloom.probe.inference.network import HostNetwork, SwitchLink
from topoloom.probe.inference.shared_links import (
    SLOWED_RATIO,
    ConcurrentRounds,
    SharedLink,
    find_conflicts,
)
from topoloom.probe.job.probe_job import ProbeJob
from topoloom.probe.network_model import find_host_costs
from topoloom.probe.scan_inference import list_comparable_sets, list_first_ranks
from topoloom.probe.stages.effort import Clock, Effort
from topoloom.probe.stages.meetings import MAX_CHOSEN, Pair, Round, choose_meetings
from topoloom.probe.stages.shared_links import (
    WINDOW,
    MeasuredRound,
    choose_meeting_size,
    choose_rounds,
    measure_concurrently,
    measure_meetings,
)
from topoloom.probe.typical_costs import compute_typical_costs

#: Share of the remaining time that this stage may take.
_SHARE = 0.5
#: Maximum number of cases, two pairs or a group of hosts, that are measured again.
_MAX_RECHECKS = 128
#: Maximum number of concurrent exchanges that measure the bandwidth of a shared link.
_MAX_CROSSING = 16


def find_shared_links(
    job: ProbeJob,
    found: Findings,
    typical: Sequence[Pair],
    effort: Effort,
    clock: Clock,
    advance: Callable[[int, int], None],
) -> None:
    """Measure rounds while time remains, then measure suspected shared links again."""
    costs = find_host_costs(found)
    if found.network is None or costs is None:
        return
    sets, rounds = _plan_rounds(found, effort)
    line = costs.alone.model.lines[-1]
    size = choose_meeting_size(line[0], line[1])
    end = clock.spent + _SHARE * clock.left()
    met = measure_meetings(job, rounds, typical, size, clock.until(end, 0.5), advance)
    looks = _SharedLinkRechecks(job, found, costs.bandwidth, clock.until(end))
    seen = total = 0
    for each in _group_by_set(found, sets, met):
        if not found.network.is_graph:
            looks.check_groups(each)
        looks.check_pairs(each)
        covered = each.count_meetings()
        seen, total = seen + covered[0], total + covered[1]
    found.shared = looks.links
    found.pairs_met = seen / total if total else None
    _add_switches(found)


def _plan_rounds(
    found: Findings, effort: Effort
) -> tuple[list[list[int]], list[Round]]:
    """Choose sets of ranks that share no links with other sets, and their rounds."""
    assert found.network is not None
    if not found.network.is_graph:
        sets = [each for each in list_comparable_sets(found) if len(each) > 3]
        return sets, choose_rounds(sets, effort.meetings)
    first = list_first_ranks(found)
    links = [(first[a], first[b]) for a, b in found.network.neighbors]
    return [list(found.root.ranks)], choose_meetings(
        links[:: -(-len(links) // MAX_CHOSEN)]
    )


def _add_switches(found: Findings) -> None:
    """Add a switch for each set of hosts that share a link."""
    hosts = [link for link in found.shared if link.hosts]
    if not hosts:
        return
    ranks: list[list[int]] = [[] for _ in found.hosts]
    for rank, host in enumerate(found.host_of):
        ranks[host].append(rank)
    root = _insert_switches(found, found.root, hosts)
    network = infer_network(root, ranks, found.host_of, compute_typical_costs(found))
    found.network = replace(network, links=_move_latency(network, found.root))


def _move_latency(network: HostNetwork, before: RankGroup) -> list[SwitchLink]:
    """Move the latency of a new switch's uplink to the links of its hosts."""
    assert network.root is not None
    known = {group.ranks for group in before.all_groups()}
    usual: dict[int, float] = {}
    of = {id(link.below): link.latency for link in network.links}
    for group in network.root.all_groups():
        beside = [of[id(part)] for part in group.groups if part.kind == HOST]
        for part in group.groups:
            if beside and part.kind == GROUP and part.ranks not in known:
                usual |= {id(host): beside[0] for host in part.groups}
                usual[id(part)] = 0.0
    return [
        replace(link, latency=usual.get(id(link.below), link.latency))
        for link in network.links
    ]


def _insert_switches(
    found: Findings, group: RankGroup, links: Sequence[SharedLink]
) -> RankGroup:
    if group.kind == HOST:
        return group
    parts = [_insert_switches(found, part, links) for part in group.groups]
    for link in links:
        behind = [
            part
            for part in parts
            if part.kind == HOST and found.host_of[part.ranks[0]] in link.hosts
        ]
        if len(behind) == len(link.hosts) < len(parts):
            parts = [part for part in parts if part not in behind]
            members = tuple(sorted(r for part in behind for r in part.ranks))
            parts.append(RankGroup(GROUP, members, tuple(behind)))
            found.uplinks[members] = link.rate
    return replace(group, groups=tuple(parts))


def _group_by_set(
    found: Findings, sets: Sequence[Sequence[int]], met: Sequence[MeasuredRound]
) -> list[ConcurrentRounds]:
    number = {rank: n for n, ranks in enumerate(sets) for rank in ranks}
    host = found.host_of
    rounds: list[list[dict[Pair, float]]] = [[] for _ in sets]
    for pairs, seconds in met:
        own: list[dict[Pair, float]] = [{} for _ in sets]
        for (a, b), each in zip(pairs, seconds, strict=True):
            own[number[a]][host[a], host[b]] = each
        for n, of_set in enumerate(own):
            if of_set:
                rounds[n].append(of_set)
    return [
        ConcurrentRounds([host[rank] for rank in ranks], of_set)
        for ranks, of_set in zip(sets, rounds, strict=True)
    ]


class _SharedLinkRechecks:
    """Repeated measurements, and the shared links that they confirm."""

    def __init__(
        self, job: ProbeJob, found: Findings, bandwidth: float, clock: Clock
    ) -> None:
        self._job, self._size, self._clock = job, found.long_bytes, clock
        self._first, self._bandwidth = list_first_ranks(found), bandwidth
        self._alone: dict[Pair, float] = {}
        self._left = _MAX_RECHECKS
        self.links: list[SharedLink] = []

    def check_groups(self, met: ConcurrentRounds) -> None:
        """Measure concurrent exchanges of a group's hosts with other hosts."""
        known: list[set[int]] = []
        for group in met.find_groups():
            others = [host for host in met.hosts if host not in group]
            if set(others) <= set().union(*known):
                continue
            crossing = list(zip(group, others, strict=False))[:_MAX_CROSSING]
            if len(crossing) < 2 or not self._use_recheck():
                continue
            if self._confirm_link(group, crossing):
                known.append(set(group))

    def check_pairs(self, met: ConcurrentRounds) -> None:
        """Measure two pairs concurrently if both seemed slow in the same round."""
        candidates = met.find_slowed_pairs(self.links)
        for both in find_conflicts(candidates, _MAX_RECHECKS):
            if not self._use_recheck():
                return
            self._confirm_link((), both)

    def _use_recheck(self) -> bool:
        self._left -= 1
        return self._left >= 0 and self._clock.left() > 0

    def _confirm_link(self, hosts: tuple[int, ...], pairs: Sequence[Pair]) -> bool:
        """Measure pairs concurrently and alone; record a link if all are slowed."""
        once = self._measure(pairs)
        for pair in pairs:
            if pair not in self._alone:
                self._alone |= self._measure([pair])
        factors = [once[pair] / self._alone[pair] for pair in pairs]
        if min(factors) < SLOWED_RATIO:
            return False
        rate = sum(self._compute_rate(once[pair] - self._alone[pair]) for pair in pairs)
        factor = float(np.median(factors))
        self.links.append(SharedLink(tuple(sorted(hosts)), tuple(pairs), factor, rate))
        return True

    def _compute_rate(self, longer: float) -> float:
        """Compute the bytes/s of a pair from the seconds by which it was slower."""
        return 1 / (longer / (self._size * WINDOW) + 1 / self._bandwidth)

    def _measure(self, pairs: Sequence[Pair]) -> dict[Pair, float]:
        ranks = {(self._first[a], self._first[b]): (a, b) for a, b in pairs}
        seconds = measure_concurrently(self._job, list(ranks), self._size)
        return {ranks[pair]: each for pair, each in seconds.items()}
