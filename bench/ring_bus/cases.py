# SPDX-License-Identifier: BSD-3-Clause
"""Bandwidth of the slowest message by pattern, affinity and size."""

from __future__ import annotations

from typing import NamedTuple

from topoloom import Allocation, CommGraph, load_machine
from topoloom.graphs import Request
from topoloom.graphs.patterns import make_graph
from topoloom.tasks import rank_affinities, rates_by_size
from topoloom.tasks.bus.affinity import BEST, BandwidthRange, RandomStatistics
from topoloom.tasks.bus.named_affinities import NAMED

#: Patterns in the order of the source's table 4.1.
PATTERNS = {
    "ring": "Ring",
    "rd1": "RD 1",
    "rd2": "RD 2",
    "rd3": "RD 3",
    "bruck2": "Bruck 2",
    "binomial3": "Binomial 3",
}
SIZES = tuple(1024 * 2**power for power in range(8))
SIZE = 64 * 1024
CELL = Allocation.whole(load_machine("cell-eib"))


class Bandwidths(NamedTuple):
    """Bandwidths of the slowest message of one pattern."""

    pattern: str
    by_affinity: dict[str, BandwidthRange]
    drawn: RandomStatistics


def make_pattern_graph(pattern: str, size: int = SIZE) -> CommGraph:
    """Make the communication graph of a pattern of 8 threads."""
    return make_graph(pattern, Request(8, size))


def measure(pattern: str) -> Bandwidths:
    """Compute the slowest message's bandwidth by affinity: figures 4.8 to 4.13."""
    found = rank_affinities(make_pattern_graph(pattern), CELL)
    rates = {name: found.assignment(name).slowest for name in (*NAMED, BEST)}
    return Bandwidths(pattern, rates, found.drawn)


def compute_rates_by_size(pattern: str) -> dict[str, list[BandwidthRange]]:
    """Compute the bandwidth by message size for every named affinity: figure 4.2."""
    return rates_by_size(make_pattern_graph(pattern), CELL, SIZES)
