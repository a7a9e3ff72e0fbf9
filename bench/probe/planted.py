# SPDX-License-Identifier: BSD-3-Clause
"""Random machines with all parameters that a probe should find.

Groups of hosts are nested. The route of two hosts uses their links, and the uplinks of
their groups below the smallest common group. In SMPI, a message of m bytes between idle
hosts takes (within 0.6 % on ten machines with a ping-pong)

os + or + latency * latency factor + (m + 16 B) / (bandwidth * bandwidth factor)

The factors depend on m.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from random import Random
from typing import TypeAlias

LATENCY, BANDWIDTH = "latency", "bandwidth"
#: Bytes of SMPI's envelope, and bytes of the messages of the scan.
ENVELOPE, SCANNED = 16, 512
#: Bandwidth of a slow part relative to its peers; slow latencies grow by the inverse.
SLOW = 0.8
#: Minimum factor between times of levels, and between times on both sides of a break
#: point. Smaller differences need not be found.
APART, JUMP = 1.1, 1.1
#: Smallest and largest end of a regime in bytes, and minimum factor between two ends.
_FIRST, _LAST, _WIDE = 64, 1 << 18, 8
_RANKS = 96

Group: TypeAlias = "tuple[Group, ...] | tuple[int, ...]"


@dataclass(frozen=True)
class Regime:
    """A regime: factors of messages of up to `most` bytes; None: no limit."""

    most: int | None
    latency_factor: float
    bandwidth_factor: float


@dataclass(frozen=True)
class Slow:
    """A host, or a link inside a group, that is slower than its peers."""

    hosts: tuple[int, ...]
    of: str

    @property
    def kind(self) -> str:
        """``host`` or ``link``."""
        return "host" if len(self.hosts) == 1 else "link"


@dataclass(frozen=True)
class Trunk:
    """A link without latency that some hosts of a smallest group share to reach others.

    `lanes`: its bandwidth in units of a host link's bandwidth.
    """

    hosts: tuple[int, ...]
    lanes: float


@dataclass(frozen=True)
class Planted:
    """A random machine with known parameters.

    Attributes
    ----------
    host_of
        The host of each rank.
    groups
        Nested groups of hosts, with the same depth everywhere.
    latencies
        Seconds of a route: inside a host, inside a smallest group, and so on.
    bandwidths
        Bytes per second inside a host, of a host's link, of the uplinks of smallest
        groups, and so on.
    sending, receiving
        Overhead of the send call and of the receive call in seconds.
    noise
        Standard deviation of the random factor of each message.
    shared
        Two pairs of hosts of a smallest group whose routes share a link.
    trunk
        A link shared by some hosts of a smallest group.
    """

    seed: int
    host_of: tuple[int, ...]
    groups: Group
    latencies: tuple[float, ...]
    bandwidths: tuple[float, ...]
    regimes: tuple[Regime, ...]
    sending: float
    receiving: float
    noise: float
    slow: Slow | None = None
    shared: tuple[tuple[int, int], ...] = ()
    trunk: Trunk | None = None

    @property
    def hosts(self) -> int:
        """Number of hosts."""
        return 1 + max(self.host_of)

    @property
    def depth(self) -> int:
        """Number of levels of pairs of hosts; 1 if the machine is flat."""
        return len(self.latencies) - 1

    def path_bandwidth(self, level: int) -> float:
        """Return one message's bytes per second; level 0 is inside a host."""
        return self.bandwidths[0] if level == 0 else min(self.bandwidths[1 : level + 1])

    def regime_of(self, size: int) -> Regime:
        """Return the regime of a message size."""
        ends = (r for r in self.regimes if r.most is None or size <= r.most)
        return next(ends)

    def seconds(self, level: int, size: int, regime: Regime | None = None) -> float:
        """Return the seconds of a message, in its own or in a given regime.

        Level 0 is inside a host.
        """
        regime = regime or self.regime_of(size)
        rate = self.path_bandwidth(level) * regime.bandwidth_factor
        latency = self.latencies[level] * regime.latency_factor
        overhead = self.sending + self.receiving
        return overhead + latency + (size + ENVELOPE) / rate

    def added_latency(self) -> float:
        """Return the additional latency of a slow host or link in seconds."""
        regime = self.regime_of(SCANNED)
        longer = (1 / SLOW - 1) * self.seconds(1, SCANNED)
        return longer / regime.latency_factor


