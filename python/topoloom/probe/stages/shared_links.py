# SPDX-License-Identifier: BSD-3-Clause
"""Measures rounds in which host pairs exchange long messages concurrently."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest

import numpy as np

from topoloom.probe.job.probe_job import ProbeJob
from topoloom.probe.job.samples import Exchange, Order
from topoloom.probe.stages.effort import Clock, format_pairs
from topoloom.probe.stages.meetings import MAX_HOSTS, Pair, Round, yield_all_meetings
from topoloom.probe.stages.rates import choose_long_size

#: Number of consecutive long messages in each direction, which keep links busy.
WINDOW = 2
#: Ratio of a message's transfer time to its fixed cost, and its minimal size in bytes.
#: Messages are just long enough to show a slowdown.
_DOMINATES, _LEAST = 2.0, 1 << 15
#: Interval between rounds, relative to the time of a pair alone: at first, and at most.
_APART, _MOST_APART = 3.0, 48.0
#: Maximum share of exchanges that may begin late.
_LATE = 0.1
#: Number of pairs per order; the job answers at the end of each order.
_PAIRS_PER_ORDER = 2048
#: Number of samples of each concurrent pair.
_REPEATS = 7

#: A round, and the seconds of each of its pairs; NaN for a pair that began late.
MeasuredRound = tuple[Round, list[float]]


def choose_meeting_size(alpha: float, beta: float) -> int:
    """Choose the message size in bytes for the rounds."""
    return choose_long_size(alpha, beta, WINDOW, _DOMINATES, _LEAST)


def choose_rounds(sets: Sequence[Sequence[int]], most_pairs: int) -> list[Round]:
    """Choose concurrent rounds of all sets, with at most `most_pairs` pairs in total.

    `sets`: disjoint sets of ranks that share no links.
    """
    rng = random.Random(len(sets))
    rounds: list[Round] = []
    taken = 0
    for some in zip_longest(
        *(yield_all_meetings(each[:MAX_HOSTS], rng) for each in sets)
    ):
        rounds.append([pair for pairs in some if pairs for pair in pairs])
        taken += len(rounds[-1])
        if taken >= most_pairs:
            break
    return rounds


def measure_meetings(
    job: ProbeJob,
    rounds: Sequence[Round],
    typical: Sequence[Pair],
    size: int,
    clock: Clock,
    advance: Callable[[int, int], None],
) -> list[MeasuredRound]:
    """Measure rounds while time remains; return the measured rounds.

    `typical`: pairs that are measured alone, to estimate the time of a round.
    """
    alone = job.measure([Order("alone", "both", [size], WINDOW, format_pairs(typical))])
    one = max(e.median for e in alone)
    apart, met = _APART, list[MeasuredRound]()
    rounds = list(rounds)
    while len(met) < len(rounds) and clock.left() > 0:
        some = list(_limit_pairs(rounds[len(met) :], _PAIRS_PER_ORDER))
        found = _measure_rounds(job, some, size, apart * one)
        late = np.isnan([seconds for _, times in found for seconds in times]).mean()
        if late > _LATE and apart < _MOST_APART:
            apart *= 2
            continue
        met += found
        advance(len(met), len(rounds))
    return met


def _limit_pairs(rounds: Sequence[Round], pairs: int) -> Iterator[Round]:
    taken = 0
    for each in rounds:
        yield each
        taken += len(each)
        if taken >= pairs:
            return


def _measure_rounds(
    job: ProbeJob, rounds: Sequence[Round], size: int, period: float
) -> list[MeasuredRound]:
    rest = f"{period:.9f} " + " ; ".join(map(format_pairs, rounds))
    job.measure([Order("clocks")])
    found: dict[Pair, list[Exchange]] = {}
    for exchange in job.measure([Order("timetable", "both", [size], WINDOW, rest)]):
        found.setdefault((exchange.first, exchange.second), []).append(exchange)
    samples = {pair: iter(exchanges) for pair, exchanges in found.items()}
    return [(pairs, [next(samples[pair]).median for pair in pairs]) for pairs in rounds]


def measure_concurrently(
    job: ProbeJob, pairs: Sequence[Pair], size: int
) -> dict[Pair, float]:
    """Measure the median seconds of concurrent pairs with a common start."""
    rest = f"{_REPEATS} {format_pairs(pairs)}"
    found = job.measure([Order("together", "both", [size], WINDOW, rest)])
    return {(e.first, e.second): e.median for e in found}
