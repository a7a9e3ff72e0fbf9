# SPDX-License-Identifier: BSD-3-Clause
"""Plans for many ranks, and the time of inference.

A planted machine replaces MPI in the scan: every rank is busy for the times of its
pairs, one after another.
"""

from __future__ import annotations

import math
import multiprocessing
import resource
import time
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoloom.probe.findings import Findings
from topoloom.probe.inference.groups import ALL, GROUP
from topoloom.probe.inference.suspects import compute_latency_residuals, find_slow_hosts
from topoloom.probe.job.samples import Order, ProbeSamples, RankPlace, load_samples
from topoloom.probe.large_scan import scan_large_job
from topoloom.probe.scan_inference import group_by_host, infer_findings
from topoloom.probe.stages.effort import EFFORTS, Clock
from topoloom.probe.time_estimate import (
    FirstRoundTimes,
    ProbeTimeEstimate,
    count_messages,
    estimate_time,
    measure_first_round,
)
from topoloom.tasks.machines.probe import save_findings

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Nested:
    """Hosts in nested groups of equal size.

    Attributes
    ----------
    each
        Ranks per host.
    counts
        Hosts per smallest group, smallest groups per next group, and so on.
    levels
        One-way seconds of a message inside a host, inside a smallest group, and so on.
    noise
        Relative standard deviation of a sample.
    """

    each: int
    counts: tuple[int, ...]
    levels: tuple[float, ...]
    noise: float

    @property
    def hosts(self) -> int:
        """Their number."""
        return math.prod(self.counts)

    def __str__(self) -> str:
        return f"groups of {':'.join(map(str, self.counts))}"

    def seconds(self, first: Numbers, second: Numbers) -> NDArray[np.float64]:
        """Return the one-way time of short messages between hosts."""
        short = np.full(len(first), self.levels[0])
        size = 1
        for seconds, count in zip(self.levels[1:], self.counts, strict=True):
            short = np.where(first // size != second // size, seconds, short)
            size *= count
        return short

    def found(self, found: Findings, place: Numbers) -> str:
        """Compare the groups of hosts with the planted ones."""
        planted = {frozenset(range(self.hosts))}
        size = 1
        for count in self.counts[:-1]:
            size *= count
            begins = range(0, self.hosts, size)
            planted |= {frozenset(range(begin, begin + size)) for begin in begins}
        groups = {
            frozenset(place[list(group.ranks)].tolist())
            for group in found.root.all_groups()
            if group.kind in (ALL, GROUP)
        }
        return _format_comparison("groups", groups, planted)


@dataclass(frozen=True)
class Torus:
    """Hosts of a torus, with one rank each.

    Attributes
    ----------
    near, hop
        Seconds of a message between neighbors, and of each further link.
    """

    extents: tuple[int, ...]
    near: float
    hop: float
    noise: float
    each: int = 1

    @property
    def hosts(self) -> int:
        """Their number."""
        return math.prod(self.extents)

    def __str__(self) -> str:
        return f"a torus of {'x'.join(map(str, self.extents))}"

    def _count_hops(self, first: Numbers, second: Numbers) -> Numbers:
        apart = np.zeros(len(first), np.int64)
        ends = (np.unravel_index(hosts, self.extents) for hosts in (first, second))
        for one, other, extent in zip(*ends, self.extents, strict=True):
            along = np.abs(one - other)
            apart += np.minimum(along, extent - along)
        return apart

    def seconds(self, first: Numbers, second: Numbers) -> NDArray[np.float64]:
        """Return the one-way time of short messages between hosts."""
        further = self._count_hops(first, second).astype(np.float64) - 1
        return self.near + self.hop * further

    def found(self, found: Findings, place: Numbers) -> str:
        """Compare the links between hosts with the planted ones."""
        first, second = np.triu_indices(self.hosts, 1)
        near = self._count_hops(first, second) == 1
        planted = {*zip(first[near].tolist(), second[near].tolist(), strict=True)}
        neighbors = found.network.neighbors if found.network else ()
        names = np.array([int(name[1:]) for name in found.hosts])
        links = {(min(pair), max(pair)) for pair in names[np.array(neighbors)].tolist()}
        return _format_comparison("links", links, planted)


Large = Nested | Torus


def _format_comparison(what: str, found: Set[Any], planted: Set[Any]) -> str:
    right = len(found & planted)
    return f"{right:,} of {len(planted):,} {what} and {len(found - planted)} other ones"


class PlantedJob:
    """Answers the orders of a scan like a `ProbeJob`.

    Attributes
    ----------
    seconds
        Simulated time when the last rank is free.
    """

    def __init__(self, machine: Large, seed: int = 1) -> None:
        self._machine, self._rng = machine, np.random.default_rng(seed)
        count = machine.hosts
        self.place = self._rng.permutation(np.repeat(np.arange(count), machine.each))
        places = [RankPlace(f"n{host:05}", "", "MPI") for host in self.place]
        self.samples = ProbeSamples(places)
        self.orders = 0
        self._free = [0.0] * len(places)
        self._sets: list[Numbers] = []
        self._error = 0.05

    @property
    def seconds(self) -> float:
        """Simulated seconds until the last rank is free."""
        return max(self._free)

    def measure(self, orders: Sequence[Order]) -> Any:
        """Simulate the orders, and return the measured times."""
        before = len(self.samples.exchanges)
        for order in orders:
            self.samples.orders.append(order)
            self.orders += 1
            if order.how == "sampling":
                self._error = float(order.rest.split()[2]) / 1.96
            elif order.how == "among":
                sets = (text.split() for text in order.rest.split(";"))
                self._sets = [np.array(each, np.int64) for each in sets]
            elif order.how == "circle":
                first, count = map(int, order.rest.split())
                for number in range(first, first + count):
                    self._time_pairs(
                        order, np.concatenate(list(self._list_round_pairs(number)))
                    )
            else:
                ends = order.rest.replace("-", " ").split()
                self._time_pairs(order, np.array(ends, np.int64).reshape(-1, 2))
        return self.samples.exchanges[before:]

    def _list_round_pairs(self, number: int) -> Iterator[Numbers]:
        for ranks in self._sets:
            others = len(ranks) - 1 + len(ranks) % 2
            if number >= others:
                continue
            own = np.arange(len(ranks))
            met = (2 * number - own) % others
            met = np.where(own == others, number, np.where(met == own, others, met))
            once = (own < met) & (met < len(ranks))
            yield np.stack([ranks[own[once]], ranks[met[once]]], axis=1)

    def _time_pairs(self, order: Order, pairs: Numbers) -> None:
        machine = self._machine
        a, b = self.place[pairs[:, 0]], self.place[pairs[:, 1]]
        short = machine.seconds(a, b)
        if order.kind == "burst":
            short = short + order.window * order.sizes[0] / 1e10
        timing = FirstRoundTimes(1.0, machine.noise, 0.0, 1.0)
        count = timing.count_samples(self._error)
        noise = 1 + machine.noise * self._rng.standard_normal((len(pairs), count))
        rows = np.zeros((len(pairs), 5), np.int64)
        rows[:, 0], rows[:, 1] = len(self.samples.orders) - 1, order.sizes[0]
        rows[:, 2:4], rows[:, 4] = pairs, count
        self.samples.exchanges.extend(rows, (short[:, None] * noise).ravel())
        busy = (short * count_messages(count, order.window)).tolist()
        free = self._free
        for (one, other), took in zip(pairs.tolist(), busy, strict=True):
            free[one] = free[other] = max(free[one], free[other]) + took


class Row(NamedTuple):
    """A row of the table."""

    machine: str
    rounds: str
    planned: str
    took: str
    samples: str
    found: str
    python: str


COLUMNS = (
    *("machine", "rounds", "scan, all: planned", "scan: took"),
    *("pairs, samples", "found", "Python"),
)


_SHORT = (0.5e-6, 2e-6, 2.6e-6, 3.4e-6)
MACHINES = (
    Nested(1, (100, 10, 10), _SHORT, 0.05),
    Nested(1, (16, 16, 40), _SHORT, 0.05),
    Nested(4, (50, 50), _SHORT[:3], 0.05),
    Nested(64, (13, 12), _SHORT[:3], 0.05),
    Torus((11, 11, 11), 2e-6, 0.1e-6, 0.05),
    Torus((10, 12, 14), 1.5e-6, 0.15e-6, 0.02),
)
#: Seconds of an order among ten thousand ranks, in addition to its messages: rank 0
#: polls for orders every 2 ms and receives the answers of all ranks.
ORDER = 0.03


def make_rows(machines: Sequence[Large] = MACHINES) -> Iterator[Row]:
    """Plan, measure and infer each machine, in a separate process."""
    context = multiprocessing.get_context("spawn")
    for machine in machines:
        with context.Pool(1) as pool:
            yield pool.apply(_make_row, (machine,))


def _make_row(machine: Large) -> Row:
    job: Any = PlantedJob(machine)
    hosts, _ = group_by_host(job.samples)
    effort = EFFORTS["default"]
    timing = measure_first_round(job, hosts, effort)
    made = estimate_time([*map(len, hosts)], effort, replace(timing, order=ORDER))
    orders, busy = job.orders, job.seconds
    began = time.process_time()
    _, parts = scan_large_job(
        job, hosts, effort, Clock(1e9), lambda _s: lambda _d, _a: None
    )
    took = job.seconds - busy + (job.orders - orders) * ORDER
    found = infer_findings(job.samples, (), parts)
    assert found.network is not None
    find_slow_hosts(
        compute_latency_residuals(
            found.root, found.host_of, found.costs, found.network.predicted
        ),
        len(hosts),
    )
    with TemporaryDirectory() as folder:
        save_findings(Path(folder) / "m.toml", found)
        load_samples(Path(folder) / "m.npz")
    worked = time.process_time() - began
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    ranks, scanned = len(job.samples.places), _sum_scan_seconds(made)
    return Row(
        f"{ranks:,} ranks on {machine.hosts:,} hosts, {machine}",
        f"{_count_rounds(made):,}",
        f"{scanned:.0f} s, {made.seconds:.0f} s",
        f"{took:.1f} s",
        f"{len(job.samples.exchanges):,}, {job.samples.count:,}",
        machine.found(found, job.place),
        f"{worked:.0f} s, {most:,.0f} MiB",
    )


def _count_rounds(made: ProbeTimeEstimate) -> int:
    return sum(step.rounds for step in made.steps[:-1])


def _sum_scan_seconds(made: ProbeTimeEstimate) -> float:
    return sum(step.seconds for step in made.steps[:-1])
