# SPDX-License-Identifier: BSD-3-Clause
"""Plants bad parts in machines, and counts rounds until they are found.

``PYTHONPATH=bench python -m probe.bad_parts --trials 20`` prints the tables of the
documentation. Times are processed like a user's table: usual times are not known in
advance.
"""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from topoloom import Machine
from topoloom.probe.locate.diagnose_parts import (
    Diagnosis,
    PartTest,
    diagnose_parts,
    limit_rounds,
)
from topoloom.probe.locate.machine_parts import MachineParts, Pair
from topoloom.probe.locate.pair_tables import PairValue, compare_pair_values

#: Additional usual time per hop, relative to a pair without hops.
_HOP = 0.05
#: A part affects a pair that loads it by at least this share of the busiest pair's
#: load.
_FELT = 0.99
_LEAF = re.compile(r"unit [0-9]+ rail ([0-9]+)")


@dataclass
class Faults:
    """Slowdowns of parts; a cable is bad in both directions.

    Attributes
    ----------
    links, hosts, switches
        Factors by number of the part; `switches` by vertex.
    network_sides
        Factors of hosts whose NICs are all slow, but not their NVLinks.
    rails
        Factors of all leaf switches of a rail.
    """

    links: dict[int, float] = field(default_factory=dict)
    hosts: dict[int, float] = field(default_factory=dict)
    switches: dict[int, float] = field(default_factory=dict)
    network_sides: dict[int, float] = field(default_factory=dict)
    rails: dict[int, float] = field(default_factory=dict)


