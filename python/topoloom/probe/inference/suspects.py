# SPDX-License-Identifier: BSD-3-Clause
"""What is slower than its like: hosts, links between two of them, uplinks of groups."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from topoloom.probe.inference.groups import Costs, RankGroup
from topoloom.probe.job.samples import Exchange

#: What takes this much longer than its like is worth a second look, and is reported if
#: that finds the same.
LOOK, REPORT = 1.06, 1.08
#: Standard deviations of all residuals above which a second look is worth it.
_FAR = 4.0
#: Of normal values: their standard deviation in median deviations, and the standard
#: error of their median in that of their mean.
_SIGMA, _MEDIAN = 1.4826, 1.2533
#: Where there are more, the slowest are looked at.
MOST = 32
LATENCY, BANDWIDTH = "latency", "bandwidth"


@dataclass(frozen=True)
class Suspect:
    """Something that is slower than its like.

    Attributes
    ----------
    kind
        ``host``, ``link`` between two hosts, or ``uplink`` of a group of hosts.
    hosts
        Which.
    of
        What is worse: `LATENCY` or `BANDWIDTH`.
    factor
        How many times as long its messages take as those of its like.
    samples
        How many measurements say so.
    """

    kind: str
    hosts: tuple[int, ...]
    of: str
    factor: float
    samples: int

    def document(self, names: Sequence[str]) -> dict[str, Any]:
        """Make what ``--json`` prints."""
        return {
            "kind": self.kind,
            "hosts": [names[host] for host in self.hosts],
            "of": self.of,
            "times_as_long": self.factor,
            "measurements": self.samples,
        }


class Residuals:
    """How many times as long pairs of hosts took as their like, as logarithms."""

    def __init__(self) -> None:
        self._of_pairs: dict[tuple[int, int], list[float]] = {}
        self._errors: list[float] = []

    def add(self, a: int, b: int, ratio: float, error: float | None = None) -> None:
        """Note a measurement of two hosts, and the standard error of its ratio."""
        if error is not None:
            self._errors.append(error)
        pair = (a, b) if a < b else (b, a)
        self._of_pairs.setdefault(pair, []).append(math.log(ratio))

    @property
    def sigma(self) -> float:
        """Their standard error; without it their deviation, from the median one."""
        if self._errors:
            return float(np.median(self._errors))
        values = np.array([v for of in self._of_pairs.values() for v in of])
        if not len(values):
            return 0.0
        return _SIGMA * float(np.median(np.abs(values - np.median(values))))

    def host_values(self, host: int, without: set[int]) -> list[float]:
        """Return the residuals of a host with others, but for those in `without`."""
        return [
            float(np.median(values))
            for pair, values in self._of_pairs.items()
            if host in pair and not (without & set(pair))
        ]

    def pair_values(self) -> dict[tuple[int, int], float]:
        """Return the residual of each two different hosts."""
        pairs = self._of_pairs.items()
        return {pair: float(np.median(v)) for pair, v in pairs if pair[0] != pair[1]}


def latency_residuals(
    root: RankGroup, host_of: Sequence[int], costs: Costs, predicted: Costs
) -> Residuals:
    """Compare costs with what the network predicts, or with others of the same host.

    Parameters
    ----------
    costs
        Seconds between ranks.
    predicted
        Seconds between hosts.
    """
    found = Residuals()
    for group in root.all_groups():
        pairs = [pair for pair in group.pairs() if not np.isnan(costs[pair])]
        if not pairs:
            continue
        middle = float(np.median([costs[pair] for pair in pairs]))
        for a, b in pairs:
            hosts = host_of[a], host_of[b]
            if hosts[0] != hosts[1]:
                found.add(*hosts, costs[a, b] / predicted[hosts])
            elif len(pairs) > 2:
                found.add(*hosts, costs[a, b] / middle)
    return found


def rate_residuals(
    sets: Iterable[Sequence[int]], host_of: Sequence[int], bursts: Iterable[Exchange]
) -> Residuals:
    """Compare bursts with others of the same set, that were at once or alone, too."""
    found = Residuals()
    number = {rank: n for n, ranks in enumerate(sets) for rank in ranks}
    by_set: dict[tuple[str, int], list[Exchange]] = {}
    for burst in bursts:
        if burst.first in number and number[burst.first] == number.get(burst.second):
            by_set.setdefault((burst.how, number[burst.first]), []).append(burst)
    for of_set in by_set.values():
        middle = float(np.median([burst.median for burst in of_set]))
        for burst in of_set:
            hosts = host_of[burst.first], host_of[burst.second]
            apart = np.abs(burst.seconds - burst.median)
            error = _SIGMA * float(np.median(apart)) / math.sqrt(len(apart))
            found.add(*hosts, burst.median / middle, _MEDIAN * error / burst.median)
    return found


def slow_hosts(residuals: Residuals, hosts: int, look: float = LOOK) -> list[int]:
    """Return hosts that are worth a second look, slowest first.

    One is found after the other, without those before: a slow host makes the pairs of
    others slow, too.
    """
    sigma = residuals.sigma
    found: list[int] = []
    while len(found) < MOST:
        most = (0.0, -1)
        for host in set(range(hosts)) - set(found):
            values = residuals.host_values(host, set(found))
            if len(values) < 2:
                continue
            excess = float(np.median(values))
            least = max(math.log(look), _FAR * sigma / math.sqrt(len(values)))
            if excess > least:
                most = max(most, (excess, host))
        if most[1] < 0:
            break
        found.append(most[1])
    return found


def slow_links(
    residuals: Residuals, hosts: Iterable[int], look: float = LOOK
) -> list[tuple[tuple[int, int], float]]:
    """Return pairs of other hosts that are worth a second look, slowest first."""
    known, least = set(hosts), max(math.log(look), _FAR * residuals.sigma)
    found = [
        (pair, math.exp(value))
        for pair, value in residuals.pair_values().items()
        if value > least and not known & set(pair)
    ]
    found.sort(key=lambda each: -each[1])
    return found[:MOST]


def slow_uplinks(
    groups: Sequence[RankGroup],
    host_of: Sequence[int],
    seconds: dict[tuple[int, int], float],
) -> list[Suspect]:
    """Find groups all of whose exchanges with other groups take longer.

    Parameters
    ----------
    groups
        Groups of hosts side by side.
    seconds
        Of exchanges of all pairs at once, between two of them by their numbers, as a
        part of the time of one pair alone.
    """
    if len(seconds) < 3:
        return []
    middle = float(np.median(list(seconds.values())))
    found = []
    for number, group in enumerate(groups):
        own = [value / middle for pair, value in seconds.items() if number in pair]
        if len(own) >= 2 and min(own) > REPORT:
            hosts = tuple(sorted({host_of[rank] for rank in group.ranks}))
            found.append(
                Suspect("uplink", hosts, BANDWIDTH, float(np.median(own)), len(own))
            )
    return found
