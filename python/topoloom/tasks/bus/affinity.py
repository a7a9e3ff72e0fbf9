# SPDX-License-Identifier: BSD-3-Clause
"""Ranks all assignments of eight threads to the elements of a ring bus."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from topoloom._core import (
    CELL_MEMORY,
    Allocation,
    BusAffinities,
    CommGraph,
    Error,
    bus_rates,
    bus_stations,
    rank_bus_affinities,
)
from topoloom.support.name_lookup import describe_unknown_name
from topoloom.support.parameter_error import check_int64
from topoloom.tasks.bus.directions import DirectionCounts, count_directions
from topoloom.tasks.bus.named_affinities import NAMED, RANDOM

if TYPE_CHECKING:
    from topoloom.documents.ring_buses import (
        AssignmentFields,
        BandwidthRangeFields,
        DirectionFields,
        MessageFields,
        RandomFields,
        RingBusDocument,
        ScoreFields,
    )

ELEMENTS = 8
BEST = "best"
SCORE, BANDWIDTH = RANKINGS = ("score", "bandwidth")
#: Number of random assignments: the source (Sudheer 2012) measures eight runs without a
#: chosen affinity.
TRIALS = 8


class BusTiming(NamedTuple):
    """The timing of messages on the bus.

    Attributes
    ----------
    piece
        Size of the largest DMA transfer in bytes; smaller messages never wait for other
        messages.
    ring_ends
        Whether three messages on a ring slow down at the ends of the bus. This effect
        was measured, but not explained.
    """

    piece: int = 16384
    ring_ends: bool = False


AS_DESCRIBED = BusTiming()


class BandwidthRange(NamedTuple):
    """Bandwidth in bytes/s over all choices of direction for half-way messages."""

    worst: float
    mean: float
    best: float


class AssignmentScore(NamedTuple):
    """Score of an assignment, lower is better; fields are compared in order.

    Fields count half units, because half-way messages load each direction with half
    their bytes.
    """

    peak: int
    imbalance: int
    excess: int
    half_way: int


class MessageBandwidth(NamedTuple):
    """A message and its bandwidth."""

    source: int
    target: int
    bytes: int
    rate: BandwidthRange


@dataclass(frozen=True)
class Assignment:
    """An assignment of the threads to elements.

    Attributes
    ----------
    name
        The name of a named assignment; else empty.
    elements
        The element of every thread.
    score
        The score by which assignments are ranked.
    rank, alike
        One plus the number of better assignments; the number of equally good ones.
    directions
        The number of messages in each direction.
    slowest, average
        Bandwidth of the slowest message, and average over all messages.
    messages
        Bandwidth of every message.
    """

    name: str
    elements: tuple[int, ...]
    score: AssignmentScore
    rank: int
    alike: int
    directions: DirectionCounts
    slowest: BandwidthRange
    average: BandwidthRange
    messages: tuple[MessageBandwidth, ...]

    def document(self) -> AssignmentFields:
        """Return the fields of the ``--json`` output."""
        return {
            "name": self.name,
            "elements": list(self.elements),
            "score": cast("ScoreFields", self.score._asdict()),
            "rank": self.rank,
            "alike": self.alike,
            "directions": cast("DirectionFields", self.directions._asdict()),
            "slowest": cast("BandwidthRangeFields", self.slowest._asdict()),
            "average": cast("BandwidthRangeFields", self.average._asdict()),
            "messages": [
                cast("MessageFields", {**one._asdict(), "rate": one.rate._asdict()})
                for one in self.messages
            ],
        }


class RandomStatistics(NamedTuple):
    """Statistics of the slowest message's bandwidth over random assignments."""

    trials: int
    mean: float
    deviation: float
    least: float


@dataclass(frozen=True)
class Affinities:
    """All assignments, ranked.

    Attributes
    ----------
    scores, elements
        One row per assignment, the best first.
    unit
        The unit of loads in bytes; scores count half units.
    levels
        The best assignments, one for each distinct score.
    named
        The named assignments, and the first random assignment.
    drawn
        Statistics of random assignments.
    """

    scores: NDArray[np.int64]
    elements: NDArray[np.uint8]
    unit: int
    levels: tuple[Assignment, ...]
    named: tuple[Assignment, ...]
    drawn: RandomStatistics

    @property
    def best(self) -> Assignment:
        """The first of the best assignments."""
        return self.levels[0]

    def assignment(self, name: str) -> Assignment:
        """Find an assignment by name; `BEST` is the best one."""
        known = {BEST: self.best, **{one.name: one for one in self.named}}
        if name not in known:
            raise Error(describe_unknown_name("assignment", name, known))
        return known[name]

    def document(self) -> RingBusDocument:
        """Return the fields of the ``--json`` output."""
        return {
            "assignments": len(self.scores),
            "unit": self.unit,
            "levels": [one.document() for one in self.levels],
            "named": [one.document() for one in self.named],
            "random": cast("RandomFields", self.drawn._asdict()),
        }


