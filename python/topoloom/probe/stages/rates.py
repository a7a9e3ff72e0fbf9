# SPDX-License-Identifier: BSD-3-Clause
"""Long messages: of every host and its like, and of more and more pairs at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from topoloom.probe.job.running import ProbeJob
from topoloom.probe.job.samples import Exchange, Order
from topoloom.probe.stages.effort import Clock, Effort, format_pairs

#: How many long messages follow each other.
WINDOW = 4
#: Bytes of a long message: at least, and at most.
_LEAST, _MOST = 1 << 18, 1 << 22
#: How many times as long as what every message costs a burst takes, by its bytes.
_DOMINATES = 10
#: Pairs that are compared with themselves alone, and how many times as long they take
#: at least where they slow each other down.
_COMPARED, _SLOWED = 5, 1.1
#: Pairs of one order that are measured one after another.
_ALONE = 32
#: Samples of pairs that start at once.
_REPEATS = 5

Pair = tuple[int, int]


def choose_long_size(
    alpha: float,
    beta: float,
    window: int = WINDOW,
    times: float = _DOMINATES,
    least: int = _LEAST,
) -> int:
    """Return bytes of a message of which `window` take `times` as long as alpha."""
    size = least
    while size < _MOST and window * size * beta < times * alpha:
        size *= 2
    return size


class ConcurrentPairs(NamedTuple):
    """Pairs that are to be measured at once, the first one alone, then with the others.

    Attributes
    ----------
    pattern
        What the pairs have in common.
    pairs
        Of different ranks.
    common
        A number of pairs that others of the pattern have, too.
    whole
        Whether every number of pairs is of interest, not this one and all alone.
    """

    pattern: str
    pairs: list[Pair]
    common: int = 1
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


def measure_rates(
    job: ProbeJob,
    sets: Sequence[Sequence[int]],
    typical: Sequence[Pair],
    size: int,
    effort: Effort,
    clock: Clock,
) -> tuple[Sequence[Exchange], bool]:
    """Let every rank exchange bursts with others of its set, in rounds.

    Returns the bursts, and whether there was time for all.

    Where the pairs of a round slow each other down, one pair after another. `typical`
    pairs are measured alone, for comparison.
    """
    job.measure([Order("alone", "burst", [size], WINDOW, format_pairs(typical))])
    sets = [each for each in sets if len(each) > 1]
    if not sets:
        return [], True
    together = " ; ".join(" ".join(map(str, each)) for each in sets)
    job.measure([Order("among", rest=together)])
    most = max(effort.rounds, effort.long_pairs // sum(map(len, sets)))
    rounds = min(most, max(len(each) - 1 + len(each) % 2 for each in sets))
    at_once = not _slow_each_other_down(job, sets, size)
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


def measure_links(
    job: ProbeJob, links: Sequence[Pair], typical: Sequence[Pair], size: int
) -> Sequence[Exchange]:
    """Exchange bursts over links that pairs have for themselves."""
    job.measure([Order("alone", "burst", [size], WINDOW, format_pairs(typical))])
    return job.measure([Order("pairs", "burst", [size], WINDOW, format_pairs(links))])


def _slow_each_other_down(
    job: ProbeJob, sets: Sequence[Sequence[int]], size: int
) -> bool:
    """Whether pairs of a round slow each other down: a few of them, then alone."""
    found = job.measure([Order("circle", "burst", [size], WINDOW, "0 1")])
    few = [(e.first, e.second) for e in found[:_COMPARED]]
    alone = job.measure([Order("alone", "burst", [size], WINDOW, format_pairs(few))])
    once = sorted(e.median for e in found[:_COMPARED])
    one = sorted(e.median for e in alone)
    return once[len(once) // 2] > _SLOWED * one[len(one) // 2]


def _pair_ring(ranks: Sequence[int], step: int) -> list[Pair]:
    """Pair each rank with the one that is `step` further."""
    count = len(ranks)
    if step >= count:
        return []
    return [(rank, ranks[(n + step) % count]) for n, rank in enumerate(ranks)]


def measure_concurrent_pairs(
    job: ProbeJob,
    asked: Sequence[ConcurrentPairs],
    size: int,
    clock: Clock,
    advance: Callable[[int, int], None],
) -> bool:
    """Measure more and more pairs at once; return whether there was time for all."""
    job.measure([Order("clocks")])
    for number, each in enumerate(asked):
        job.measure(list(_list_orders(each, size)))
        advance(number + 1, len(asked))
        if clock.left() <= 0 and number + 1 < len(asked):
            return False
    return True


def _list_orders(asked: ConcurrentPairs, size: int) -> Iterator[Order]:
    for count in asked.counts:
        rest = f"{_REPEATS} {format_pairs(asked.pairs[:count])}"
        yield Order("together", "burst", [size], WINDOW, rest)
