# SPDX-License-Identifier: BSD-3-Clause
"""Expected findings of a probe of a random machine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from probe.planted import ENVELOPE, Group, Planted, Regime, leaves

#: An uplink is visible if its bandwidth is at most this share of the links below.
_TIGHT = 0.9

Partition = frozenset[frozenset[int]]


@dataclass(frozen=True)
class Line:
    """Messages of `first` to `last` bytes take alpha + beta m seconds.

    The time is the median of half a round trip.
    """

    alpha: float
    beta: float
    first: int
    last: int | None


@dataclass(frozen=True)
class Truth:
    """Ranks in groups, and message costs between them."""

    machine: Planted

    @cached_property
    def ranks(self) -> dict[int, list[int]]:
        """Ranks of each host."""
        found: dict[int, list[int]] = {}
        for rank, host in enumerate(self.machine.host_of):
            found.setdefault(host, []).append(rank)
        return found

    @property
    def levels(self) -> range:
        """Levels from inside a host (0, if hosts have several ranks) to the machine."""
        several = len(self.machine.host_of) > self.machine.hosts
        return range(0 if several else 1, self.machine.depth + 1)

    def partition(self, level: int) -> Partition:
        """Return the partition of ranks into groups of a level."""
        if level == 0:
            return frozenset(map(frozenset, self.ranks.values()))
        groups = _iterate_groups_at_depth(
            self.machine.groups, self.machine.depth - level
        )
        return frozenset(
            frozenset(rank for host in leaves(group) for rank in self.ranks[host])
            for group in groups
        )

    def level_of(self, a: int, b: int) -> int:
        """Return the level that connects two ranks."""
        return next(
            level
            for level in range(self.machine.depth + 1)
            if any({a, b} <= group for group in self.partition(level))
        )

    def lines(self, level: int) -> list[Line]:
        """Return the costs of the messages of a level."""
        first, made = 0, []
        for regime in self.machine.regimes:
            made.append(self._make_line(level, regime, first))
            first = (regime.most or 0) + 1
        return made

    def tight_uplinks(self) -> dict[frozenset[int], float]:
        """Return the bandwidths of uplinks that carry less than the links below.

        Bandwidths are in bytes per second of long messages, keyed by the ranks below
        the uplink. Groups must be equal, so that a neighboring group can receive at the
        full rate.
        """
        machine = self.machine
        found: dict[frozenset[int], float] = {}
        factor = machine.regimes[-1].bandwidth_factor
        below = machine.bandwidths[1]
        for level in range(1, machine.depth):
            groups = self.partition(level)
            inside = len(self.partition(level - 1 if level > 1 else 0)) / len(groups)
            if len({*map(len, groups)}) > 1:
                return found
            uplink = machine.bandwidths[level + 1]
            if uplink < _TIGHT * inside * below:
                found.update(dict.fromkeys(groups, uplink * factor))
            below = min(uplink, inside * below)
        return found

    def _make_line(self, level: int, regime: Regime, first: int) -> Line:
        machine = self.machine
        rate = machine.path_bandwidth(level) * regime.bandwidth_factor
        beta = typical_slowness(machine.noise) / rate
        latency = machine.latencies[level] * regime.latency_factor
        alpha = machine.sending + machine.receiving + latency + ENVELOPE * beta
        return Line(alpha, beta, first, regime.most)


@cache
def typical_slowness(noise: float) -> float:
    """Return the median of 1 / rate over a round trip, relative to the median rate.

    Rates vary, clipped at three standard deviations. Their inverses are skewed, and so
    is the mean over the two messages of a round trip.
    """
    normal = np.random.default_rng(1).standard_normal((1 << 20, 2)).clip(-3, 3)
    return float(np.median((1 / (1 + noise * normal)).mean(axis=1)))


def _iterate_groups_at_depth(group: Group, depth: int) -> Iterator[Group]:
    """Yield the groups at a depth inside a group; depth 0 is the group itself."""
    if depth == 0:
        yield group
        return
    for part in group:
        assert not isinstance(part, int)
        yield from _iterate_groups_at_depth(part, depth - 1)