def list_messages(
    graph: CommGraph,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return source, target and bytes of the edges with more than 0 bytes."""
    counts = np.diff(np.asarray(graph.first).astype(np.int64)).astype(np.int64)
    source = np.repeat(np.arange(graph.rank_count), counts)
    sizes = np.asarray(graph.bytes).astype(np.int64)
    sent = sizes > 0
    return source[sent], np.asarray(graph.peer).astype(np.int64)[sent], sizes[sent]


class BusThreads:
    """The threads of a graph, and the ring bus to which they are assigned."""

    def __init__(
        self, graph: CommGraph, allocation: Allocation, timing: BusTiming
    ) -> None:
        check_int64("piece", timing.piece, 1)
        if graph.rank_count != ELEMENTS:
            raise Error(
                f"a ring bus takes {ELEMENTS} threads, not {graph.rank_count}; "
                f"a two-bus blade takes {2 * ELEMENTS}"
            )
        self.graph, self.allocation, self.timing = graph, allocation, timing
        self.stations = np.array(bus_stations(allocation), np.uint32)
        self.source, self.target, self.bytes = list_messages(graph)

    @property
    def rate_arguments(self) -> dict[str, Any]:
        """The keyword arguments of `bus_rates`."""
        machine = self.allocation.machine
        return {
            "piece": self.timing.piece,
            "startup": machine.startup + machine.node_latency,
            "memory": CELL_MEMORY if machine.node_count == CELL_MEMORY + 1 else None,
            "ring_ends": self.timing.ring_ends,
        }

    def rates(self, elements: Sequence[int], size: int | None = None) -> Any:
        """Compute the bandwidths of all messages; `size` overrides their sizes."""
        at = self.stations[np.asarray(elements)]
        sizes = self.bytes if size is None else np.full_like(self.bytes, size)
        return bus_rates(
            self.allocation.machine,
            at[self.source],
            at[self.target],
            sizes,
            **self.rate_arguments,
        )

    def directions(self, elements: Sequence[int]) -> DirectionCounts:
        """Count the messages in each direction of the bus."""
        at = self.stations[np.asarray(elements)]
        pairs = zip(at[self.source].tolist(), at[self.target].tolist(), strict=True)
        return count_directions(self.allocation.machine, pairs)


def rank_affinities(
    graph: CommGraph,
    allocation: Allocation,
    timing: BusTiming = AS_DESCRIBED,
    *,
    by: str = SCORE,
    levels: int = 5,
    seed: int = 1,
) -> Affinities:
    """Rank all 40,320 assignments; also measure named and random assignments.

    Every edge of the graph is one message. If sizes differ, loads count bytes. Ranking
    by score is quick. Ranking by bandwidth compares the slowest message first: its mean
    over the directions of half-way messages, then its minimum. Ties are broken by the
    average of all messages.
    """
    check_int64("levels", levels, 1)
    check_int64("seed", seed, 0)
    if by not in RANKINGS:
        raise Error(describe_unknown_name("ranking", by, RANKINGS))
    threads = BusThreads(graph, allocation, timing)
    found = rank_bus_affinities(allocation, graph)
    ranked = _Ranking(threads, found, by)
    first = ranked.first_of_level[:levels]
    generator = np.random.default_rng(seed)
    drawn = [generator.permutation(ELEMENTS).tolist() for _ in range(TRIALS)]
    slowest = [threads.rates(elements).slowest[1] for elements in drawn]
    return Affinities(
        ranked.scores,
        ranked.elements,
        found.unit,
        tuple(ranked.make_assignment(BEST if row == 0 else "", row) for row in first),
        (
            *(
                ranked.find_assignment(name, elements)
                for name, (_, elements) in NAMED.items()
            ),
            ranked.find_assignment(RANDOM, drawn[0]),
        ),
        RandomStatistics(
            TRIALS, float(np.mean(slowest)), float(np.std(slowest)), float(min(slowest))
        ),
    )


def rates_by_size(
    graph: CommGraph,
    allocation: Allocation,
    sizes: Sequence[int],
    timing: BusTiming = AS_DESCRIBED,
) -> dict[str, list[BandwidthRange]]:
    """Compute the lowest bandwidth of every named assignment for each message size."""
    threads = BusThreads(graph, allocation, timing)
    return {
        name: [BandwidthRange(*threads.rates(elements, size).slowest) for size in sizes]
        for name, (_, elements) in NAMED.items()
    }


class _Ranking:
    """The ranking of all assignments."""

    def __init__(self, threads: BusThreads, found: BusAffinities, by: str) -> None:
        self.threads = threads
        self.scores = np.asarray(found.scores)
        self.elements = np.asarray(found.elements)
        keys = self.scores
        if by == BANDWIDTH:
            rates = found.rates(
                threads.allocation, threads.graph, **threads.rate_arguments
            )
            # Rounded to kB/s, because sums in another order may differ in their last
            # digits.
            keys = -np.rint(np.asarray(rates)[:, [1, 0, 4]] / 1e3).astype(np.int64)
            order = np.lexsort(keys.T[::-1])  # stable sort: ties by score
            self.scores, self.elements = self.scores[order], self.elements[order]
            keys = keys[order]
        starts = np.any(keys[1:] != keys[:-1], axis=1)
        self.first_of_level = np.flatnonzero(np.concatenate(([True], starts)))

    def find_assignment(self, name: str, elements: Sequence[int]) -> Assignment:
        (row,) = np.flatnonzero((self.elements == elements).all(axis=1))
        return self.make_assignment(name, int(row))

    def make_assignment(self, name: str, row: int) -> Assignment:
        level = int(np.searchsorted(self.first_of_level, row, side="right")) - 1
        first = int(self.first_of_level[level])
        after = [*self.first_of_level.tolist(), len(self.scores)][level + 1]
        elements = tuple(self.elements[row].tolist())
        rates = self.threads.rates(elements)
        edges = zip(
            self.threads.source.tolist(),
            self.threads.target.tolist(),
            self.threads.bytes.tolist(),
            np.asarray(rates.messages).tolist(),
            strict=True,
        )
        return Assignment(
            name,
            elements,
            AssignmentScore(*self.scores[row].tolist()),
            first + 1,
            after - first,
            self.threads.directions(elements),
            BandwidthRange(*rates.slowest),
            BandwidthRange(*rates.average),
            tuple(
                MessageBandwidth(s, t, b, BandwidthRange(*rate))
                for s, t, b, rate in edges
            ),
        )