class PlantedMachine:
    """Times of a machine with bad parts, along the machine's routes.

    Parameters
    ----------
    parts
        Hosts and GPUs in tests; the parts that tests cover are not used.
    noise
        Standard deviation of logarithmic times; one of 200 times is an outlier.
    """

    def __init__(
        self, parts: MachineParts, faults: Faults, noise: float = 0.03, seed: int = 0
    ) -> None:
        self._parts, self._faults, self._noise = parts, faults, noise
        self._machine = machine = parts.machine
        ends = np.sort(machine.link_ends(), axis=1).tolist()
        self._factor = {tuple(ends[link]): f for link, f in faults.links.items()}
        self._ends: list[tuple[int, ...]] = [tuple(each) for each in ends]
        self._rng = np.random.default_rng(seed)

    def rows(self, pairs: Sequence[Pair]) -> list[PairValue]:
        """Return table rows with the times of pairs in seconds."""
        return [
            PairValue(
                pair, self._compute_healthy_time(pair) * self._draw_time_ratio(pair)
            )
            for pair in pairs
        ]

    def measure(self, pairs: Sequence[Pair]) -> list[PartTest]:
        """Return tests with times relative to the usual time."""
        return [PartTest([pair], self._draw_time_ratio(pair)) for pair in pairs]

    def ratio(self, a: int, b: int) -> float:
        """Return the slowdown of a pair relative to a healthy machine."""
        faults = self._faults
        nodes = self._find_node(a), self._find_node(b)
        hosts = [node // self._machine.nodes_per_host for node in nodes]
        slowest = max(faults.hosts.get(host, 1.0) for host in hosts)
        routes = self._machine.route(*nodes), self._machine.route(*nodes[::-1])
        before = max(share for route in routes for _, share in route)
        for link, share in (each for route in routes for each in route):
            factor = self._factor.get(self._ends[link], 1.0)
            slowest = max(slowest, share / before * factor)
            for vertex in self._ends[link]:
                slowest = max(slowest, faults.switches.get(vertex, 1.0))
        names = [self._machine.link_name(link) for route in routes for link, _ in route]
        for name in names:
            if leaf := _LEAF.search(name):  # NVLinks are not part of a rail
                slowest = max(slowest, faults.rails.get(int(leaf[1]), 1.0))
                sides = [faults.network_sides.get(host, 1.0) for host in hosts]
                slowest = max(slowest, *sides)
        return slowest

    def _find_node(self, end: int) -> int:
        hosts = len(self._parts.hosts)
        return end if self._machine.nodes_per_host == 1 else end - hosts

    def _compute_healthy_time(self, pair: Pair) -> float:
        return 1 + _HOP * self._machine.hops(
            self._find_node(pair[0]), self._find_node(pair[1])
        )

    def _draw_time_ratio(self, pair: Pair) -> float:
        ratio = self.ratio(*pair)
        noisy = ratio * float(np.exp(self._noise * self._rng.standard_normal()))
        if self._rng.random() < 0.005:
            noisy *= self._rng.uniform(1.3, 3)
        return noisy


def make_parts(text: str) -> MachineParts:
    """Return the parts of a machine whose hosts have no names."""
    machine = Machine(text)
    nodes = range(0, machine.node_count, machine.nodes_per_host)
    return MachineParts(machine, nodes, {}, by_gpu=True)


class Trial(NamedTuple):
    """The result of a search: found and planted parts."""

    planted: list[list[str]]
    found: list[list[str]]
    rounds: int
    pairs: int
    is_done: bool

    @property
    def is_right(self) -> bool:
        """Whether exactly the planted parts were found, and no rounds are left."""
        return self.is_done and self.found == self.planted

    @property
    def false_alarms(self) -> int:
        """Number of healthy parts that findings name without "perhaps"."""
        return sum(each not in self.planted for each in self.found)


Draw = Callable[[MachineParts, Faults, np.random.Generator], int]


def plant_host_or_cable_fault(
    parts: MachineParts, faults: Faults, rng: np.random.Generator
) -> int:
    """Plant a fault in a host or cable; return its class, -1 if no pair is affected."""
    machine = parts.machine
    factor, is_host = _draw_factor(rng), bool(rng.random() < 0.5)
    one = int(rng.integers(machine.node_count if is_host else machine.link_count))
    (faults.hosts if is_host else faults.links)[one] = factor
    return parts.class_of_host(one) if is_host else parts.class_of_link(one)


def nic(parts: MachineParts, faults: Faults, rng: np.random.Generator) -> int:
    """Plant a fault in a NIC or its cable."""
    machine = parts.machine
    ends = machine.link_ends()
    gpus = np.flatnonzero(ends[:, 0] < machine.node_count)
    to_leaves = [link for link in gpus.tolist() if " rail " in machine.link_name(link)]
    link = to_leaves[rng.integers(len(to_leaves))]
    faults.links[link] = _draw_factor(rng)
    return parts.class_of_link(link)


def plant_half_nic(
    parts: MachineParts, faults: Faults, rng: np.random.Generator
) -> int:
    """Plant a NIC with one of two ports down, so that it takes twice as long."""
    number = nic(parts, faults, rng)
    faults.links[list(faults.links)[-1]] = 2.0
    return number


def host(parts: MachineParts, faults: Faults, rng: np.random.Generator) -> int:
    """Plant a fault that all NICs of a host share."""
    one = int(rng.integers(len(parts.hosts)))
    faults.network_sides[one] = _draw_factor(rng)
    return parts.class_of_network_side(one)


def leaf(parts: MachineParts, faults: Faults, rng: np.random.Generator) -> int:
    """Plant a fault in a leaf switch."""
    vertices = sorted(parts.rail_of)
    one = vertices[rng.integers(len(vertices))]
    faults.switches[one] = _draw_factor(rng)
    return parts.class_of_switch(one)


def rail(parts: MachineParts, faults: Faults, rng: np.random.Generator) -> int:
    """Plant a fault in a rail: all of its leaf switches."""
    one = int(rng.integers(len(set(parts.rail_of.values()))))
    faults.rails[one] = _draw_factor(rng)
    return parts.class_of_rail(one)


def _draw_factor(rng: np.random.Generator) -> float:
    return float(rng.uniform(1.5, 6))


def search(
    parts: MachineParts, draws: Sequence[Draw], seed: int, noise: float = 0.03
) -> Trial:
    """Plant faults in different classes of parts, and search for them."""
    rng = np.random.default_rng(seed)
    faults = Faults()
    classes: set[int] = set()
    for draw in draws:
        while True:
            tried = Faults(**{name: dict(one) for name, one in vars(faults).items()})
            number = draw(parts, tried, rng)
            if number >= 0 and _has_own_pairs(
                parts, {*classes, number}, len(classes) + 1
            ):
                break
        classes.add(number)
        faults = tried
    planted = PlantedMachine(parts, faults, noise, seed)
    found, rows, rounds = _search_by_rounds(parts, planted)
    return Trial(
        sorted(parts.describe_class(number) for number in classes),
        sorted(part.parts for part in found.bad if part.sure),
        rounds,
        len(rows),
        not found.plan,
    )


def _has_own_pairs(parts: MachineParts, classes: set[int], count: int) -> bool:
    """Whether each class has pairs that only it affects."""
    tests = parts.tests
    busiest = np.zeros(len(parts.classes))
    np.maximum.at(busiest, tests.classes, tests.loads)
    felt = np.isin(tests.classes, list(classes))
    felt &= tests.loads >= _FELT * busiest[tests.classes]
    of_pairs = np.bincount(tests.rows, felt, len(parts.pairs))
    alone = tests.classes[felt & (of_pairs[tests.rows] == 1)]
    return len(classes) == count == len(np.unique(alone))


def _search_by_rounds(
    parts: MachineParts, planted: PlantedMachine
) -> tuple[Diagnosis, list[PairValue], int]:
    """Emulate a user: measure the planned pairs, append to the table, repeat."""
    rows: list[PairValue] = []
    found = diagnose_parts(parts, [])
    rounds = 0
    while found.plan and rounds < limit_rounds(len(parts.nodes)):
        rows += planted.rows(found.plan)
        rounds += 1
        found = diagnose_parts(parts, compare_pair_values(rows, parts))
    return found, rows, rounds


MACHINES = (
    *("fattree:4:4,up=1:2", "tree:4:4", "dragonfly:9x4,nodes=2,global=2"),
    *("torus:8x8x8", "tree:16:8:8", "fattree:16:64,up=1:16"),
    *("fattree:16:8:8,up=1:8:8", "dragonfly:32x8,nodes=4,global=4"),
)
RAILS = ("rails:4:8:2", "rails:8:16:1", "rails:8:16:4")
#: Faults planted on rail machines.
ON_RAILS: dict[str, tuple[Draw, ...]] = {
    "nothing": (),
    "a NIC or cable": (nic,),
    "half a NIC": (plant_half_nic,),
    "two NICs": (nic, nic),
    "a host": (host,),
    "a leaf switch": (leaf,),
    "a rail": (rail,),
    "a NIC and a host": (nic, host),
    "a NIC and a leaf switch": (nic, leaf),
}


def main() -> None:
    """Print a row per machine and kind of fault."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("machines", nargs="*", help="machines [all]")
    options.add_argument("--trials", type=int, default=20)
    options.add_argument("--noise", type=float, default=0.03)
    options.add_argument("--healthy", action="store_true", help="plant nothing")
    args = options.parse_args()
    columns = ("machine", "hosts", "bad", "found, and nothing else", "innocents named")
    print(f"| {' | '.join(columns)} | rounds | 2 log2 N |")
    print(f"|{' --- |' * (len(columns) + 2)}")
    for text in args.machines or (*MACHINES, *RAILS):
        parts = make_parts(text)
        hosts = len(parts.hosts)
        several = {str(n): (plant_host_or_cable_fault,) * n for n in range(3)}
        for what, draws in (ON_RAILS if parts.by_gpu else several).items():
            if args.healthy and draws:
                continue
            seeds = range(args.trials)
            done = [search(parts, draws, seed, args.noise) for seed in seeds]
            rounds = [each.rounds for each in done]
            print(
                f"| `{text}` | {hosts:,} | {what} | "
                f"{sum(each.is_right for each in done)} of {args.trials} | "
                f"{sum(each.false_alarms for each in done)} | "
                f"{np.mean(rounds):.1f}, {max(rounds)} at most | "
                f"{2 * math.log2(hosts):.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
