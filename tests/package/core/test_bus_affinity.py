# SPDX-License-Identifier: BSD-3-Clause
"""Threads on the elements of Cell processors, as counted in Sudheer 2012, ch. 4."""

from __future__ import annotations

import numpy as np
import pytest

from topoloom import Allocation, CommGraph, Error, Machine, load_machine
from topoloom._core import best_bus_affinities, rank_bipartitions
from topoloom.graphs import ring

#: Stations of SPE0 ... SPE7 on the bus.
STATIONS = [10, 1, 9, 2, 8, 3, 7, 4]
THREAD = np.arange(8)
#: Pattern -> who sends to whom, and how many of the 40,320 assignments are optimal.
PATTERNS = {
    "ring": (THREAD, (THREAD + 1) % 8, 896),
    "recursive doubling 1": (THREAD, THREAD ^ 1, 768),
    "recursive doubling 2": (THREAD, THREAD ^ 2, 768),
    "recursive doubling 3": (THREAD, THREAD ^ 4, 768),
    "bruck 2": ((THREAD + 2) % 8, THREAD, 1728),
    "binomial 3": (THREAD[::2], THREAD[1::2], 4224),
}


def messages(source: np.ndarray, target: np.ndarray) -> CommGraph:
    sizes = np.full(len(source), 1024)
    return CommGraph.from_edges(
        8, source.astype(np.uint32), target.astype(np.uint32), sizes
    )


@pytest.mark.parametrize("name", PATTERNS)
def test_as_many_assignments_are_optimal_as_were_counted(name: str) -> None:
    source, target, count = PATTERNS[name]
    allocation = Allocation(load_machine("cell-eib"), STATIONS)
    score, best = best_bus_affinities(allocation, messages(source, target))
    assert len(best) == len({tuple(one) for one in best}) == count
    assert all(sorted(one) == list(range(8)) for one in best)
    peak, _, excess, half_way = score
    assert (peak, excess, half_way) == (2, 0, 0)  # one message on a link


def test_a_ring_of_sixteen_is_cut_twice_between_two_processors() -> None:
    halves = rank_bipartitions(ring(16, 1))
    assert (halves.best_bytes, halves.optima) == (2, 16)
    assert (halves.worst_bytes, halves.pessima) == (16, 2)
    assert halves.best.bit_count() == halves.worst.bit_count() == 8


def test_other_machines_have_no_bus() -> None:
    allocation = Allocation(Machine("torus:8"), list(range(8)))
    with pytest.raises(Error, match="for ring buses, not for torus:8"):
        best_bus_affinities(allocation, ring(8, 1))
