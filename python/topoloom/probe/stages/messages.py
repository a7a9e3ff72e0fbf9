# SPDX-License-Identifier: BSD-3-Clause
"""Messages of all sizes between a few pairs of each level, one pair at a time.

Alone (there and back), in bursts that are answered once, both ways at once, and what
they take of the CPU: S. Kumar, PhD thesis, UIUC, 2005, ch. 2; C. Karlsson 2012, ch. 3.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from topoloom.probe.job.running import ProbeJob
from topoloom.probe.job.samples import Order
from topoloom.probe.stages.effort import Clock, Effort, listed, window_of

Pairs = Mapping[str, Sequence[tuple[int, int]]]

#: Bytes of messages whose handling is measured, and of long ones.
SHORT, LONG = 8, 1 << 20
#: Bytes of messages that nobody waits for.
UNEXPECTED = (1024, 4096, 16384)
#: Receives that are posted beside the one that is answered.
POSTED = (1, 8, 32, 64)
#: Pieces of work of which the noise of the system is seen.
_QUANTA = 2000
_SHARE = 0.85


def measure_messages(
    job: ProbeJob,
    pairs: Pairs,
    effort: Effort,
    clock: Clock,
    advance: Callable[[int, int], None],
) -> bool:
    """Measure the pairs of all levels; return whether there was time for all."""
    orders = []
    for of_level in pairs.values():
        every = listed(of_level)
        orders.append(Order("alone", "echo", effort.sizes, 1, every))
        orders += [
            Order("alone", "burst", [size], window_of(size), every)
            for size in effort.sizes
        ]
    for of_level in pairs.values():
        orders += _handling(of_level)
    orders.append(Order("noise", rest=str(_QUANTA)))
    for number, order in enumerate(orders):
        job.measure([order])
        advance(number + 1, len(orders))
        if clock.left(_SHARE) <= 0:
            return False
    return True


def _handling(pairs: Sequence[tuple[int, int]]) -> list[Order]:
    every, back = listed(pairs), listed([(b, a) for a, b in pairs])
    one = listed(pairs[:1])
    return [
        Order("alone", "burst", [LONG], window_of(LONG), back),
        Order("alone", "both", [SHORT, LONG], window_of(LONG), every),
        Order("alone", "send-cpu", [SHORT], 1, every),
        Order("alone", "receive-cpu", [SHORT], 1, every),
        Order("alone", "expected", UNEXPECTED, 1, one),
        Order("alone", "unexpected", UNEXPECTED, 1, one),
        *(Order("alone", "posted", [SHORT], count, one) for count in POSTED),
    ]
