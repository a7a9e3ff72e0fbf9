# SPDX-License-Identifier: BSD-3-Clause
"""A model of a particle program with diffusion balancing.

Every element owns walkers. In each step, some walkers terminate, and the element sends
a fixed part of the rest to each of its two neighbors on a ring. The number and size of
walkers are assumptions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ring_bus.cases import CELL
from topoloom import CommGraph
from topoloom.tasks import BusTiming, rank_affinities
from topoloom.tasks.bus.affinity import BEST, ELEMENTS, BusThreads
from topoloom.tasks.bus.named_affinities import NAMED

STEPS = 20
WALKERS = 2000
BYTES = 64  # of a walker
TO_A_NEIGHBOR = 0.25
TERMINATE = 0.02


@dataclass(frozen=True)
class Communication:
    """Total seconds if messages across the ring take the worst, mean or best route."""

    worst: float
    mean: float
    best: float


def simulate_particles(seed: int = 1) -> dict[str, Communication]:
    """Sum the time of each step's slowest message, for every affinity."""
    generator = np.random.default_rng(seed)
    walkers = generator.binomial(2 * WALKERS, 0.5, ELEMENTS)
    graphs = []
    for _ in range(STEPS):
        walkers = generator.binomial(walkers, 1 - TERMINATE)
        leaving = (walkers * TO_A_NEIGHBOR).astype(np.int64)
        graphs.append(step(leaving * BYTES))
        walkers = walkers - 2 * leaving + np.roll(leaving, 1) + np.roll(leaving, -1)
    ranked = rank_affinities(graphs[0], CELL, by="bandwidth")
    ends = {BEST: ranked.best.elements, "worst": tuple(ranked.elements[-1].tolist())}
    named = {name: elements for name, (_, elements) in NAMED.items()}
    return {
        name: Communication(
            *np.sum([seconds(graph, elements) for graph in graphs], axis=0).tolist()
        )
        for name, elements in {**named, **ends}.items()
    }


def step(sizes: np.ndarray) -> CommGraph:
    """Make the graph of messages from every element to its neighbors on a ring."""
    at = np.arange(ELEMENTS)
    source, both = np.concatenate([at, at]), np.concatenate([sizes, sizes])
    target = np.concatenate([(at + 1) % ELEMENTS, (at - 1) % ELEMENTS])
    return CommGraph.from_edges(ELEMENTS, source, target, both)


def seconds(graph: CommGraph, elements: tuple[int, ...]) -> np.ndarray:
    """Return the time of the slowest message on the worst, mean and best route."""
    threads = BusThreads(graph, CELL, BusTiming())
    rates = np.asarray(threads.rates(elements).messages)
    return np.asarray((threads.bytes[:, None] / rates).max(axis=0))


def compute_threshold_time(slow: float, fast: float, apart: float = 0.1) -> float:
    """Return the computing time up to which the totals differ by more than `apart`."""
    return (slow / fast - 1 - apart) / apart
