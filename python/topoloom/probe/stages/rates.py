# SPDX-License-Identifier: BSD-3-Clause
"""Measures long messages: between comparable hosts, and between concurrent pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from topoloom.probe.job.probe_job import ProbeJob
from topoloom.probe.job.samples import Exchange, Order
from topoloom.probe.stages.effort import Clock, Effort, format_pairs

#: Number of consecutive long messages of a burst.
WINDOW = 4
#: Minimal and maximal size of a long message in bytes.
_LEAST, _MOST = 1 << 18, 1 << 22
#: Ratio of a burst's transfer time to the fixed cost of a message.
_DOMINATES = 10
#: Number of pairs whose concurrent time is compared with their time alone, and minimal
#: ratio that means that pairs slow each other down.
_COMPARED, _SLOWED = 5, 1.1
#: Number of pairs per order that are measured one after another.
_ALONE = 32
#: Number of samples of each concurrent pair.
_REPEATS = 5

Pair = tuple[int, int]


def choose_long_size(
    alpha: float,
    beta: float,
    window: int = WINDOW,
    times: float = _DOMINATES,
    least: int = _LEAST,
) -> int:
    """Choose a size of which `window` messages take `times` as long as alpha."""
    size = least
    while size < _MOST and window * size * beta < times * alpha:
        size *= 2
    return size


class PairPattern(NamedTuple):
    """Pairs to measure concurrently: the first pair alone, then increasing numbers."""

    pattern: str  # name of the pattern
    pairs: list[Pair]  # disjoint pairs of ranks
    #: A number of pairs that is measured in all instances of the pattern.
    common: int = 1
    #: Whether all numbers of pairs are measured, or only `common` and the maximum.
    whole: bool = True

    @property
    def counts(self) -> list[int]:
        """Numbers of pairs: 1, 2, 3, 4, 6, 8, 12, 16, ... up to all."""
        if not self.whole:
            return sorted({self.common, len(self.pairs)})
        most, step = len(self.pairs), 2
        counts = {1, most, self.common}
        while step < most:
            counts |= {step, min(most, step + step // 2)}
            step *= 2
        return sorted(counts)


def measure_bursts(
    job: ProbeJob,
    sets: Sequence[Sequence[int]],
    typical: Sequence[Pair],
    size: int,
    effort: Effort,
    clock: Clock,
) -> tuple[Sequence[Exchange], bool]:
    """Exchange bursts between ranks of each set, in rounds.

    If the pairs of a round slow each other down, pairs are measured sequentially.
    `typical` pairs are also measured alone. Returns the bursts, and whether time
    sufficed.
    """
    job.measure([Order("alone", "burst", [size], WINDOW, format_pairs(typical))])
    sets = [each for each in sets if len(each) > 1]
    if not sets:
        return [], True
    together = " ; ".join(" ".join(map(str, each)) for each in sets)
    job.measure([Order("among", rest=together)])
    most = max(effort.rounds, effort.long_pairs // sum(map(len, sets)))
    rounds = min(most, max(len(each) - 1 + len(each) % 2 for each in sets))
    at_once = not _are_pairs_slowed(job, sets, size)
    found: list[Exchange] = []
    orders = list(_list_round_orders(sets, rounds, size, at_once))
    for number, order in enumerate(orders):
        found += job.measure([order])
        if clock.left() <= 0 and number + 1 < len(orders):
            return found, False
    return found, True


def _list_round_orders(
    sets: Sequence[Sequence[int]], rounds: int, size: int, at_once: bool
) -> Iterator[Order]:
    for number in range(rounds):
        if at_once:
            yield Order("circle", "burst", [size], WINDOW, f"{number} 1")
            continue
        pairs = [pair for each in sets for pair in _pair_ring(each, number + 1)]
        for first in range(0, len(pairs), _ALONE):
            some = format_pairs(pairs[first : first + _ALONE])
            yield Order("alone", "burst", [size], WINDOW, some)


def measure_link_bursts(
    job: ProbeJob, links: Sequence[Pair], typical: Sequence[Pair], size: int
) -> Sequence[Exchange]:
    """Exchange bursts over direct links, in rounds in which pairs share no link."""
    job.measure([Order("alone", "burst", [size], WINDOW, format_pairs(typical))])
    return job.measure([Order("pairs", "burst", [size], WINDOW, format_pairs(links))])


def _are_pairs_slowed(job: ProbeJob, sets: Sequence[Sequence[int]], size: int) -> bool:
    """Measure some pairs of a round; return whether they slow each other down."""
    found = job.measure([Order("circle", "burst", [size], WINDOW, "0 1")])
    few = [(e.first, e.second) for e in found[:_COMPARED]]
    alone = job.measure([Order("alone", "burst", [size], WINDOW, format_pairs(few))])
    once = sorted(e.median for e in found[:_COMPARED])
    one = sorted(e.median for e in alone)
    return once[len(once) // 2] > _SLOWED * one[len(one) // 2]


def _pair_ring(ranks: Sequence[int], step: int) -> list[Pair]:
    """Pair each rank with the rank that is `step` positions further."""
    count = len(ranks)
    if step >= count:
        return []
    return [(rank, ranks[(n + step) % count]) for n, rank in enumerate(ranks)]


def measure_concurrent_pairs(
    job: ProbeJob,
    patterns: Sequence[PairPattern],
    size: int,
    clock: Clock,
    advance: Callable[[int, int], None],
) -> bool:
    """Measure increasing numbers of concurrent pairs; return whether time sufficed."""
    job.measure([Order("clocks")])
    for number, each in enumerate(patterns):
        job.measure(list(_list_orders(each, size)))
        advance(number + 1, len(patterns))
        if clock.left() <= 0 and number + 1 < len(patterns):
            return False
    return True


def _list_orders(pattern: PairPattern, size: int) -> Iterator[Order]:
    for count in pattern.counts:
        rest = f"{_REPEATS} {format_pairs(pattern.pairs[:count])}"
        yield Order("together", "burst", [size], WINDOW, rest)
