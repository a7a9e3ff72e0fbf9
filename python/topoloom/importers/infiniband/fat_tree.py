# SPDX-License-Identifier: BSD-3-Clause
"""Recognizes regular fat trees, in which all switches of a level are equal."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import NamedTuple

from topoloom.importers.reachability import find_neighbors
from topoloom.support.number_ranges import join_numbers
from topoloom.support.units import counted

#: (lower vertex, higher vertex) -> Gbit/s of each cable between them
Cables = Mapping[tuple[int, int], tuple[float, ...]]


class FatTree(NamedTuple):
    """A fat tree as machine text; node i is host ``hosts[i]`` of the fabric."""

    text: str
    hosts: list[int]
    summary: str


class _IrregularTreeError(Exception):
    """Raised if the fabric is no regular fat tree; the message is the reason."""


def find_fat_tree(
    hosts: int, cables: Cables, name: Callable[[int], str]
) -> FatTree | str:
    """Recognize a regular fat tree of 2 or 3 switch levels, or return why it is none.

    The first `hosts` vertices are hosts, the others are switches; `name` returns the
    name of a vertex.
    """
    try:
        return _FatTreeRecognizer(hosts, cables, name).recognize()
    except _IrregularTreeError as reason:
        return str(reason)


class _FatTreeRecognizer:
    def __init__(self, hosts: int, cables: Cables, name: Callable[[int], str]) -> None:
        self.hosts = hosts
        self.cables = cables
        self.name = name
        self.neighbors = {v: set(ends) for v, ends in find_neighbors(cables).items()}

    def recognize(self) -> FatTree:
        leaves = self.find_leaves()
        spines = self.find_level_above(leaves, set(range(self.hosts)))
        cores = self.find_level_above(spines, leaves) if spines else set()
        if not spines:
            raise _IrregularTreeError("there are no switches above the leaves")
        if cores and (beyond := self.find_level_above(cores, spines)):
            raise _IrregularTreeError(
                f"{self.name(min(beyond))} is four levels above the hosts"
            )
        below = {
            leaf: sorted(v for v in self.neighbors[leaf] if v < self.hosts)
            for leaf in leaves
        }
        self.require_equal_sizes(below, "host", "hosts")
        pods = self.find_pods(leaves, spines)
        pods.sort(key=lambda pod: min(below[leaf][0] for leaf in pod[0]))
        arity = [len(below[min(leaves)]), len(pods[0][0])]
        up = [1, len(pods[0][1])]
        levels = [
            self.find_level_cables(range(self.hosts), leaves),
            self.find_level_cables(leaves, spines),
        ]
        if cores:
            up.append(self.count_cores_per_spine([pod[1] for pod in pods], cores))
            arity.append(len(pods))
            levels.append(self.find_level_cables(spines, cores))
        order = [
            host
            for pod, _ in pods
            for leaf in sorted(pod, key=lambda leaf: below[leaf][0])
            for host in below[leaf]
        ]
        summary = (
            f"{arity[0]} hosts on each of {len(leaves)} leaves, {len(spines)} spines"
        )
        if cores:
            summary += f", {len(cores)} core switches"
        return FatTree(_format_fat_tree(arity, up, levels), order, summary)

    def find_leaves(self) -> set[int]:
        leaves = set()
        for host in range(self.hosts):
            neighbors = self.neighbors.get(host, set())
            if len(neighbors) != 1 or min(neighbors) < self.hosts:
                raise _IrregularTreeError(
                    f"{self.name(host)} is cabled to "
                    f"{counted(len(neighbors), 'device')}"
                )
            leaves |= neighbors
        return leaves

    def find_level_above(self, level: set[int], under: set[int]) -> set[int]:
        """Find the vertices of the next level; raise if `level` has internal links."""
        above: set[int] = set()
        for vertex in sorted(level):
            for other in self.neighbors[vertex] & level:
                raise _IrregularTreeError(
                    f"{self.name(vertex)} and {self.name(other)} are connected "
                    "within a level"
                )
            above |= self.neighbors[vertex] - under
        return above

    def require_equal_sizes(
        self, parts: Mapping[int, Collection[int]], one: str, several: str
    ) -> None:
        """Raise if the parts, each identified by a vertex, differ in size."""
        counts = {key: len(part) for key, part in parts.items()}
        most = max(counts.values(), key=list(counts.values()).count)
        for key in sorted(counts):
            if counts[key] != most:
                what = one if counts[key] == 1 else several
                raise _IrregularTreeError(
                    f"{self.name(key)} has {counts[key]} {what}, most have {most}"
                )

    def find_pods(
        self, leaves: set[int], spines: set[int]
    ) -> list[tuple[set[int], set[int]]]:
        """Group leaf switches with equal spines into pods; pods share no spine."""
        by_spines: dict[frozenset[int], set[int]] = {}
        for leaf in leaves:
            over = frozenset(self.neighbors[leaf] & spines)
            by_spines.setdefault(over, set()).add(leaf)
        seen: dict[int, int] = {}
        for over, pod in by_spines.items():
            for spine in sorted(over):
                if spine in seen:
                    raise _IrregularTreeError(
                        f"{self.name(spine)} is above {self.name(min(pod))}, but not "
                        f"all of its spines are above {self.name(seen[spine])}"
                    )
                seen[spine] = min(pod)
        pods = [(pod, set(over)) for over, pod in by_spines.items()]
        self.require_equal_sizes(
            {min(over): pod for pod, over in pods}, "leaf below it", "leaves below it"
        )
        self.require_equal_sizes(
            {min(pod): over for pod, over in pods}, "spine above it", "spines above it"
        )
        return pods

    def count_cores_per_spine(self, pods: list[set[int]], cores: set[int]) -> int:
        """Count the core switches per spine; each is connected to one spine per pod."""
        over = {
            spine: frozenset(self.neighbors[spine] & cores)
            for spines in pods
            for spine in spines
        }
        self.require_equal_sizes(over, "core switch above it", "core switches above it")
        first = {over[spine] for spine in pods[0]}
        size = len(next(iter(first)))
        for spines in pods:
            if {over[spine] for spine in spines} != first:
                raise _IrregularTreeError(
                    "the pods are connected to different core switches"
                )
            if len(set().union(*(over[spine] for spine in spines))) != size * len(
                spines
            ):
                raise _IrregularTreeError(
                    "two spines of a pod are connected to one core switch"
                )
        return size

    def find_level_cables(
        self, lower: Iterable[int], upper: set[int]
    ) -> tuple[float, ...]:
        """Return the cables per linked pair of vertices; raise if pairs differ."""
        kinds = {
            (vertex, other): tuple(
                sorted(self.cables[min(vertex, other), max(vertex, other)])
            )
            for vertex in lower
            for other in self.neighbors[vertex] & upper
        }
        cables = list(kinds.values())
        usual = max(set(cables), key=cables.count)
        for (vertex, other), kind in sorted(kinds.items()):
            if kind != usual or len(set(kind)) > 1:
                raise _IrregularTreeError(
                    f"{self.name(vertex)} and {self.name(other)} are joined by other "
                    "cables than the rest of their level"
                )
        return usual


def _format_fat_tree(
    arity: list[int], up: list[int], levels: list[tuple[float, ...]]
) -> str:
    rates = [f"{cables[0] / 8:.9g}GB/s" for cables in levels]
    parts = [
        f"fattree:{join_numbers(arity)}",
        f"up={join_numbers(up)}",
        f"bandwidth={rates[0] if len(set(rates)) == 1 else ':'.join(rates)}",
    ]
    if any(len(cables) > 1 for cables in levels):
        parts.insert(2, f"parallel={join_numbers(len(cables) for cables in levels)}")
    return ",".join(parts)
