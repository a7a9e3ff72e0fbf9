# SPDX-License-Identifier: BSD-3-Clause
"""Threads on the Cell processor's ring bus: C. D. Sudheer, PhD thesis, 2012, ch. 4."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from published.table import Ours
from topoloom import Allocation, load_machine
from topoloom._core import CELL_MEMORY, bus_rates, bus_stations, rank_bus_affinities
from topoloom.graphs import Request, ring
from topoloom.graphs.patterns import make_graph
from topoloom.tasks.bus.affinity import BusThreads, BusTiming
from topoloom.tasks.bus.blade import split_blade
from topoloom.tasks.bus.named_affinities import NAMED

SOURCE = "Sudheer 2012"
MACHINES = "in text: Ch.3 machines"
COUNTS = "derived from Ch.4.4 (affinity x pattern, verbal claims made numeric)"
BLADE = "Table 4.3 (16 SPEs on a blade, ring pattern, 64 KB)"
#: Names in the source, and our names.
PATTERNS = {
    "Ring": "ring",
    "Recursive doubling 1": "rd1",
    "Recursive doubling 2": "rd2",
    "Recursive doubling 3": "rd3",
    "Bruck 2": "bruck2",
    "Binomial tree 3": "binomial3",
}
AFFINITIES = {
    "Identity": "identity",
    "Ring": "ring",
    "Overlap": "overlap",
    "EvenOdd": "even-odd",
    "Leap2": "leap2",
}
COLUMNS = (
    "clockwise messages",
    "counter-clockwise messages",
    "half-way messages",
    "overlapping pairs clockwise",
    "overlapping pairs counter-clockwise",
)
SIZE = 64 * 1024
BLADE_NOTE = (
    "ours: the link of the blade alone, by table 4.2, which knows no affinity; the "
    "authors' runs differ by 0.1 to 0.3 GB/s"
)


def compute_values() -> Iterator[Ours]:
    """Yield counts of messages, the blade's ring, and limits of bus and memory."""
    cell = load_machine("cell-eib")
    allocation = Allocation.whole(cell)
    slowest = []
    for pattern, name in PATTERNS.items():
        graph = make_graph(name, Request(8, SIZE))
        threads = BusThreads(graph, allocation, BusTiming())
        for affinity, known in AFFINITIES.items():
            _, elements = NAMED[known]
            slowest.append(threads.rates(elements).slowest)
            counts = threads.directions(elements)
            for column, count in zip(COLUMNS, counts, strict=True):
                yield Ours(SOURCE, COUNTS, f"{pattern} / {affinity}", column, count)
    yield from compute_blade_values(allocation)
    text = "in text: Ch.4"
    ranked = rank_bus_affinities(allocation, ring(8, SIZE))
    row = "affinities examined without symmetry"
    yield Ours(SOURCE, text, row, "value", len(np.asarray(ranked.elements)))
    stations = bus_stations(allocation)
    reads = bus_rates(
        cell, [CELL_MEMORY] * 8, stations, [2 * SIZE] * 8, memory=CELL_MEMORY
    )
    row = "bandwidth per SPE when all eight use main memory, below"
    note = "print is an upper limit, ours the share of each"
    each = reads.slowest[0] / 1e9
    yield Ours(SOURCE, text, row, "value", each, note, within=0.2)
    worst, best = min(one[0] for one in slowest), max(one[2] for one in slowest)
    row = "Cell affinity improvement, up to"
    yield Ours(SOURCE, "in text: Abstract / Ch.1", row, "value", best / worst)
    text = MACHINES
    row = "worst-case EIB throughput"
    note = "ours: with the startup of a message"
    share = 100 * worst * 8 / (8 * 25.6e9)
    yield Ours(SOURCE, text, row, "value", share, note, within=0.05)


def compute_blade_values(allocation: Allocation) -> Iterator[Ours]:
    """Yield table 4.3: a ring of 16 threads, in the best and in the worst halves."""
    graph = ring(16, SIZE)
    best, worst = (
        split_blade(graph, allocation, halves=halves) for halves in ("best", "worst")
    )
    for row in ("Identity", "EvenOdd", "Ring"):
        rate = best.assignment(AFFINITIES[row]).slowest
        assert rate is not None
        value = rate.mean / 1e9
        yield Ours(SOURCE, BLADE, row, "bandwidth", value, BLADE_NOTE, within=0.1)
    rate = worst.assignment("identity").slowest
    assert rate is not None
    value = rate.mean / 1e9
    row = "Worst case partition"
    yield Ours(SOURCE, BLADE, row, "bandwidth", value, BLADE_NOTE, within=0.1)