def draw(seed: int) -> Planted:
    """Draw a machine; equal seeds give equal machines."""
    rng = Random(seed)
    groups, depth = _draw_groups(rng)
    hosts = sum(1 for _ in leaves(groups))
    host_of = _draw_ranks(rng, hosts)
    while True:
        made = _draw_costs(rng, seed, host_of, groups, depth)
        if _is_visible(made):
            break
    within = [g for g in smallest_groups(groups) if len(g) >= 4]
    slow: Slow | None = None
    shared: tuple[tuple[int, int], ...] = ()
    what = rng.choice(("", "host", "link"))
    if within and what:
        chosen = rng.sample(rng.choice(within), 1 if what == "host" else 2)
        slow = Slow(tuple(sorted(chosen)), rng.choice((LATENCY, BANDWIDTH)))
    if within and rng.random() < 0.25:
        free = [h for h in rng.choice(within) if slow is None or h not in slow.hosts]
        if len(free) >= 4:
            a, b, c, d = rng.sample(free, 4)
            shared = ((min(a, b), max(a, b)), (min(c, d), max(c, d)))
    trunk = _draw_trunk(rng, groups) if not shared else None
    return replace(made, slow=slow, shared=shared, trunk=trunk)


def _draw_trunk(rng: Random, groups: Group) -> Trunk | None:
    """Draw a trunk for a fifth of the machines."""
    within = [g for g in smallest_groups(groups) if len(g) >= 6]
    if not within or rng.random() >= 0.2:
        return None
    group = rng.choice(within)
    hosts = rng.sample(group, rng.randint(2, len(group) // 3))
    lanes = rng.choice([n for n in (1, 1.5, 2) if n <= 0.75 * len(hosts)])
    return Trunk(tuple(sorted(hosts)), lanes)


def large(noise: float = 0.05) -> Planted:
    """Return a machine of 256 ranks on 64 hosts, to time a probe."""
    rng = Random(1)
    hosts = [host for host in range(64) for _ in range(4)]
    groups = _make_nested_groups(iter(range(64)), (4, 4, 4))
    while True:
        made = _draw_costs(rng, 0, tuple(hosts), groups, depth=3)
        if _is_visible(made):
            return replace(made, noise=noise)


def leaves(group: Group) -> Iterator[int]:
    """Yield the hosts of a group."""
    for part in group:
        if isinstance(part, int):
            yield part
        else:
            yield from leaves(part)


def smallest_groups(group: Group) -> Iterator[tuple[int, ...]]:
    """Yield the groups that contain hosts, not groups."""
    if all(isinstance(part, int) for part in group):
        yield tuple(leaves(group))
        return
    for part in group:
        assert not isinstance(part, int)
        yield from smallest_groups(part)


def _draw_groups(rng: Random) -> tuple[Group, int]:
    """Draw nested groups of 8 to 64 hosts, and their number of levels."""
    depth = rng.choice((1, 2, 2, 3, 3, 4))
    if rng.random() < 0.5:  # equal groups
        while True:
            counts = [rng.randint(2, 8 if depth > 2 else 16) for _ in range(depth)]
            if depth == 1:
                counts = [_draw_count(rng, 8)]
            if 8 <= math.prod(counts) <= 64:
                break
        return _make_nested_groups(iter(range(math.prod(counts))), counts), depth
    hosts = _draw_count(rng, max(8, 2 * 2**depth))
    return _draw_ragged_groups(rng, list(range(hosts)), depth), depth


def _draw_count(rng: Random, least: int) -> int:
    """Draw a number up to 64, uniform on a logarithmic scale."""
    return round(math.exp(rng.uniform(math.log(least), math.log(64))))


def _make_nested_groups(hosts: Iterator[int], counts: Sequence[int]) -> Group:
    if len(counts) == 1:
        return tuple(next(hosts) for _ in range(counts[0]))
    return tuple(_make_nested_groups(hosts, counts[1:]) for _ in range(counts[0]))


def _draw_ragged_groups(rng: Random, hosts: list[int], depth: int) -> Group:
    if depth == 1:
        return tuple(hosts)
    least = 2 ** (depth - 1)  # two parts on each level below
    parts = rng.randint(2, min(6, len(hosts) // least))
    spare = len(hosts) - parts * least
    cuts = sorted(rng.randint(0, spare) for _ in range(parts - 1))
    sizes = [least + b - a for a, b in pairwise([0, *cuts, spare])]
    made, begin = [], 0
    for size in sizes:
        made.append(_draw_ragged_groups(rng, hosts[begin : begin + size], depth - 1))
        begin += size
    return tuple(made)


def _draw_ranks(rng: Random, hosts: int) -> tuple[int, ...]:
    most = min(4, _RANKS // hosts)
    each = rng.randint(2, most) if most >= 2 and rng.random() < 0.4 else 1
    host_of = [host for host in range(hosts) for _ in range(each)]
    # Hosts are numbered by their first ranks.
    if rng.random() < 0.7:
        rng.shuffle(host_of)
    return tuple(host_of)


def _draw_costs(
    rng: Random, seed: int, host_of: tuple[int, ...], groups: Group, depth: int
) -> Planted:
    bandwidths = [rng.uniform(10e9, 40e9), rng.uniform(5e9, 25e9)]
    for _ in range(depth - 1):
        bandwidths.append(bandwidths[1] * rng.choice((0.5, 0.8, 1, 2, 4)))
    latencies = [rng.uniform(0.3e-6, 0.8e-6), rng.uniform(1e-6, 3e-6)]
    for _ in range(depth - 1):
        latencies.append(latencies[-1] * rng.uniform(1.1, 2.5))
    return Planted(
        *(seed, host_of, groups, tuple(latencies), tuple(bandwidths)),
        _draw_regimes(rng),
        sending=rng.uniform(0.05e-6, 0.4e-6),
        receiving=rng.uniform(0.05e-6, 0.4e-6),
        noise=rng.choice((0.0, 0.0, 0.02, 0.05, 0.1, 0.2)),
    )


def _draw_regimes(rng: Random) -> tuple[Regime, ...]:
    breaks = rng.randint(1, 3)
    while True:
        low, high = math.log(_FIRST), math.log(_LAST)
        ends = sorted(round(math.exp(rng.uniform(low, high))) for _ in range(breaks))
        if all(b >= _WIDE * a for a, b in pairwise(ends)):
            break
    latency, bandwidth = 1.0, rng.uniform(0.6, 1.0)
    regimes = []
    for end in [*ends, None]:
        regimes.append(Regime(end, latency, bandwidth))
        latency *= rng.uniform(1.2, 2.2)
        bandwidth = min(1.2, max(0.2, bandwidth * rng.uniform(0.5, 1.6)))
    return tuple(regimes)


def _is_visible(machine: Planted) -> bool:
    """Return whether levels and regimes differ enough to be found."""
    levels = range(0 if len(machine.host_of) > machine.hosts else 1, machine.depth + 1)
    short = [machine.seconds(level, SCANNED) for level in levels]
    if any(b < APART * a for a, b in pairwise(short)):
        return False
    for regime, after in pairwise(machine.regimes):
        assert regime.most is not None
        for level in levels:
            below = machine.seconds(level, regime.most, regime)
            above = machine.seconds(level, regime.most, after)
            if max(above / below, below / above) < JUMP:
                return False
    return True
