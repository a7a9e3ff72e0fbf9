# SPDX-License-Identifier: BSD-3-Clause
"""Parts of a machine that can be bad, and which parts each test covers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from topoloom._core import Error, Machine
from topoloom.machines.link_names import (
    format_link,
    list_default_vertex_names,
    vertex_names,
)
from topoloom.nodes.hosts import list_hosts_of_nodes

#: Minimal load, relative to the busiest part's, at which a bad part slows a message.
_MIN_LOAD = 0.1
#: Maximum number of pairs up to which all are tests; with more, number of random
#: partners and of near partners of each host.
_ALL_PAIRS, _PARTNERS, _NEAR = 96 * 95 // 2, 40, 3
#: Matches the two ends in a link's name.
_ENDS = re.compile(r"(.+?)(?: -> | to )(.+)")
_GPU = re.compile(r"GPU ([0-9]+)")
_LEAF = re.compile(r"unit [0-9]+ rail ([0-9]+)")

#: Indices of the two ends of a test; see `MachineParts`.
Pair = tuple[int, int]
Numbers = NDArray[np.int64]
Values = NDArray[np.float64]


@dataclass(frozen=True)
class PartCoverage:
    """Classes of parts that each test covers, in compressed sparse rows."""

    starts: Numbers  # where each row begins, and where the last row ends
    classes: Numbers  # classes that test t covers, from `starts[t]` to `starts[t + 1]`
    loads: Values  # loads relative to that of the test's busiest part, in (0, 1]

    @property
    def rows(self) -> Numbers:
        """Test number of each entry."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))


