# SPDX-License-Identifier: BSD-3-Clause
"""Finds pairs that share links, from their times in rounds of concurrent pairs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from topoloom._core import CostGroup, find_cost_groups
from topoloom.probe.inference.groups import P_VALUE, SIGMA
from topoloom.support.units import format_bandwidth

if TYPE_CHECKING:
    from topoloom.documents.probes import SharedLinkFields

Pair = tuple[int, int]

#: Minimal ratio of concurrent time to time alone at which pairs seem to share a link.
SLOWED_RATIO = 1.15
#: Minimal deviation, in standard deviations, at which a pair in a round seems slowed.
_FAR = 3.0
#: Minimal number of samples whose median is typical of a pair.
_USUAL = 3
#: Maximum number of host names in a description.
_NAMED = 6
#: Maximum number of combinations of two pairs up to which coverage is counted exactly.
_COUNTED = 1 << 22


@dataclass(frozen=True)
class SharedLink:
    """A link that limits concurrent exchanges."""

    #: Hosts whose exchanges with other hosts of their group use the link. If empty,
    #: only exchanges of `pairs` use the link.
    hosts: tuple[int, ...]
    pairs: tuple[Pair, ...]  # the host pairs that were measured concurrently
    factor: float  # ratio of their concurrent time to their time alone
    rate: float  # their total bytes/s in each direction

    def crosses(self, pair: Pair) -> bool:
        """Return whether an exchange of two hosts is known to use the link."""
        if not self.hosts:
            return pair in self.pairs or pair[::-1] in self.pairs
        return (pair[0] in self.hosts) != (pair[1] in self.hosts)

    def document(self, names: Sequence[str]) -> SharedLinkFields:
        """Return the fields of the ``--json`` output."""
        return {
            "hosts": [names[host] for host in self.hosts],
            "pairs": [[names[a], names[b]] for a, b in self.pairs],
            "times_as_long": self.factor,
            "bytes_per_second": self.rate,
            "text": self.text(names),
        }

    def text(self, names: Sequence[str]) -> str:
        """Describe the pairs that share the link."""
        rate = format_bandwidth(self.rate)
        if not self.hosts:
            pairs = " and ".join(f"{names[a]}-{names[b]}" for a, b in self.pairs)
            return f"{pairs} share a link of {rate}"
        own = sorted((names[host] for host in self.hosts), key=lambda n: (len(n), n))
        named, more = ", ".join(own[:_NAMED]), len(own) - _NAMED
        if more > 0:
            named += f" and {more} more"
        return f"{named} share a link of {rate} to all other hosts"


class ConcurrentRounds:
    """Rounds of concurrent, disjoint host pairs of a set, with times.

    Parameters
    ----------
    hosts
        Hosts of the set.
    rounds
        Seconds by pair, for each round; NaN if unknown.
    """

    def __init__(
        self, hosts: Sequence[int], rounds: Iterable[Mapping[Pair, float]]
    ) -> None:
        self.hosts = list(hosts)
        self.rounds = [
            {pair: s for pair, s in each.items() if not np.isnan(s)} for each in rounds
        ]
        by_pair: dict[Pair, list[float]] = {}
        for each in self.rounds:
            for pair, seconds in each.items():
                by_pair.setdefault(pair, []).append(seconds)
        self._seconds = by_pair

    @property
    def pairs(self) -> list[Pair]:
        """Measured pairs."""
        return list(self._seconds)

    def compute_typical_times(self) -> dict[Pair, float]:
        """Return each pair's typical time; with few rounds, the set's typical time."""
        every = [s for seconds in self._seconds.values() for s in seconds]
        middle = float(np.median(every)) if every else 0.0
        return {
            pair: float(np.median(seconds)) if len(seconds) >= _USUAL else middle
            for pair, seconds in self._seconds.items()
        }

    def find_groups(self) -> list[tuple[int, ...]]:
        """Find sets of hosts that are slower with other hosts than among themselves.

        The smallest sets are first.
        """
        count = len(self.hosts)
        number = {host: n for n, host in enumerate(self.hosts)}
        costs = np.full((count, count), np.nan)
        np.fill_diagonal(costs, 0)
        for (a, b), seconds in self._seconds.items():
            where = number[a], number[b]
            costs[where] = costs[where[::-1]] = float(np.median(seconds))
        if count < 4 or np.isnan(costs).mean() > 0.5:
            return []
        costs[np.isnan(costs)] = np.nanmedian(costs[~np.eye(count, dtype=bool)])
        found = [
            tuple(self.hosts[n] for n in sorted(group.members))
            for group in _list_all_groups(
                find_cost_groups(costs, significance=P_VALUE).groups
            )
        ]
        return sorted((group for group in found if len(group) > 1), key=len)

    def find_slowed_pairs(self, known: Sequence[SharedLink] = ()) -> list[list[Pair]]:
        """List the slow pairs of each round in which several pairs are slow.

        Pairs that cross a known link are ignored.
        """
        usual = self.compute_typical_times()
        ratios = {
            (n, pair): np.log(seconds / usual[pair])
            for n, each in enumerate(self.rounds)
            for pair, seconds in each.items()
        }
        values = np.array(list(ratios.values()) or [0.0])
        sigma = SIGMA * float(np.median(np.abs(values - np.median(values))))
        least = max(np.log(SLOWED_RATIO), _FAR * sigma)
        by_round: dict[int, list[Pair]] = {}
        for (n, pair), ratio in ratios.items():
            if ratio > least and not any(link.crosses(pair) for link in known):
                by_round.setdefault(n, []).append(pair)
        return [pairs for pairs in by_round.values() if len(pairs) > 1]

    def count_meetings(self) -> tuple[int, int]:
        """Count combinations of two disjoint pairs: measured concurrently, and all."""
        pairs = self.pairs
        ends = np.array(pairs).reshape(-1, 2)
        degrees = np.unique(ends, return_counts=True)[1]
        total = len(pairs) * (len(pairs) - 1) // 2
        total -= int((degrees * (degrees - 1) // 2).sum())
        met = sum(len(each) * (len(each) - 1) // 2 for each in self.rounds)
        if len(pairs) ** 2 <= _COUNTED:
            number = {pair: n for n, pair in enumerate(pairs)}
            seen = np.zeros((len(pairs), len(pairs)), dtype=bool)
            for each in self.rounds:
                chosen = [number[pair] for pair in each]
                seen[np.ix_(chosen, chosen)] = True
            met = (int(seen.sum()) - len(pairs)) // 2
        return min(met, total), total


def _list_all_groups(groups: Iterable[CostGroup]) -> Iterator[CostGroup]:
    for group in groups:
        yield group
        yield from _list_all_groups(group.groups)


def find_conflicts(
    candidates: Iterable[Sequence[Pair]], most: int
) -> list[tuple[Pair, Pair]]:
    """List two pairs at a time that may slow each other, the most frequent first."""
    counts: dict[tuple[Pair, Pair], float] = {}
    for pairs in candidates:
        for a, b in combinations(sorted(pairs), 2):
            # In a round with many slow pairs, each combination is less likely to be the
            # cause.
            counts[a, b] = counts.get((a, b), 0.0) + 1 / (len(pairs) - 1)
    return sorted(counts, key=lambda both: -counts[both])[:most]
