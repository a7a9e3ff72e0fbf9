# SPDX-License-Identifier: BSD-3-Clause
"""Measures messages of all sizes between a few pairs of each level, one pair at a time.

Measures round trips, bursts with one reply, bidirectional messages, and CPU time: S.
Kumar, PhD thesis, UIUC, 2005, ch. 2; C. Karlsson 2012, ch. 3.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby

from topoloom.probe.job.probe_job import ProbeJob
from topoloom.probe.job.samples import Order
from topoloom.probe.stages.effort import (
    Clock,
    Effort,
    choose_window,
    format_pairs,
    make_sampling_order,
)

Pairs = Mapping[str, Sequence[tuple[int, int]]]

#: Sizes in bytes: of short messages, whose CPU time is measured, and of long ones.
SHORT, LONG = 8, 1 << 20
#: Sizes of unexpected messages in bytes.
UNEXPECTED = (1024, 4096, 16384)
#: Numbers of concurrent short messages in each direction that are measured, in addition
#: to `choose_window(LONG)`.
EACH_WAY = (64, 256)
#: Numbers of receives that are posted in addition to the one that matches.
POSTED = (1, 8, 32, 64)
#: Number of pieces of work that measure system noise.
_QUANTA = 2000
#: By this factor, representative pairs are measured more precisely than all pairs.
_NARROWER = 2.5
_SHARE = 0.85


def measure_messages(
    job: ProbeJob,
    pairs: Pairs,
    effort: Effort,
    clock: Clock,
    advance: Callable[[int, int], None],
) -> bool:
    """Measure the pairs of all levels; return whether time sufficed."""
    batches = []
    for of_level in pairs.values():
        every = format_pairs(of_level)
        batches.append([Order("alone", "echo", effort.sizes, 1, every)])
        batches += [
            [Order("alone", "burst", list(sizes), window, every)]
            for window, sizes in groupby(effort.sizes, choose_window)
        ]
    batches += [_list_cpu_orders(of_level) for of_level in pairs.values()]
    batches.append([Order("noise", rest=str(_QUANTA))])
    job.measure([make_sampling_order(effort, _NARROWER)])
    done = 0
    for orders in batches:
        job.measure(orders)
        done += 1
        advance(done, len(batches))
        if clock.left(_SHARE) <= 0:
            break
    job.measure([make_sampling_order(effort)])
    return done == len(batches)


def _list_cpu_orders(pairs: Sequence[tuple[int, int]]) -> list[Order]:
    every, back = format_pairs(pairs), format_pairs([(b, a) for a, b in pairs])
    one = format_pairs(pairs[:1])
    return [
        Order("alone", "burst", [LONG], choose_window(LONG), back),
        Order("alone", "both", [SHORT, LONG], choose_window(LONG), every),
        *(Order("alone", "both", [SHORT], count, one) for count in EACH_WAY),
        Order("alone", "send-cpu", [SHORT], 1, every),
        Order("alone", "receive-cpu", [SHORT], 1, every),
        Order("alone", "expected", UNEXPECTED, 1, one),
        Order("alone", "unexpected", UNEXPECTED, 1, one),
        *(Order("alone", "posted", [SHORT], count, one) for count in POSTED),
    ]