class MachineParts:
    """Hosts, cables and switches of a machine, and the pairs that test them.

    Parts that no test distinguishes, such as a host and its only cable, form a class.
    Ends of tests are numbered: first all hosts, then in a rail network the GPUs of all
    hosts.

    Parameters
    ----------
    machine
        Machine with the wiring of the hosts.
    nodes
        A node of each testable host; in a rail network, any node of the host.
    names
        Host names by node.
    switches
        Names of all switches, if known.
    by_gpu
        Whether tests are pairs of GPUs that have the same index in their hosts. If so,
        GPUs, the network sides of hosts, and rails are also parts.

    Raises
    ------
    topoloom.Error
        If there are fewer than three hosts, or two hosts are on the same node.
    """

    def __init__(
        self,
        machine: Machine,
        nodes: Sequence[int],
        names: Mapping[int, str],
        switches: Sequence[str] = (),
        by_gpu: bool = False,
    ) -> None:
        if len(nodes) < 3:
            raise Error("a slow host cannot be located among fewer than three hosts")
        hosts = list_hosts_of_nodes(machine, nodes)
        if len(hosts) < len(nodes):
            raise Error("two hosts are on the same node of the machine")
        self.gpus = machine.nodes_per_host
        self.machine = machine
        self.by_gpu = by_gpu and self.gpus > 1
        self.nodes: list[int] = (hosts * self.gpus).tolist()
        word = "node" if self.gpus == 1 else "host"
        self.hosts = [
            names.get(node, f"{word} {host}")
            for node, host in zip(nodes, hosts.tolist(), strict=True)
        ]
        self.ends = list(self.hosts)
        if self.by_gpu:
            self.ends += [f"{h} GPU {g}" for h in self.hosts for g in range(self.gpus)]
        self._names = vertex_names(machine, names, switches)
        ends = np.sort(machine.link_ends().astype(np.int64), axis=1)
        _, self._example, self._cable_of = np.unique(
            ends, axis=0, return_index=True, return_inverse=True
        )
        self._cable_of = self._cable_of.reshape(-1)
        self._cables = len(self._example)
        self._rates = machine.bandwidth()
        self._ends = machine.link_ends().astype(np.int64)
        self.rail_of = self._find_rails() if self.gpus > 1 else {}
        self.pairs = self._list_candidates()
        self.row_of = {pair: row for row, pair in enumerate(self.pairs)}
        self._by_pairs = [self._compute_loads([pair]) for pair in self.pairs]
        self._classify(self._by_pairs)

    def _classify(self, covered: Sequence[Mapping[int, float]]) -> None:
        self._class_of, self.classes = _group_classes(covered, self._count)
        self.tests = self._make_coverage(self._by_pairs)

    def refine_classes(self, tests: Iterable[Sequence[Pair]]) -> MachineParts:
        """Return a copy in which additional tests refine the classes."""
        parts = copy(self)
        parts._classify([*self._by_pairs, *map(self._compute_loads, tests)])
        return parts

    @property
    def _count(self) -> int:
        own = len(self.nodes) + len(set(self.rail_of.values())) if self.by_gpu else 0
        return self._network_sides + own

    def compute_coverage(self, tests: Iterable[Sequence[Pair]]) -> PartCoverage:
        """Compute the coverage of tests, each a list of pairs of ends."""
        return self._make_coverage([self._compute_loads(pairs) for pairs in tests])

    def host_of(self, end: int) -> int:
        """Return the host of an end."""
        hosts = len(self.nodes)
        return end if end < hosts else (end - hosts) // self.gpus

    def gpu_index_of(self, end: int) -> int:
        """Return the index of a GPU in its host; 0 for a host."""
        hosts = len(self.nodes)
        return 0 if end < hosts else (end - hosts) % self.gpus

    def get_gpu_end(self, host: int, place: int) -> int:
        """Return the end index of a GPU."""
        return len(self.nodes) + host * self.gpus + place

    def list_busy_ends(self, end: int) -> list[int]:
        """List the ends that are in use while `end` is."""
        host = self.host_of(end)
        if end != host:
            return [host, end]
        if not self.by_gpu:
            return [host]
        return [host, *(self.get_gpu_end(host, place) for place in range(self.gpus))]

    def classify_pair(self, a: int, b: int) -> tuple[bool, bool]:
        """Return whether a pair is of whole hosts, and whether it uses only NVLink."""
        route = self.machine.route(self._first_node(a), self._first_node(b))
        inside = bool(self.rail_of) and not self._find_leaves(route)
        return a == self.host_of(a) and b == self.host_of(b), inside

    def distance(self, a: int, b: int) -> int:
        """Return the hops between two ends."""
        return self.machine.hops(self._first_node(a), self._first_node(b))

    def describe_class(self, number: int) -> list[str]:
        """List the names of the parts of a class, except rails with a single switch."""
        parts = self.classes[number]
        switches = len(self.nodes) + self._cables
        rails = {self.rail_of.get(part - switches) for part in parts}
        first_rail = self._network_sides + len(self.nodes)
        return [
            self._describe_part(part)
            for part in parts
            if part - first_rail not in rails
        ]

    def is_cable(self, part: int) -> bool:
        """Return whether a part is a cable, whose bandwidth concurrent pairs share."""
        return 0 <= part - len(self.nodes) < self._cables

    def class_of_host(self, host: int) -> int:
        """Return the class of a host."""
        return int(self._class_of[host])

    def class_of_link(self, link: int) -> int:
        """Return the class of a link's cable; -1 if no test covers it."""
        return int(self._class_of[len(self.nodes) + self._cable_of[link]])

    def class_of_switch(self, vertex: int) -> int:
        """Return the class of a switch; -1 if no test covers it."""
        return int(self._class_of[len(self.nodes) + self._cables + vertex])

    def class_of_network_side(self, host: int) -> int:
        """Return the class of the network side that all NICs of a host share."""
        return int(self._class_of[self._network_sides + host])

    def class_of_rail(self, rail: int) -> int:
        """Return the class of a rail: all its leaf switches."""
        return int(self._class_of[self._network_sides + len(self.nodes) + rail])

    @cached_property
    def distances(self) -> Numbers:
        """Hops between the ends of each pair; negative if the pair uses only NVLink."""
        found = [
            self.distance(*pair)
            - self.machine.vertex_count * self.classify_pair(*pair)[1]
            for pair in self.pairs
        ]
        return np.array(found, dtype=np.int64)

    @property
    def _network_sides(self) -> int:
        return len(self.nodes) + self._cables + self.machine.vertex_count

    def _find_rails(self) -> dict[int, int]:
        """Return the rail of each leaf switch."""
        rails = {}
        for link, (source, _) in enumerate(self._ends.tolist()):
            ends = _ENDS.fullmatch(self.machine.link_name(link))
            if ends and (leaf := _LEAF.fullmatch(ends[1])):
                rails[source] = int(leaf[1])
        return rails

    def _first_node(self, end: int) -> int:
        return self.nodes[self.host_of(end)] + self.gpu_index_of(end)

    def _find_leaves(self, route: Iterable[tuple[int, float]]) -> set[int]:
        ends = {int(end) for link, _ in route for end in self._ends[link]}
        return ends & self.rail_of.keys()

    def _compute_loads(self, pairs: Sequence[Pair]) -> dict[int, float]:
        """Compute loads of the parts of a route, relative to the busiest part's."""
        found: dict[int, float] = {}
        hosts = len(self.nodes)
        switches = hosts + self._cables
        for a, b in pairs:
            loads: dict[int, float] = {}
            passed: set[int] = set()
            own: set[int] = set()
            for route in self._list_routes(a, b):
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
            ends = {self.host_of(a), self.host_of(b)}
            loads |= dict.fromkeys(ends, 1.0)
            if self.by_gpu:
                own = set()  # no endpoints
                leaves = passed & self.rail_of.keys()
                if leaves:
                    loads |= {self._network_sides + host: 1.0 for host in ends}
                rails = self._network_sides + hosts
                loads |= {rails + self.rail_of[leaf]: 1.0 for leaf in leaves}
            loads |= {switches + vertex: 1.0 for vertex in passed - own}
            for part, load in loads.items():
                found[part] = max(found.get(part, 0.0), load)
        return found

    def _list_routes(self, a: int, b: int) -> Iterator[list[tuple[int, float]]]:
        """Yield the routes between two ends; for whole hosts, between all GPU pairs."""
        whole = a == self.host_of(a) and b == self.host_of(b)
        first, second = self._first_node(a), self._first_node(b)
        for gpu in range(self.gpus if whole else 1):
            ends = first + gpu, second + gpu
            yield self.machine.route(*ends)
            yield self.machine.route(*ends[::-1])

    def _make_coverage(self, covered: Sequence[Mapping[int, float]]) -> PartCoverage:
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
        return PartCoverage(
            np.array(starts), np.array(classes, dtype=np.int64), np.array(loads)
        )

    def _describe_part(self, part: int) -> str:
        hosts = len(self.nodes)
        if part < hosts:
            return f"host {self.hosts[part].removeprefix('host ')}"
        if part < hosts + self._cables:
            return self._describe_cable(int(self._example[part - hosts]))
        if part < self._network_sides:
            return self._describe_vertex(part - hosts - self._cables)
        if part < self._network_sides + hosts:
            return f"what the NICs of {self.hosts[part - self._network_sides]} share"
        return f"rail {part - self._network_sides - hosts}"

    def _describe_cable(self, link: int) -> str:
        name = format_link(self.machine.link_name(link), self._names)
        if not self.by_gpu:
            return f"cable {name}"
        ends = _GPU.sub(lambda found: self._describe_gpu(int(found[1])), name)
        if self._find_leaves([(link, 1.0)]) and "GPU" in name:
            return f"NIC or cable of {ends.replace(' -> ', ' to ')}"
        return f"cable {ends}"

    def _describe_gpu(self, node: int) -> str:
        """Name a GPU after its host."""
        host, place = divmod(node, self.gpus)
        try:
            return f"{self.hosts[self.nodes.index(host * self.gpus)]} GPU {place}"
        except ValueError:  # this host is not measured
            return f"GPU {node}"

    def _describe_vertex(self, vertex: int) -> str:
        """Name a GPU or a switch; a switch's name is part of the names of its links."""
        if self.by_gpu and vertex < self.machine.node_count:
            return self._describe_gpu(vertex)
        for link in np.flatnonzero((self._ends == vertex).any(axis=1)).tolist():
            if ends := _ENDS.fullmatch(self.machine.link_name(link)):
                name = ends[1] if self._ends[link][0] == vertex else ends[2]
                return f"switch {self._names.get(name, name)}"
        words = list_default_vertex_names(
            self.machine
        )  # names of tree links contain only one end
        word = words[vertex] if vertex < len(words) else str(vertex)
        return f"switch {self._names.get(word, f'of {word}')}"

    def _list_candidates(self) -> list[Pair]:
        """List the candidate pairs for tests: all pairs, or near and random ones."""
        rng = np.random.default_rng(0)
        hosts = len(self.nodes)
        if not self.by_gpu:
            return _draw_pairs(hosts, 1, rng)
        return [
            (self.get_gpu_end(a, place), self.get_gpu_end(b, place))
            for place in range(self.gpus)
            for a, b in _draw_pairs(hosts, self.gpus, rng)
        ]


