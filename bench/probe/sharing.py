# SPDX-License-Identifier: BSD-3-Clause
"""Pairs of hosts that slow each other down: planted and found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations
from random import Random

from probe.compare import Outcome
from probe.planted import BANDWIDTH, SLOW, Planted, smallest_groups
from probe.platforms import uplinks_above
from topoloom import Machine
from topoloom.probe.findings import Findings
from topoloom.probe.inference.shared_links import SLOWED_RATIO
from topoloom.probe.measured_machine import describe_machine

Pair = tuple[int, int]
#: Bandwidths of a route's links by name.
Links = Mapping[str, float]

#: Number of random pairs of pairs of the whole machine.
_DRAWN = 2000


def compare_sharing(made: Outcome, machine: Planted, findings: Findings) -> None:
    """Compare all pairs of pairs inside smallest groups, and random ones of all hosts.

    Outcomes are counted by whether the pairs share a link, and whether that was found.
    """
    truth, found = _PlantedLinks(machine), _FoundLinks(findings)
    for first, second in _list_near_pairs(machine):
        made.sharing_near[truth.share_slow_link(first, second)][
            found.share_slow_link(first, second)
        ] += 1
    rng = Random(machine.seed)
    for _ in range(_DRAWN):
        a, b, c, d = rng.sample(range(machine.hosts), 4)
        pairs = (a, b), (c, d)
        made.sharing_all[truth.share_slow_link(*pairs)][
            found.share_slow_link(*pairs)
        ] += 1
    hosts = machine.hosts
    made.pairs_of_pairs = hosts * (hosts - 1) * (hosts - 2) * (hosts - 3) // 8
    made.pair_rounds = sum(
        order.rest.count(";") + 1
        for order in findings.samples.orders
        if order.kind == "both" and order.how in ("timetable", "together")
    )


def _list_near_pairs(machine: Planted) -> Iterator[tuple[Pair, Pair]]:
    for group in smallest_groups(machine.groups):
        for first, second in combinations(combinations(group, 2), 2):
            if not set(first) & set(second):
                yield first, second


def _share_a_tight_link(first: Links, second: Links) -> bool:
    """Return whether a shared link cannot carry both exchanges at full speed."""
    needed = min(first.values()) + min(second.values())
    shared = first.keys() & second.keys()
    return any(first[link] * SLOWED_RATIO < needed for link in shared)


class _PlantedLinks:
    """Shared links of the planted machine."""

    def __init__(self, machine: Planted) -> None:
        self._machine = machine
        self._above = uplinks_above(machine.groups)

    def share_slow_link(self, first: Pair, second: Pair) -> bool:
        """Whether two pairs of hosts slow each other down."""
        return _share_a_tight_link(self._list_links(*first), self._list_links(*second))

    def _list_links(self, a: int, b: int) -> Links:
        machine = self._machine
        found = {f"h{host}": self._get_host_bandwidth(host) for host in (a, b)}
        for mine, other in ((a, b), (b, a)):
            for level, name in enumerate(self._above[mine], start=2):
                if name not in self._above[other]:
                    found[name] = machine.bandwidths[level]
        if (min(a, b), max(a, b)) in machine.shared:
            found["shared"] = machine.bandwidths[1]
        trunk = machine.trunk
        if trunk is not None and (a in trunk.hosts) != (b in trunk.hosts):
            found["trunk"] = trunk.lanes * machine.bandwidths[1]
        return found

    def _get_host_bandwidth(self, host: int) -> float:
        slow = self._machine.slow
        is_slow = slow is not None and slow.hosts == (host,) and slow.of == BANDWIDTH
        return self._machine.bandwidths[1] * (SLOW if is_slow else 1)


class _FoundLinks:
    """Shared links according to the findings of a probe."""

    def __init__(self, findings: Findings) -> None:
        described = describe_machine(findings)
        self._machine = Machine(described.text)
        names = {name: number for number, name in enumerate(findings.hosts)}
        self._host = {int(name[1:]): number for name, number in names.items()}
        self._node = {int(name[1:]): node for node, name in enumerate(described.hosts)}
        self._shared = findings.shared

    def share_slow_link(self, first: Pair, second: Pair) -> bool:
        """Whether two pairs of hosts slow each other down."""
        return _share_a_tight_link(self._list_links(*first), self._list_links(*second))

    def _list_links(self, a: int, b: int) -> Links:
        machine, nodes = self._machine, (self._node[a], self._node[b])
        found = {
            str(link): machine.bandwidth(link)
            for ends in (nodes, nodes[::-1])
            for link, _ in machine.route(*ends)
        }
        hosts = self._host[a], self._host[b]
        for number, link in enumerate(self._shared):
            if link.crosses(hosts):
                found[f"shared {number}"] = link.rate
        return found
