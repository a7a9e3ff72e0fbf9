# SPDX-License-Identifier: BSD-3-Clause
"""Compares the measurements with a description of the machine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from topoloom.probe.described_routes import DescribedRoutes
from topoloom.probe.findings import Findings
from topoloom.probe.inference.groups import HOST
from topoloom.probe.inference.network import list_host_groups
from topoloom.probe.inference.pair_costs import PairCosts
from topoloom.support.hostlist import compress_hostlist

Distance = Callable[[str, str], float]


def compare_with_description(found: Findings, routes: DescribedRoutes) -> list[str]:
    """Report hosts whose measured group differs from that in the description."""
    if len(found.hosts) < 3:
        return []
    machine = routes.machine
    first = dict(zip(found.hosts, routes.nodes, strict=True))

    def distance(a: str, b: str) -> float:
        slots = machine.slots_per_node
        return machine.distance(first[a] * slots, first[b] * slots)

    met = _list_partners(found)
    return [
        *_compare_groups(found, distance, met),
        *_compare_levels(found, distance, met),
    ]


def _list_partners(found: Findings) -> list[list[int]]:
    """List the measured partners of each host."""
    count, costs = len(found.hosts), found.costs
    if not isinstance(costs, PairCosts):
        return [[o for o in range(count) if o != host] for host in range(count)]
    hosts = np.array(found.host_of)
    first, second, _ = costs.measured_pairs
    met: list[set[int]] = [set() for _ in range(count)]
    for a, b in zip(hosts[first].tolist(), hosts[second].tolist(), strict=True):
        if a != b:
            met[a].add(b)
            met[b].add(a)
    return [sorted(others) for others in met]


def _compare_groups(
    found: Findings, distance: Distance, met: Sequence[Sequence[int]]
) -> list[str]:
    """Compare measured groups of hosts with the nearest hosts in the description."""
    group_of = {
        found.host_of[part.ranks[0]]: n
        for n, group in enumerate(list_host_groups(found.root))
        for part in group.groups
        if part.kind == HOST
    }
    sentences = []
    for host, name in enumerate(found.hosts):
        others = met[host]
        nearest = min(distance(name, found.hosts[o]) for o in others)
        claimed = [o for o in others if distance(name, found.hosts[o]) == nearest]
        if len(claimed) == len(others):
            continue
        together = Counter(group_of.get(o) for o in claimed)
        theirs, count = together.most_common(1)[0]
        if theirs != group_of.get(host) and 2 * count > len(claimed):
            beside = [found.hosts[o] for o in claimed if group_of.get(o) == theirs]
            own = [
                found.hosts[o]
                for o in others
                if group_of.get(o) == group_of.get(host) is not None
            ]
            measured = f"beside {compress_hostlist(own)}" if own else "alone"
            sentences.append(
                f"{name} is described beside {compress_hostlist(beside)}; measured "
                f"says otherwise: {measured}"
            )
    return sentences


def _compare_levels(
    found: Findings, distance: Distance, met: Sequence[Sequence[int]]
) -> list[str]:
    """Report described levels that are not slower than the next lower level."""
    by_distance: dict[float, list[float]] = {}
    first: dict[int, int] = {}
    for rank, host in enumerate(found.host_of):
        first.setdefault(host, rank)
    for a, name in enumerate(found.hosts):
        for b in (other for other in met[a] if other < a):
            cost = float(found.costs[first[a], first[b]])
            by_distance.setdefault(distance(name, found.hosts[b]), []).append(cost)
    classes = sorted(by_distance.items())
    sentences = []
    for (near, fast), (far, slow) in pairwise(classes):
        middle, beyond = sorted(fast)[len(fast) // 2], sorted(slow)[len(slow) // 2]
        if beyond < 1.02 * middle:
            sentences.append(
                f"hosts at distance {far:g} are described farther apart than those at "
                f"{near:g}; measured says otherwise: {beyond * 1e6:.3g} and "
                f"{middle * 1e6:.3g} us"
            )
    return sentences