def _draw_pairs(hosts: int, times: int, rng: np.random.Generator) -> list[Pair]:
    """List pairs of hosts; fewer pairs if each pair yields several tests."""
    if hosts * (hosts - 1) // 2 * times <= _ALL_PAIRS:
        return [(a, b) for a in range(hosts) for b in range(a + 1, hosts)]
    partners = max(_PARTNERS // times, 2 * _NEAR)
    own = np.repeat(np.arange(hosts), partners)
    steps = rng.integers(1, hosts, len(own))
    steps[np.arange(len(own)) % partners < _NEAR] = np.tile(
        np.arange(1, _NEAR + 1), hosts
    )
    other = (own + steps) % hosts
    keys = np.unique(np.minimum(own, other) * hosts + np.maximum(own, other))
    return list(zip((keys // hosts).tolist(), (keys % hosts).tolist(), strict=True))


def _group_classes(
    covered: Sequence[Mapping[int, float]], parts: int
) -> tuple[Numbers, list[list[int]]]:
    """Make a class of parts that the same tests cover; -1 for parts without tests."""
    marks = np.random.default_rng(1).integers(1, 1 << 62, len(covered)).tolist()
    signs: dict[int, int] = {}
    for mark, row in zip(marks, covered, strict=True):
        for part, load in row.items():
            if load >= _MIN_LOAD:
                signs[part] = signs.get(part, 0) ^ mark
    class_of = np.full(parts, -1, dtype=np.int64)
    by_sign: dict[int, list[int]] = {}
    for part in sorted(signs):
        by_sign.setdefault(signs[part], []).append(part)
    for number, members in enumerate(by_sign.values()):
        class_of[members] = number
    return class_of, list(by_sign.values())
