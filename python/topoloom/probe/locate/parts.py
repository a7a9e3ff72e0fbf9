# SPDX-License-Identifier: BSD-3-Clause
"""The parts of a machine that can be bad, and which of them a measurement covers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from topoloom._core import Error, Machine
from topoloom.machines.link_names import named_link, vertex_names
from topoloom.nodes.hosts import hosts_in_order

#: Parts that carry less of a message, beside its busiest part, do not slow it down.
_LEAST = 0.1
#: Hosts up to which all pairs can be tests; partners that each of more hosts has.
_ALL_PAIRS, _PARTNERS, _NEAR = 96, 40, 3
#: Halves of a link's name: its ends.
_ENDS = re.compile(r"(.+?)(?: -> | to )(.+)")

Pair = tuple[int, int]
Numbers = NDArray[np.int64]
Values = NDArray[np.float64]


@dataclass(frozen=True)
class Coverage:
    """Which classes of parts each of several tests covers, row by row.

    Attributes
    ----------
    starts
        Where each row begins, and the end of the last.
    classes
        Of parts that a test covers, `starts[t]` to `starts[t + 1]`.
    loads
        How busy each is beside the busiest part of the test, above 0 to 1.
    """

    starts: Numbers
    classes: Numbers
    loads: Values

    @property
    def rows(self) -> Numbers:
        """The test of each entry."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))


class Parts:
    """Hosts, cables and switches of a machine, and pairs of hosts that test them.

    Parts that no test tells apart, such as a host and its only cable, are one class.

    Parameters
    ----------
    machine
        How hosts are wired.
    nodes
        A node of each host that may be measured; on rails, where several nodes are one
        host, any of them.
    names
        Names of nodes, by those of their hosts.
    switches
        Names of all switches, where they have any.

    Raises
    ------
    topoloom.Error
        If there are fewer than three hosts, or two of them are on one node.
    """

    def __init__(
        self,
        machine: Machine,
        nodes: Sequence[int],
        names: Mapping[int, str],
        switches: Sequence[str] = (),
    ) -> None:
        if len(nodes) < 3:
            raise Error("fewer than three hosts do not say which of them is slow")
        hosts = hosts_in_order(machine, nodes)
        if len(hosts) < len(nodes):
            raise Error("two hosts are on the same node of the machine")
        self._each = machine.nodes_per_host
        self.machine = machine
        self.nodes: list[int] = (hosts * self._each).tolist()
        word = "node" if self._each == 1 else "host"
        self.hosts = [
            names.get(node, f"{word} {host}")
            for node, host in zip(nodes, hosts.tolist(), strict=True)
        ]
        self._names = vertex_names(machine, names, switches)
        ends = np.sort(machine.link_ends().astype(np.int64), axis=1)
        _, self._example, self._cable_of = np.unique(
            ends, axis=0, return_index=True, return_inverse=True
        )
        self._cable_of = self._cable_of.reshape(-1)
        self._cables = len(self._example)
        self._rates = machine.bandwidth()
        self._ends = machine.link_ends().astype(np.int64)
        self.pairs = _candidates(len(nodes))
        covered = [self._covered([pair]) for pair in self.pairs]
        self._class_of, self.classes = _classes(covered, self._count)
        self.tests = self._rows(covered)

    @property
    def _count(self) -> int:
        return len(self.nodes) + self._cables + self.machine.vertex_count

    def coverage(self, tests: Iterable[Sequence[Pair]]) -> Coverage:
        """Return what tests cover, each of pairs of hosts that exchange messages."""
        return self._rows([self._covered(pairs) for pairs in tests])

    def distance(self, a: int, b: int) -> int:
        """Return the hops between two hosts."""
        return self.machine.hops(self.nodes[a], self.nodes[b])

    def described(self, number: int) -> list[str]:
        """Name the parts of a class."""
        return [self._described(part) for part in self.classes[number]]

    def is_cable(self, part: int) -> bool:
        """Whether a part is a cable: pairs at once share what it carries."""
        return 0 <= part - len(self.nodes) < self._cables

    def class_of_host(self, host: int) -> int:
        """Return the class of a host."""
        return int(self._class_of[host])

    def class_of_link(self, link: int) -> int:
        """Return the class of a link's cable; -1 if no test covers it."""
        return int(self._class_of[len(self.nodes) + self._cable_of[link]])

    def _covered(self, pairs: Sequence[Pair]) -> dict[int, float]:
        """Return the load of each part, beside the busiest one on the way of a pair."""
        found: dict[int, float] = {}
        hosts = len(self.nodes)
        switches = hosts + self._cables
        for a, b in pairs:
            loads: dict[int, float] = {}
            passed: set[int] = set()
            own: set[int] = set()
            for route in self._routes(a, b):
                sources, sinks = set(), set()
                for link, share in route:
                    cable = hosts + int(self._cable_of[link])
                    load = share / float(self._rates[link])
                    loads[cable] = max(loads.get(cable, 0.0), load)
                    source, sink = self._ends[link].tolist()
                    sources.add(source)
                    sinks.add(sink)
                passed |= sources | sinks
                own |= sources ^ sinks
            busiest = max(loads.values(), default=1.0)
            loads = {part: load / busiest for part, load in loads.items()}
            loads |= {a: 1.0, b: 1.0}
            loads |= {switches + vertex: 1.0 for vertex in passed - own}
            for part, load in loads.items():
                found[part] = max(found.get(part, 0.0), load)
        return found

    def _routes(self, a: int, b: int) -> Iterator[list[tuple[int, float]]]:
        """Yield routes between two hosts: from each GPU to the one in its place."""
        for gpu in range(self._each):
            ends = self.nodes[a] + gpu, self.nodes[b] + gpu
            yield self.machine.route(*ends)
            yield self.machine.route(*ends[::-1])

    def _rows(self, covered: Sequence[Mapping[int, float]]) -> Coverage:
        starts = [0]
        classes: list[int] = []
        loads: list[float] = []
        for parts in covered:
            row: dict[int, float] = {}
            for part, load in parts.items():
                number = int(self._class_of[part])
                if number >= 0:
                    row[number] = max(row.get(number, 0.0), load)
            classes += row.keys()
            loads += row.values()
            starts.append(len(classes))
        return Coverage(
            np.array(starts), np.array(classes, dtype=np.int64), np.array(loads)
        )

    def _described(self, part: int) -> str:
        hosts = len(self.nodes)
        if part < hosts:
            return f"host {self.hosts[part].removeprefix('host ')}"
        if part < hosts + self._cables:
            link = self.machine.link_name(int(self._example[part - hosts]))
            return f"cable {named_link(link, self._names)}"
        return f"switch {self._switch(part - hosts - self._cables)}"

    def _switch(self, vertex: int) -> str:
        """Name a switch as the names of its links do."""
        for link in np.flatnonzero((self._ends == vertex).any(axis=1)).tolist():
            if ends := _ENDS.fullmatch(self.machine.link_name(link)):
                name = ends[1] if self._ends[link][0] == vertex else ends[2]
                return self._names.get(name, name)
        return str(vertex)


