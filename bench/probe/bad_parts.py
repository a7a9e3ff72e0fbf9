# SPDX-License-Identifier: BSD-3-Clause
"""Plants bad hosts and cables in machines, and counts the rounds until they are found.

``PYTHONPATH=bench python -m probe.bad_parts --trials 20`` prints the table of the docs.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from topoloom import Machine
from topoloom.probe.locate.locate import Test, locate_by_rounds
from topoloom.probe.locate.parts import Pair, Parts


class Planted:
    """A machine with bad links and hosts, by the routes of the machine itself.

    Parameters
    ----------
    links, hosts
        How many times as slow some are; a cable is bad in both directions.
    noise
        Standard deviation of the logarithms of times; one of 200 is long by chance.
    """

    def __init__(
        self,
        machine: Machine,
        links: Mapping[int, float],
        hosts: Mapping[int, float],
        noise: float = 0.03,
        seed: int = 0,
    ) -> None:
        self._machine, self._hosts, self._noise = machine, hosts, noise
        ends = np.sort(machine.link_ends(), axis=1).tolist()
        self._factor = {tuple(ends[link]): f for link, f in links.items()}
        self._ends = [tuple(each) for each in ends]
        self._rng = np.random.default_rng(seed)

    def measure(self, pairs: Sequence[Pair]) -> list[Test]:
        """Return what pairs take."""
        return [Test([pair], self._noisy(self.ratio(*pair))) for pair in pairs]

    def ratio(self, a: int, b: int) -> float:
        """Return how many times as long as without bad parts it takes."""
        slowest = max(self._hosts.get(a, 1.0), self._hosts.get(b, 1.0))
        routes = self._machine.route(a, b), self._machine.route(b, a)
        before = max(share for route in routes for _, share in route)
        for link, share in (each for route in routes for each in route):
            factor = self._factor.get(self._ends[link], 1.0)
            slowest = max(slowest, share / before * factor)
        return slowest

    def _noisy(self, ratio: float) -> float:
        noisy = ratio * float(np.exp(self._noise * self._rng.standard_normal()))
        if self._rng.random() < 0.005:
            noisy *= self._rng.uniform(1.3, 3)
        return noisy


def parts_of(text: str) -> Parts:
    """Return the parts of a machine without names."""
    machine = Machine(text)
    return Parts(machine, range(machine.node_count), {})


class Trial(NamedTuple):
    """What came of a search: what was found beside what was planted."""

    planted: list[list[str]]
    found: list[list[str]]
    rounds: int
    pairs: int
    is_done: bool

    @property
    def is_right(self) -> bool:
        """Whether all was found, nothing else, and no more is to be measured."""
        return self.is_done and self.found == self.planted


def search(parts: Parts, faults: int, seed: int) -> Trial:
    """Plant faults in different classes of parts, 1.5 to 6 times as slow; find them."""
    rng = np.random.default_rng(seed)
    machine = parts.machine
    links: dict[int, float] = {}
    hosts: dict[int, float] = {}
    classes: set[int] = set()
    while len(classes) < faults:
        factor, is_host = float(rng.uniform(1.5, 6)), bool(rng.random() < 0.5)
        one = int(rng.integers(machine.node_count if is_host else machine.link_count))
        number = parts.class_of_host(one) if is_host else parts.class_of_link(one)
        if number < 0 or number in classes:
            continue
        classes.add(number)
        (hosts if is_host else links)[one] = factor
    planted = Planted(machine, links, hosts, seed=seed)
    pairs = 0

    def measure(plan: Sequence[Pair]) -> list[Test]:
        nonlocal pairs
        pairs += len(plan)
        return planted.measure(plan)

    found, rounds = locate_by_rounds(parts, measure)
    return Trial(
        sorted(parts.described(number) for number in classes),
        sorted(part.parts for part in found.bad if part.sure),
        rounds,
        pairs,
        not found.plan,
    )


MACHINES = (
    *("fattree:4:4,up=1:2", "tree:4:4", "dragonfly:9x4,nodes=2,global=2"),
    *("torus:8x8x8", "tree:16:8:8", "fattree:16:64,up=1:16"),
    *("fattree:16:8:8,up=1:8:8", "dragonfly:32x8,nodes=4,global=4"),
)


def main() -> None:
    """Print a row for each machine and number of faults."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--trials", type=int, default=20)
    trials = options.parse_args().trials
    print(
        "| machine | hosts | bad parts | found, and nothing else | rounds | 2 log2 N |"
    )
    print("| --- | --- | --- | --- | --- | --- |")
    for text in MACHINES:
        parts = parts_of(text)
        hosts = parts.machine.node_count
        for faults in range(3):
            done = [search(parts, faults, seed) for seed in range(trials)]
            right = sum(each.is_right for each in done)
            rounds = [each.rounds for each in done]
            print(
                f"| `{text}` | {hosts:,} | {faults} | {right} of {trials} | "
                f"{np.mean(rounds):.1f}, {max(rounds)} at most | "
                f"{2 * math.log2(hosts):.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
