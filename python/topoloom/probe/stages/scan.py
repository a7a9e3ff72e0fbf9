# SPDX-License-Identifier: BSD-3-Clause
"""All pairs of ranks, in rounds in which every rank meets another one."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence

from topoloom.probe.job.running import ProbeJob
from topoloom.probe.job.samples import Order
from topoloom.probe.stages.effort import Clock, Effort, scanning

#: Bytes of a message (C. Karlsson 2012, sec. 4.1).
SIZE = 512
#: Ranks of which all pairs are measured; of more, one rank of every host, and all
#: inside each.
MOST_RANKS = 512
#: Rounds of one order have about as many pairs: after each there is an answer.
_PAIRS_PER_ORDER = 4096
#: Seconds of a sample below which the clock itself would matter.
_SHORTEST = 4e-6
_MOST_TRIPS = 16
#: The share of all time after which no more pairs are measured.
SHARE = 0.5


def scan_sets(hosts: Sequence[Sequence[int]]) -> list[list[list[int]]]:
    """Return the sets of ranks whose pairs are measured, some of them at once.

    Parameters
    ----------
    hosts
        The ranks of each host.
    """
    ranks = [rank for host in hosts for rank in host]
    if len(ranks) <= MOST_RANKS:
        return [[ranks]]
    inside = [list(host[:MOST_RANKS]) for host in hosts if len(host) > 1]
    between = [host[0] for host in hosts]
    return [*([inside] if inside else []), *([[between]] if len(between) > 1 else [])]


def rounds_of(sets: Sequence[Sequence[int]]) -> int:
    """Return in how many rounds every two of a set meet."""
    return max(len(each) - 1 + len(each) % 2 for each in sets)


def scan(
    job: ProbeJob,
    hosts: Sequence[Sequence[int]],
    effort: Effort,
    clock: Clock,
    seed: int,
    advance: Callable[[int, int], None],
) -> bool:
    """Measure the round trips of all pairs; return whether there was time for all."""
    shuffled = random.Random(seed)
    stages = scan_sets(hosts)
    rounds = [rounds_of(sets) for sets in stages]
    done = 0
    job.measure([scanning(effort)])
    for sets, count in zip(stages, rounds, strict=True):
        for each in sets:
            shuffled.shuffle(each)  # so that pairs of a round share links by chance
        listed = " ; ".join(" ".join(map(str, each)) for each in sets)
        job.measure([Order("among", rest=listed)])
        for some in _chunks(job, sets, _trips(job, count)):
            done += some
            count -= some
            advance(done, sum(rounds))
            if count > 0 and clock.left(SHARE) <= 0:
                return False
    return True


def _trips(job: ProbeJob, count: int) -> int:
    """Measure a round; return how many round trips make a sample long enough."""
    found = job.measure([Order("circle", "echo", [SIZE], 1, f"{count - 1} 1")])
    shortest = min((e.median for e in found), default=_SHORTEST)
    return max(1, min(_MOST_TRIPS, round(_SHORTEST / (2 * shortest))))


def _chunks(job: ProbeJob, sets: Sequence[Sequence[int]], trips: int) -> Iterator[int]:
    """Measure all rounds; yield how many each order had."""
    count = rounds_of(sets)
    some = max(1, _PAIRS_PER_ORDER // sum(map(len, sets)))
    for first in range(0, count, some):
        now = min(some, count - first)
        job.measure([Order("circle", "echo", [SIZE], trips, f"{first} {now}")])
        yield now