def _candidates(hosts: int) -> list[Pair]:
    """List pairs that can be tests: all, or near ones and some at random."""
    if hosts <= _ALL_PAIRS:
        return [(a, b) for a in range(hosts) for b in range(a + 1, hosts)]
    rng = np.random.default_rng(0)
    own = np.repeat(np.arange(hosts), _PARTNERS)
    steps = rng.integers(1, hosts, len(own))
    steps[np.arange(len(own)) % _PARTNERS < _NEAR] = np.tile(
        np.arange(1, _NEAR + 1), hosts
    )
    other = (own + steps) % hosts
    keys = np.unique(np.minimum(own, other) * hosts + np.maximum(own, other))
    return list(zip((keys // hosts).tolist(), (keys % hosts).tolist(), strict=True))


def _classes(
    covered: Sequence[Mapping[int, float]], parts: int
) -> tuple[Numbers, list[list[int]]]:
    """Put parts that the same tests cover into one class; -1 is what none covers."""
    marks = np.random.default_rng(1).integers(1, 1 << 62, len(covered)).tolist()
    signs: dict[int, int] = {}
    for mark, row in zip(marks, covered, strict=True):
        for part, load in row.items():
            if load >= _LEAST:
                signs[part] = signs.get(part, 0) ^ mark
    class_of = np.full(parts, -1, dtype=np.int64)
    by_sign: dict[int, list[int]] = {}
    for part in sorted(signs):
        by_sign.setdefault(signs[part], []).append(part)
    for number, members in enumerate(by_sign.values()):
        class_of[members] = number
    return class_of, list(by_sign.values())
