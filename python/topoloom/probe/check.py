# SPDX-License-Identifier: BSD-3-Clause
"""Whether hosts are slower than the file of an earlier probe says."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from topoloom._core import Error
from topoloom.probe.job.running import ProbeJob
from topoloom.probe.job.samples import Order
from topoloom.probe.reference import Reference
from topoloom.probe.scanned import hosts_of
from topoloom.probe.stages.effort import EFFORTS, listed, sampling
from topoloom.probe.stages.rates import WINDOW
from topoloom.probe.stages.scan import SIZE as SCAN_SIZE

#: A host is slow that takes this much longer than the file says.
SLOW = 1.15
#: Other hosts of its group that each one is measured with, and how often again if it
#: seems slow.
_OTHERS, _AGAIN = 3, 2


@dataclass(frozen=True)
class SlowHost:
    """A host, what is slower, and how many times as long it takes."""

    host: str
    of: str
    factor: float


@dataclass(frozen=True)
class CheckedMachine:
    """What a check has found.

    Attributes
    ----------
    hosts
        Those that were measured.
    slow
        Those that are slower than the file says.
    unknown
        Those that the file does not name.
    latency, bandwidth
        How many times as long short and long messages take in the median of all hosts.
    """

    hosts: list[str]
    slow: list[SlowHost]
    unknown: list[str]
    latency: float
    bandwidth: float

    @property
    def good(self) -> bool:
        """Whether nothing is slower than the file says."""
        return not self.slow and max(self.latency, self.bandwidth) < SLOW

    def document(self) -> dict[str, Any]:
        """Make what ``--json`` prints."""
        return {
            "good": self.good,
            "hosts": self.hosts,
            "slow": [
                {"host": s.host, "of": s.of, "times_as_long": s.factor}
                for s in self.slow
            ],
            "unknown_hosts": self.unknown,
            "latency_times_as_long": self.latency,
            "bandwidth_times_as_long": self.bandwidth,
        }


def check(job: ProbeJob, reference: Reference) -> CheckedMachine:
    """Measure every host with a few of its group, and compare.

    Raises
    ------
    topoloom.Error
        If fewer than two of the job's hosts are known.
    """
    names = _units(job, reference)
    units = list(names) if len(reference.hosts) == 1 else reference.hosts
    known = {name: n for n, name in enumerate(units)}
    unknown = [name for name in names if name not in known]
    leader = {known[name]: rank for name, rank in names.items() if name in known}
    if len(leader) < 2:
        raise Error("fewer than two hosts of the job are in the file; probe them anew")
    pairs = _pairs(sorted(leader), reference.groups)
    slow: list[SlowHost] = []
    usual: dict[str, float] = {}
    for kind, of in (("echo", "latency"), ("burst", "bandwidth")):
        measured = partial(_ratios, job, leader, reference, kind)
        ratios = measured(pairs)
        usual[kind] = float(np.median(list(ratios.values())))
        # Where all hosts have become slower, none of them is the slow one.
        limit = SLOW * max(1.0, min(ratios.values()))
        for host, factor in _slow_ones(ratios, limit, measured):
            slow.append(SlowHost(units[host], of, factor))
    hosts = [units[host] for host in sorted(leader)]
    return CheckedMachine(hosts, slow, unknown, usual["echo"], usual["burst"])


def _slow_ones(
    ratios: dict[tuple[int, int], float],
    limit: float,
    again: Callable[[Sequence[tuple[int, int]]], dict[tuple[int, int], float]],
) -> Iterator[tuple[int, float]]:
    """Yield hosts that are slow twice, the slowest first, and how much.

    Each without the pairs of those before, which one slow host makes slow, too.
    """
    left = dict(ratios)
    while left:
        hosts = {host for pair in left for host in pair}
        own = {h: [r for pair, r in left.items() if h in pair] for h in hosts}
        host = max(sorted(hosts), key=lambda h: float(np.median(own[h])))
        if np.median(own[host]) <= limit:
            return
        mine = [pair for pair in left if host in pair]
        factor = float(np.median(list(again(mine * _AGAIN).values())))
        if factor > limit:
            yield host, factor
        left = {pair: r for pair, r in left.items() if pair not in mine}


def _units(job: ProbeJob, reference: Reference) -> dict[str, int]:
    """Return the first rank of each host, or each rank of a host probed alone."""
    if len(reference.hosts) == 1:
        return {f"rank {rank}": rank for rank in range(job.samples.ranks)}
    hosts, _ = hosts_of(job.samples)
    return {job.samples.places[ranks[0]].host: ranks[0] for ranks in hosts}


def _pairs(
    hosts: Sequence[int], groups: Sequence[Sequence[int]]
) -> list[tuple[int, int]]:
    """Pair each host with the next ones of its group, or of all if it is alone."""
    pairs: set[tuple[int, int]] = set()
    here = set(hosts)
    for host in hosts:
        group = next((g for g in groups if host in g and len(here & set(g)) > 1), hosts)
        mine = sorted(here & set(group))
        at = mine.index(host)
        for step in range(1, min(_OTHERS, len(mine) - 1) + 1):
            other = mine[(at + step) % len(mine)]
            pairs.add((min(host, other), max(host, other)))
    return sorted(pairs)


def _ratios(
    job: ProbeJob,
    leader: dict[int, int],
    reference: Reference,
    kind: str,
    pairs: Sequence[tuple[int, int]],
) -> dict[tuple[int, int], float]:
    """Measure pairs one after another; return how many times as long they take."""
    effort = EFFORTS["quick"]
    long = reference.long_bytes, WINDOW
    size, window = (SCAN_SIZE, 1) if kind == "echo" else long
    asked = listed([(leader[a], leader[b]) for a, b in pairs])
    found = job.measure(
        [
            sampling(effort),
            Order("alone", kind, [size], window, asked),
        ]
    )
    host_of = {rank: host for host, rank in leader.items()}
    ratios: dict[tuple[int, int], list[float]] = {}
    for exchange in found:
        a, b = host_of[exchange.first], host_of[exchange.second]
        expected = reference.expected(kind, a, b)
        pair = (min(a, b), max(a, b))
        ratios.setdefault(pair, []).append(exchange.median / expected)
    return {pair: float(np.median(values)) for pair, values in ratios.items()}
