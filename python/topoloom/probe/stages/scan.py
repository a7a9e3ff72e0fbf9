# SPDX-License-Identifier: BSD-3-Clause
"""The scan: measures all pairs of ranks, in rounds with a partner for each rank."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Sequence

from topoloom.probe.job.probe_job import ProbeJob
from topoloom.probe.job.samples import Exchanges, Order
from topoloom.probe.stages.effort import Clock, Effort, format_pairs, make_scan_order
from topoloom.probe.stages.meetings import Round

#: Size of a message in bytes (as in C. Karlsson 2012, sec. 4.1).
SIZE = 512
#: Maximum number of ranks up to which all pairs are measured; with more, one rank of
#: each host and all pairs inside hosts are. Maximum number of hosts up to which all
#: pairs of hosts are measured, half a million exchanges.
MAX_RANKS, MAX_HOSTS = 512, 1024
#: Approximate number of pairs per order; the job answers at the end of each order.
PAIRS_PER_ORDER = 4096
#: Minimum duration of a sample in seconds; clocks do not resolve shorter ones well.
_MIN_SAMPLE_SECONDS = 4e-6
_MAX_TRIPS = 16
#: Share of the time limit that the scan may take.
SHARE = 0.5


def count_rounds(sets: Sequence[Sequence[int]]) -> int:
    """Count the rounds that it takes until all pairs of each set have met."""
    return max(len(each) - 1 + len(each) % 2 for each in sets)


def scan_pairs(
    job: ProbeJob,
    ranks: Sequence[int],
    rounds: Iterable[Round] | None,
    effort: Effort,
    clock: Clock,
    advance: Callable[[int, int], None],
) -> bool:
    """Measure round trips between all pairs; return whether time sufficed.

    `rounds`: rounds of pairs that share no links; None if links are unknown.
    """
    job.measure([make_scan_order(effort)])
    if rounds is None:
        return measure_sets(job, [ranks], None, clock, advance)
    return _measure_rounds(job, rounds, len(ranks), clock, advance)


def _measure_rounds(
    job: ProbeJob,
    rounds: Iterable[Round],
    ranks: int,
    clock: Clock,
    advance: Callable[[int, int], None],
) -> bool:
    """Measure rounds in sequence; ranks continue without a barrier."""
    pairs = [pair for each in rounds for pair in each]
    first = Order("pairs", "echo", [SIZE], 1, format_pairs(pairs[: ranks // 2]))
    trips = compute_round_trips(job.measure([first]))
    for begin in range(0, len(pairs), PAIRS_PER_ORDER):
        some = pairs[begin : begin + PAIRS_PER_ORDER]
        job.measure([Order("pairs", "echo", [SIZE], trips, format_pairs(some))])
        done = begin + len(some)
        advance(done, len(pairs))
        if done < len(pairs) and clock.left(SHARE) <= 0:
            return False
    return True


def measure_sets(
    job: ProbeJob,
    sets: Sequence[Sequence[int]],
    most_rounds: int | None,
    clock: Clock,
    advance: Callable[[int, int], None],
) -> bool:
    """Measure the pairs of sets concurrently; return whether time sufficed.

    `sets`: disjoint sets of ranks. `most_rounds`: maximum number of rounds, in each of
    which a rank has a partner in its set; None: until all pairs have met.
    """
    shuffled = random.Random(len(sets))
    mixed = [list(each) for each in sets]
    for each in mixed:
        shuffled.shuffle(each)  # pairs of a round share links only by chance
    together = " ; ".join(" ".join(map(str, each)) for each in mixed)
    job.measure([Order("among", rest=together)])
    every = count_rounds(sets)
    count = every if most_rounds is None else min(every, most_rounds)
    first = Order("circle", "echo", [SIZE], 1, f"{every - 1} 1")
    trips = compute_round_trips(job.measure([first]))
    some = max(1, PAIRS_PER_ORDER // sum(map(len, sets)))
    for begin in range(0, count, some):
        now = min(some, count - begin)
        job.measure([Order("circle", "echo", [SIZE], trips, f"{begin} {now}")])
        advance(begin + now, count)
        if begin + now < count and clock.left(SHARE) <= 0:
            return False
    return True


def compute_round_trips(found: Exchanges) -> int:
    """Compute the number of round trips per sample from the times of a first round."""
    return compute_round_trips_per_sample(
        float(found.medians.min()) if len(found) else _MIN_SAMPLE_SECONDS
    )


def compute_round_trips_per_sample(shortest: float) -> int:
    """Compute the number of round trips per sample from the shortest one-way time."""
    return min(_MAX_TRIPS, math.ceil(_MIN_SAMPLE_SECONDS / (2 * shortest)))
