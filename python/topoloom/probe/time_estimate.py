# SPDX-License-Identifier: BSD-3-Clause
"""Estimates the time of a probe from its first round."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from topoloom.probe.inference.cost_matrix import estimate_deviations
from topoloom.probe.inference.groups import MEDIAN
from topoloom.probe.inference.landmarks import FIRST_LANDMARKS, MAX_ALL_PAIRS
from topoloom.probe.job.probe_job import ProbeJob
from topoloom.probe.job.samples import Order
from topoloom.probe.large_scan import (
    HOST_ROUNDS,
    LANDMARK_ERROR,
    estimate_landmark_pairs,
)
from topoloom.probe.stages.effort import (
    Effort,
    choose_window,
    compute_scan_error,
    format_pairs,
    make_scan_order,
)
from topoloom.probe.stages.messages import LONG
from topoloom.probe.stages.rates import WINDOW
from topoloom.probe.stages.scan import (
    MAX_HOSTS,
    MAX_RANKS,
    PAIRS_PER_ORDER,
    SIZE,
    compute_round_trips_per_sample,
)
from topoloom.support.units import counted

#: Minimal number of samples of a pair, and factor by which each request increases their
#: number.
_FEWEST, _GROWTH = 3, 1.5
#: Expected number of landmark rounds, as counted on generated trees of two or three
#: levels.
_TURNS = 2.0
#: Assumed number of levels that are measured with all message sizes, and number of
#: samples of each size above the minimum.
_LEVELS, _OF_SIZES = 4, 8
#: Seconds that it takes to synchronize the start of concurrent pairs.
_START = 2e-3


@dataclass(frozen=True)
class FirstRoundTimes:
    """Times measured in a first round."""

    short: float  # one-way seconds of a short message between ranks
    deviation: float  # relative standard deviation of a sample
    order: float  # seconds that an order takes without its pairs
    rate: float  # bytes per second of long messages

    def estimate_pair_seconds(self, error: float) -> float:
        """Estimate how long it takes until a pair's median has this standard error."""
        return (
            count_messages(
                self.count_samples(error), compute_round_trips_per_sample(self.short)
            )
            * self.short
        )

    def count_samples(self, error: float) -> int:
        """Compute how many samples give a pair's median this standard error."""
        return max(_FEWEST, math.ceil((MEDIAN * self.deviation / error) ** 2))


def count_messages(samples: int, trips: int) -> int:
    """Count the consecutive messages that measure a pair, including requests."""
    turns = 1 + math.ceil(math.log(samples / _FEWEST, _GROWTH))
    return 2 * trips * (samples + 1) + 2 * turns + 1


@dataclass(frozen=True)
class StageEstimate:
    """The estimate of a stage: sequential rounds, number of pairs, and seconds."""

    name: str
    rounds: int
    pairs: int
    seconds: float


@dataclass(frozen=True)
class ProbeTimeEstimate:
    """The time estimate of a probe."""

    ranks: int
    hosts: int
    steps: list[StageEstimate]

    @property
    def seconds(self) -> float:
        """Total seconds of all steps."""
        return sum(step.seconds for step in self.steps)

    def sentence(self, most: float) -> str:
        """Describe the estimate in one line; `most` is the time limit in seconds."""
        first = max(self.steps[:-1], key=lambda step: step.rounds)
        where = f"{counted(self.hosts, 'host')}, {counted(self.ranks, 'rank')}"
        about, end = _format_minutes(self.seconds), _format_minutes(most)
        rounds = f"{first.name} in {counted(first.rounds, 'round')}"
        if self.seconds > most:
            return f"{where}: {rounds}; all would take {about}, it ends after {end}"
        return f"{where}: {rounds}, about {about}; at most {end}"


def _format_minutes(seconds: float) -> str:
    whole = max(1, round(seconds))
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    return f"{minutes} min {rest} s" if rest else f"{minutes} min"


def estimate_time(
    sizes: Sequence[int], effort: Effort, timing: FirstRoundTimes
) -> ProbeTimeEstimate:
    """Estimate the time of a probe.

    `sizes`: number of ranks of each host.
    """
    ranks, hosts = sum(sizes), len(sizes)
    steps = [
        *_estimate_scan(sizes, effort, timing),
        _estimate_rest(sizes, effort, timing),
    ]
    return ProbeTimeEstimate(ranks, hosts, steps)


