# SPDX-License-Identifier: BSD-3-Clause
"""Measures suspected slow hosts and links again, together with comparable parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from topoloom.probe.findings import Findings
from topoloom.probe.inference.network import list_host_groups
from topoloom.probe.inference.pair_costs import HostCosts
from topoloom.probe.inference.suspects import (
    BANDWIDTH,
    BOTH,
    IN,
    LATENCY,
    OUT,
    REPORT_RATIO,
    Residuals,
    Suspect,
    compute_latency_residuals,
    compute_transfer_seconds,
    find_slow_hosts,
    find_slow_links,
)
from topoloom.probe.job.probe_job import ProbeJob
from topoloom.probe.job.samples import Exchange, Order
from topoloom.probe.stages.effort import format_pairs
from topoloom.probe.stages.rates import WINDOW
from topoloom.probe.stages.scan import SIZE

#: Number of pairs that measure a suspect host again, and number of measurements of a
#: suspect link.
_PAIRS = 4
#: Maximum ratio to typical times at which a direction is not slow.
_NORMAL_RATIO = 1.03

Partners = Mapping[int, Sequence[int]]


class _NearestHosts(Mapping[int, Sequence[int]]):
    """Other hosts sorted by distance from a host, computed on demand."""

    def __init__(self, predicted: HostCosts, hosts: int) -> None:
        self._predicted, self._hosts = predicted, hosts
        self._known: dict[int, list[int]] = {}

    def __getitem__(self, host: int) -> list[int]:
        if host not in self._known:
            order = np.argsort(self._predicted[host], kind="stable").tolist()
            self._known[host] = [other for other in order if other != host]
        return self._known[host]

    def __iter__(self) -> Iterator[int]:
        return iter(range(self._hosts))

    def __len__(self) -> int:
        return self._hosts


@dataclass
class _Recheck:
    """A kind of recheck: of latency, or of bandwidth."""

    of: str
    residuals: Residuals
    #: Measures pairs of hosts sequentially; returns the value of each pair.
    again: Callable[[Sequence[tuple[int, int]]], list[float]]
    partners: Partners  # comparable partners of each host


def recheck_suspects(
    job: ProbeJob, found: Findings, rates: Residuals, partners: Partners
) -> list[Suspect]:
    """Find the parts that are slow in the first measurement and again in a second one.

    `rates`: residuals of long messages. `partners`: hosts with which each host
    exchanged long messages.
    """
    if len(found.hosts) < 3 or found.network is None:
        return []
    first = [found.host_of.index(host) for host in range(len(found.hosts))]
    predicted = found.network.predicted

    def make_measurement(
        kind: str, size: int, window: int, ratio: Callable[[Exchange], float]
    ) -> Callable[[Sequence[tuple[int, int]]], list[float]]:
        def measure_pairs(pairs: Sequence[tuple[int, int]]) -> list[float]:
            ranks = format_pairs([(first[a], first[b]) for a, b in pairs])
            exchanges = job.measure([Order("alone", kind, [size], window, ranks)])
            # Results are in the order of initiating ranks, not in that of `pairs`.
            return [ratio(exchange) for exchange in exchanges]

        return measure_pairs

    host_of = found.host_of

    def compute_latency_ratio(e: Exchange) -> float:
        return e.median / float(predicted[host_of[e.first], host_of[e.second]])

    def compute_burst_transfer(e: Exchange) -> float:
        return compute_transfer_seconds(e, host_of, predicted)

    latencies = compute_latency_residuals(found.root, host_of, found.costs, predicted)
    short = make_measurement("echo", SIZE, 1, compute_latency_ratio)
    long = make_measurement("burst", found.long_bytes, WINDOW, compute_burst_transfer)
    nearest = _NearestHosts(predicted, len(found.hosts))
    groups = [
        {host_of[rank] for rank in group.ranks}
        for group in list_host_groups(found.root)
    ]
    suspects: list[Suspect] = []
    for look in (
        _Recheck(LATENCY, latencies, short, nearest),
        _Recheck(BANDWIDTH, rates, long, partners),
    ):
        ways = (BOTH, OUT, IN) if look.of == BANDWIDTH else (BOTH,)
        each = [find_slow_hosts(look.residuals, len(found.hosts), way) for way in ways]
        seeming = list(dict.fromkeys(host for of_way in each for host in of_way))
        slow = [s for host in seeming if (s := _recheck_host(look, host, set(seeming)))]
        known = {host for s in [*suspects, *slow] for host in s.hosts}
        suspects += _drop_slow_groups(slow, groups)
        links = [pair for pair, _ in find_slow_links(look.residuals, known)]
        suspects += [
            s for pair in links if (s := _recheck_link(look, pair, set(links)))
        ]
    return suspects


def _drop_slow_groups(
    slow: Sequence[Suspect], groups: Sequence[set[int]]
) -> list[Suspect]:
    """Drop hosts of groups in which all hosts are slow: there, the uplink is slow."""
    hosts = {host for suspect in slow for host in suspect.hosts}
    whole = [group for group in groups if len(group) > 1 and group <= hosts]
    return [s for s in slow if not any(s.hosts[0] in group for group in whole)]


def _recheck_host(look: _Recheck, host: int, seeming: set[int]) -> Suspect | None:
    others = [other for other in look.partners[host] if other not in seeming]
    others = others[:_PAIRS]
    control = [
        (other, third)
        for other in others
        for third in look.partners[other]
        if third != other and third not in seeming
    ]
    if len(others) < 2 or not control:
        return None
    there = look.again([(host, o) for o in others])
    back = look.again([(o, host) for o in others])
    like = look.again(control[:: max(1, len(control) // (2 * _PAIRS))])
    most = float(np.median(like))
    return _confirm_suspect("host", (host,), look.of, (there, back), like, most)


def _recheck_link(
    look: _Recheck, pair: tuple[int, int], seeming: set[tuple[int, int]]
) -> Suspect | None:
    control = [
        (end, other)
        for end in pair
        for other in look.partners[end]
        if other not in pair and (min(end, other), max(end, other)) not in seeming
    ]
    if len(control) < 2:
        return None
    there = look.again([pair] * (_PAIRS // 2))
    back = look.again([pair[::-1]] * (_PAIRS // 2))
    like = look.again(control[:: max(1, len(control) // (2 * _PAIRS))])
    return _confirm_suspect("link", pair, look.of, (there, back), like, max(like))


def _confirm_suspect(
    kind: str,
    hosts: tuple[int, ...],
    of: str,
    ways: tuple[list[float], list[float]],
    like: Sequence[float],
    most: float,
) -> Suspect | None:
    """Return a suspect if all measurements, or all in one direction, exceed `most`."""
    there, back = ways
    usual = float(np.median(like))
    chosen = {BOTH: there + back}
    if (
        of == BANDWIDTH
        and min(np.median(there), np.median(back)) < _NORMAL_RATIO * usual
    ):
        chosen = {OUT: there, IN: back}
    for way, own in chosen.items():
        factor = float(np.median(own)) / usual
        if factor >= REPORT_RATIO and min(own) > most:
            return Suspect(kind, hosts, of, factor, len(own), way)
    return None
