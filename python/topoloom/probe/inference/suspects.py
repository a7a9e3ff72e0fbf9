# SPDX-License-Identifier: BSD-3-Clause
"""Finds hosts, links and uplinks that are slower than comparable ones."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from topoloom.probe.inference.groups import MEDIAN, SIGMA, RankGroup
from topoloom.probe.inference.pair_costs import (
    HostCosts,
    SomeCosts,
    select_measured_pairs,
)
from topoloom.probe.job.samples import Exchange

if TYPE_CHECKING:
    from topoloom.documents.probes import SuspectFields

#: Minimal ratio of a part's time to that of comparable parts: to measure it again, and
#: to report it once confirmed.
RECHECK_RATIO, REPORT_RATIO = 1.06, 1.08
#: Minimal residual, in standard deviations, at which a host or a link is measured
#: again.
_FAR, _FAR_LINK = 4.0, 3.0
#: Maximum number of suspects that are measured again, the slowest first.
MAX_SUSPECTS = 32
#: Minimal number of comparable parts, and minimal share of exchanges that are normal.
MIN_COMPARABLE, _USUAL = 4, 0.25
Numbers = NDArray[np.int64]
Values = NDArray[np.float64]
LATENCY, BANDWIDTH = "latency", "bandwidth"
BOTH, OUT, IN = "both", "out", "in"


@dataclass(frozen=True)
class Suspect:
    """A part that is slower than comparable ones."""

    kind: str  # ``host``, ``link`` between two hosts, or ``uplink`` of a group of hosts
    hosts: tuple[int, ...]  # concerned hosts
    of: str  # `LATENCY` or `BANDWIDTH`
    factor: float  # ratio of its message times to those of comparable parts
    samples: int  # number of repeated measurements
    #: `BOTH`, or the only slow direction: `OUT` of the first host, or `IN` to it.
    way: str = BOTH

    def slows(self, sender: int, receiver: int) -> bool:
        """Return whether this part slows messages from a sender to a receiver."""
        ends = (sender, receiver)
        if len(self.hosts) == 1:
            places = {BOTH: ends, OUT: ends[:1], IN: ends[1:]}
            return self.hosts[0] in places.get(self.way, ends)
        ways = {BOTH: (ends, ends[::-1]), OUT: (ends,), IN: (ends[::-1],)}
        return self.hosts in ways.get(self.way, ways[BOTH])

    def document(self, names: Sequence[str]) -> SuspectFields:
        """Return the fields of the ``--json`` output."""
        return {
            "kind": self.kind,
            "hosts": [names[host] for host in self.hosts],
            "of": self.of,
            "times_as_long": self.factor,
            "measurements": self.samples,
            "way": self.way,
            "direction": self._describe_direction(names),
        }

    def _describe_direction(self, names: Sequence[str]) -> str:
        """Describe the slow direction, as the end of a sentence."""
        if self.way == BOTH:
            return ""
        if len(self.hosts) == 1:
            return " when it sends" if self.way == OUT else " when it receives"
        ends = self.hosts if self.way == OUT else self.hosts[::-1]
        return f" from {names[ends[0]]} to {names[ends[1]]}"


class SlowPairs:
    """Tells which pairs of ranks use a slow host or link.

    Pairs inside a host are never slow.
    """

    def __init__(self, suspects: Iterable[Suspect], host_of: Sequence[int]) -> None:
        self._host_of = np.asarray(host_of)
        self._hosts = np.zeros(int(self._host_of.max(initial=0)) + 1, dtype=bool)
        self._links: list[tuple[int, ...]] = []
        for suspect in suspects:
            if suspect.kind == "host":
                self._hosts[list(suspect.hosts)] = True
            elif suspect.kind == "link":
                self._links.append(suspect.hosts)

    def is_slow(self, host: int) -> bool:
        """Return whether the host is slow."""
        return bool(self._hosts[host])

    def contains(self, first: int, second: int) -> bool:
        """Return whether a pair of ranks is slow."""
        return bool(self.select_slow(np.array([first]), np.array([second]))[0])

    def select_slow(self, first: Numbers, second: Numbers) -> NDArray[np.bool_]:
        """Return a mask of the slow pairs among several pairs."""
        a, b = self._host_of[first], self._host_of[second]
        found: NDArray[np.bool_] = (a != b) & (self._hosts[a] | self._hosts[b])
        for one, other in self._links:
            found |= ((a == one) & (b == other)) | ((a == other) & (b == one))
        return found


class Residuals:
    """Logarithms of ratios: times of host pairs to times of comparable pairs."""

    def __init__(self) -> None:
        self._blocks: list[tuple[Numbers, Numbers, Values]] = []
        self._errors: list[float] = []

    def add(self, a: int, b: int, ratio: float, error: float | None = None) -> None:
        """Add the ratio measured for two hosts, and its standard error."""
        if error is not None:
            self._errors.append(error)
        self.add_all(np.array([a]), np.array([b]), np.array([ratio]))

    def add_all(self, a: Numbers, b: Numbers, ratios: Values) -> None:
        """Add the ratios measured for pairs of hosts."""
        self._blocks.append((a, b, np.log(ratios)))

    @property
    def _all_medians(self) -> tuple[Numbers, Numbers, Values]:
        none = (np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))
        a, b, values = zip(none, *self._blocks, strict=True)
        return np.concatenate(a), np.concatenate(b), np.concatenate(values)

    @property
    def pairs(self) -> tuple[Numbers, Numbers, Values]:
        """Pairs of hosts, lower host first, and the median of their measurements."""
        a, b, values = self._all_medians
        return _merge_directions(np.minimum(a, b), np.maximum(a, b), values)

    @property
    def directed_medians(self) -> tuple[Numbers, Numbers, Values]:
        """Senders, receivers, and the median of their measurements."""
        return _merge_directions(*self._all_medians)

    @property
    def sigma(self) -> float:
        """Standard error of the ratios; if unknown, estimated from their spread."""
        if self._errors:
            return float(np.median(self._errors))
        _, _, values = self._all_medians
        if not len(values):
            return 0.0
        return SIGMA * float(np.median(np.abs(values - np.median(values))))

    def pair_values(self) -> dict[tuple[int, int], float]:
        """Return the residual of each ordered pair of different hosts."""
        a, b, values = self.pairs
        pairs = zip(a.tolist(), b.tolist(), values.tolist(), strict=True)
        return {(one, other): value for one, other, value in pairs if one != other}


def _merge_directions(
    a: Numbers, b: Numbers, values: Values
) -> tuple[Numbers, Numbers, Values]:
    if not len(a):
        return a, b, values
    width = max(int(a.max()), int(b.max())) + 1
    keys, medians = _compute_medians(a * width + b, values)
    return keys // width, keys % width, medians


def _compute_medians(keys: Numbers, values: Values) -> tuple[Numbers, Values]:
    """Return the unique keys in ascending order, and the median value of each."""
    order = np.lexsort((values, keys))
    keys, values = keys[order], values[order]
    begins = np.flatnonzero(np.diff(keys, prepend=keys[:1] - 1))
    ends = np.append(begins[1:], len(keys))
    middle = (begins + ends - 1) // 2, (begins + ends) // 2
    return keys[begins], (values[middle[0]] + values[middle[1]]) / 2


def compute_latency_residuals(
    root: RankGroup,
    host_of: Sequence[int],
    costs: SomeCosts,
    predicted: HostCosts,
) -> Residuals:
    """Compare costs with the network's predictions; inside a host, with each other.

    `costs`: seconds between ranks. `predicted`: seconds between hosts.
    """
    found = Residuals()
    hosts = np.asarray(host_of)
    for group in root.all_groups():
        pairs, seconds = select_measured_pairs(group, costs)
        if not len(pairs):
            continue
        a, b = hosts[pairs[:, 0]], hosts[pairs[:, 1]]
        apart = a != b
        if apart.any():
            a, b, seconds = a[apart], b[apart], seconds[apart]
            found.add_all(a, b, seconds / predicted[a, b])
        elif len(pairs) > 2:
            found.add_all(a, b, seconds / np.median(seconds))
    return found


def compute_rate_residuals(
    sets: Iterable[Sequence[int]],
    host_of: Sequence[int],
    bursts: Iterable[Exchange],
    latencies: HostCosts,
) -> Residuals:
    """Compare the bursts in each set: concurrent bursts, and separately single bursts.

    `latencies`: seconds of a short message between hosts.
    """
    found = Residuals()
    number = {rank: n for n, ranks in enumerate(sets) for rank in ranks}
    by_set: dict[tuple[str, int], list[Exchange]] = {}
    for burst in bursts:
        if burst.first in number and number[burst.first] == number.get(burst.second):
            by_set.setdefault((burst.how, number[burst.first]), []).append(burst)
    for of_set in by_set.values():
        took = [compute_transfer_seconds(burst, host_of, latencies) for burst in of_set]
        middle = float(np.median(took))
        for burst, seconds in zip(of_set, took, strict=True):
            hosts = host_of[burst.first], host_of[burst.second]
            apart = np.abs(burst.seconds - burst.median)
            error = SIGMA * float(np.median(apart)) / math.sqrt(len(apart))
            found.add(*hosts, seconds / middle, MEDIAN * error / seconds)
    return found


def compute_transfer_seconds(
    burst: Exchange, host_of: Sequence[int], latencies: HostCosts
) -> float:
    """Compute the transfer time of a burst between two hosts, without latency."""
    latency = float(latencies[host_of[burst.first], host_of[burst.second]])
    return subtract_latency(burst.median, latency)


def subtract_latency(long: float, short: float) -> float:
    """Subtract a burst's latency: of the data, and of the receiver's grant."""
    return max(long - 2 * short, long / 2)


def is_as_fast_across(
    sets: Sequence[Sequence[int]],
    host_of: Sequence[int],
    bursts: Iterable[Exchange],
    latencies: HostCosts,
) -> bool:
    """Return whether bandwidth between sets of ranks equals that inside the sets."""
    number = {rank: n for n, ranks in enumerate(sets) for rank in ranks}
    inside: list[float] = []
    across: list[float] = []
    for burst in bursts:
        if burst.first in number and burst.second in number:
            same = number[burst.first] == number[burst.second]
            took = compute_transfer_seconds(burst, host_of, latencies)
            (inside if same else across).append(took)
    if not inside or not across:
        return False
    far, near = (float(np.quantile(of, _USUAL)) for of in (across, inside))
    return far <= RECHECK_RATIO * near


def find_slow_hosts(residuals: Residuals, hosts: int, way: str = BOTH) -> list[int]:
    """Find hosts to measure again, slowest first.

    Pairs that include a host already found are ignored, because a slow host slows its
    partners.

    `way`: `BOTH`, or only what the host sends (`OUT`) or receives (`IN`).
    """
    sigma = residuals.sigma
    found: list[int] = []
    if way == BOTH:
        a, b, values = residuals.pairs
        ends = np.concatenate([a, b[a != b]])
        others = np.concatenate([b, a[a != b]])
        values = np.concatenate([values, values[a != b]])
    else:
        a, b, values = residuals.directed_medians
        ends, others = (a, b) if way == OUT else (b, a)
    while len(found) < MAX_SUSPECTS and len(ends):
        own, excess = _compute_medians(ends, values)
        counts = np.bincount(ends, minlength=hosts)[own]
        least = np.maximum(math.log(RECHECK_RATIO), _FAR * sigma / np.sqrt(counts))
        slow = (counts >= 2) & (excess > least)
        if not slow.any():
            break
        most = excess[slow].max()
        found.append(int(own[slow & (excess == most)].max()))
        left = (ends != found[-1]) & (others != found[-1])
        ends, others, values = ends[left], others[left], values[left]
    return found


def find_slow_links(
    residuals: Residuals, hosts: Iterable[int], link_residuals: float = RECHECK_RATIO
) -> list[tuple[tuple[int, int], float]]:
    """Find links between unsuspected hosts to measure again, slowest first."""
    known, least = (
        set(hosts),
        max(math.log(link_residuals), _FAR_LINK * residuals.sigma),
    )
    found = [
        (pair, math.exp(value))
        for pair, value in residuals.pair_values().items()
        if value > least and not known & set(pair)
    ]
    found.sort(key=lambda each: -each[1])
    return found[:MAX_SUSPECTS]


def find_slow_uplinks(
    groups: Sequence[RankGroup],
    host_of: Sequence[int],
    seconds: dict[tuple[int, int], float],
) -> list[Suspect]:
    """Find groups of hosts whose exchanges with all other groups are slow.

    `groups`: sibling groups of hosts. `seconds`: seconds of concurrent exchanges
    between two groups, whose numbers are the key.
    """
    if len(seconds) < 3:
        return []
    middle = float(np.median(list(seconds.values())))
    found = []
    for number, group in enumerate(groups):
        own = [value / middle for pair, value in seconds.items() if number in pair]
        if len(own) >= 2 and min(own) > REPORT_RATIO:
            hosts = tuple(sorted({host_of[rank] for rank in group.ranks}))
            found.append(
                Suspect("uplink", hosts, BANDWIDTH, float(np.median(own)), len(own))
            )
    return found