def _estimate_scan(
    sizes: Sequence[int], effort: Effort, timing: FirstRoundTimes
) -> list[StageEstimate]:
    ranks, hosts = sum(sizes), len(sizes)
    usual = timing.estimate_pair_seconds(compute_scan_error(effort))

    def make_step(
        name: str, rounds: int, pairs: int, each: float = usual
    ) -> StageEstimate:
        orders = math.ceil(pairs / PAIRS_PER_ORDER)
        return StageEstimate(name, rounds, pairs, rounds * each + orders * timing.order)

    if ranks <= MAX_RANKS:
        return [make_step("all pairs", ranks - 1, ranks * (ranks - 1) // 2)]
    steps = []
    if max(sizes) > 1:
        inside = sum(size * (size - 1) // 2 for size in sizes)
        steps.append(make_step("pairs inside hosts", max(sizes) - 1, inside))
    if 1 < hosts <= MAX_HOSTS:
        steps.append(make_step("pairs of hosts", hosts - 1, hosts * (hosts - 1) // 2))
    elif hosts > MAX_HOSTS:
        exact = timing.estimate_pair_seconds(LANDMARK_ERROR)
        steps += [
            make_step("pairs of hosts", HOST_ROUNDS, HOST_ROUNDS * hosts // 2),
            make_step(
                "landmarks",
                round(_TURNS * hosts),
                estimate_landmark_pairs(hosts),
                exact,
            ),
            make_step(
                "pairs inside groups",
                MAX_ALL_PAIRS - 1,
                (MAX_ALL_PAIRS - 1) * hosts // 2,
            ),
        ]
    return steps


def _estimate_rest(
    sizes: Sequence[int], effort: Effort, timing: FirstRoundTimes
) -> StageEstimate:
    """Estimate the stages after the scan: message sizes, rates and concurrent pairs."""
    hosts = len(sizes)
    units = hosts if hosts > 1 else sizes[0]
    samples = effort.least + _OF_SIZES

    def estimate_burst(size: int, window: int) -> float:
        return 2 * timing.short + window * size / timing.rate

    of_sizes = sum(
        estimate_burst(size, 2)
        + estimate_burst(size, choose_window(size))
        + 4 * timing.short
        for size in effort.sizes
    )
    one = estimate_burst(LONG, WINDOW)
    rounds = max(effort.rounds, effort.long_pairs // units)
    # Approximate number of rounds after which any two pairs have been in the same
    # round.
    met = min(effort.meetings, units**3 // 2) if units > 3 else 0
    meetings = math.ceil(2 * met / units)
    groups = max(1, math.isqrt(units))
    at_once = 3 * groups
    orders = rounds + at_once + math.ceil(met / PAIRS_PER_ORDER * 2)
    seconds = _LEVELS * effort.pairs * samples * of_sizes
    seconds += rounds * samples * one + meetings * 3 * one
    seconds += at_once * 6 * (_START + math.sqrt(groups) * one)
    pairs = rounds * units // 2 + met
    name = "sizes, rates and shared links"
    return StageEstimate(
        name, rounds + meetings, pairs, seconds + orders * timing.order
    )


def measure_first_round(
    job: ProbeJob, hosts: Sequence[Sequence[int]], effort: Effort
) -> FirstRoundTimes:
    """Measure a round of all hosts, and long messages of one pair.

    With landmarks, the round is limited to hosts that are measured one at a time,
    because concurrent pairs slow each other down.
    """
    ranks = [rank for of_host in hosts for rank in of_host]
    met = [of_host[0] for of_host in hosts] if len(ranks) > MAX_RANKS else ranks
    met = met if len(met) > 1 else ranks
    job.measure([make_scan_order(effort)])
    job.measure([Order("among", rest=" ".join(map(str, met)))])
    began = time.monotonic()
    first = Order("circle", "echo", [SIZE], 1, "0 1")
    if len(hosts) > MAX_HOSTS:
        some = list(zip(met[:FIRST_LANDMARKS], met[-FIRST_LANDMARKS:], strict=True))
        first = Order("pairs", "echo", [SIZE], 1, format_pairs(some))
    found = job.measure([first])
    took = time.monotonic() - began
    pair = [(met[0], met[-1])]
    long = job.measure([Order("alone", "burst", [LONG], WINDOW, format_pairs(pair))])
    if not len(found) or not len(long):
        return FirstRoundTimes(1e-6, 0.0, took, 1e9)
    short = float(np.quantile(found.medians, 0.9))
    deviation = float(
        np.mean(estimate_deviations(found.counts, found.relative_deviations))
    )
    rate = WINDOW * LONG / max(long[0].median - 2 * short, long[0].median / 2)
    return FirstRoundTimes(short, deviation, took, rate)
