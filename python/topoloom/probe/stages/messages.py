# SPDX-License-Identifier: BSD-3-Clause
"""Messages of all sizes between a few pairs of each level, one pair at a time.

Alone (there and back), in bursts that are answered once, both ways at once, and what
they take of the CPU: S. Kumar, PhD thesis, UIUC, 2005, ch. 2; C. Karlsson 2012, ch. 3.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby

from topoloom.probe.job.running import ProbeJob
from topoloom.probe.job.samples import Order
from topoloom.probe.stages.effort import (
    Clock,
    Effort,
    listed,
    sampling,
    window_of,
)

Pairs = Mapping[str, Sequence[tuple[int, int]]]

#: Bytes of messages whose handling is measured, and of long ones.
SHORT, LONG = 8, 1 << 20
#: Bytes of messages that nobody waits for.
UNEXPECTED = (1024, 4096, 16384)
#: Short messages each way at once, beside those of `window_of(LONG)`.
EACH_WAY = (64, 256)
#: Receives that are posted beside the one that is answered.
POSTED = (1, 8, 32, 64)
#: Pieces of work of which the noise of the system is seen.
_QUANTA = 2000
#: How many times as exactly a few pairs are measured as all.
_NARROWER = 2.5
_SHARE = 0.85


def measure_messages(
    job: ProbeJob,
    pairs: Pairs,
    effort: Effort,
    clock: Clock,
    advance: Callable[[int, int], None],
) -> bool:
    """Measure the pairs of all levels; return whether there was time for all."""
    batches = []
    for of_level in pairs.values():
        every = listed(of_level)
        batches.append([Order("alone", "echo", effort.sizes, 1, every)])
        batches += [
            [Order("alone", "burst", list(sizes), window, every)]
            for window, sizes in groupby(effort.sizes, window_of)
        ]
    batches += [_handling(of_level) for of_level in pairs.values()]
    batches.append([Order("noise", rest=str(_QUANTA))])
    job.measure([sampling(effort, _NARROWER)])
    done = 0
    for orders in batches:
        job.measure(orders)
        done += 1
        advance(done, len(batches))
        if clock.left(_SHARE) <= 0:
            break
    job.measure([sampling(effort)])
    return done == len(batches)


def _handling(pairs: Sequence[tuple[int, int]]) -> list[Order]:
    every, back = listed(pairs), listed([(b, a) for a, b in pairs])
    one = listed(pairs[:1])
    return [
        Order("alone", "burst", [LONG], window_of(LONG), back),
        Order("alone", "both", [SHORT, LONG], window_of(LONG), every),
        *(Order("alone", "both", [SHORT], count, one) for count in EACH_WAY),
        Order("alone", "send-cpu", [SHORT], 1, every),
        Order("alone", "receive-cpu", [SHORT], 1, every),
        Order("alone", "expected", UNEXPECTED, 1, one),
        Order("alone", "unexpected", UNEXPECTED, 1, one),
        *(Order("alone", "posted", [SHORT], count, one) for count in POSTED),
    ]
