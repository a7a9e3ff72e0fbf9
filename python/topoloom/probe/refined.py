# SPDX-License-Identifier: BSD-3-Clause
"""Measures pairs more exactly where groups are undecided."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from topoloom.probe.findings import Findings
from topoloom.probe.inference.groups import Pair
from topoloom.probe.inference.unsettled import unsettled_pairs
from topoloom.probe.job.running import ProbeJob
from topoloom.probe.job.samples import Order
from topoloom.probe.scanned import infer, scan_costs, scanned
from topoloom.probe.stages.effort import Clock, Effort, exactly, listed, sampling
from topoloom.probe.stages.scan import SHARE, SIZE

#: How often groups are looked at again, by which factors numbers of samples differ that
#: are asked for together, and how many a pair has at least.
_TURNS, _STEP, _FEWEST = 5, 1.2, 3
#: Pairs of one order, after which there is an answer.
_PAIRS_PER_ORDER = 1 << 13


def refine(job: ProbeJob, found: Findings, effort: Effort, clock: Clock) -> Findings:
    """Measure pairs again that are in a group, perhaps, until that is sure.

    And those of groups in which a smaller group of hosts could not be seen.
    """
    window = [order for order in job.samples.orders if order.kind == "echo"][-1].window
    for _ in range(_TURNS):
        if clock.left(SHARE) <= 0:
            break
        costs, errors = scan_costs(job.samples)
        wanted = unsettled_pairs(found.root, costs, errors, effort.apart)
        if not wanted:
            break
        taken = _samples_of_pairs(job)
        by_count: dict[int, list[Pair]] = {}
        for pair, error in wanted.items():
            more = taken[pair] * ((errors[pair] / error) ** 2 - 1)
            step = math.ceil(math.log(max(more, _FEWEST) / _FEWEST) / math.log(_STEP))
            by_count.setdefault(round(_FEWEST * _STEP**step), []).append(pair)
        for count, pairs in sorted(by_count.items()):
            job.measure([exactly(count), *_orders(pairs, window)])
        found = infer(job.samples, found.doubts)
    job.measure([sampling(effort)])
    return found


def _samples_of_pairs(job: ProbeJob) -> Counter[Pair]:
    taken: Counter[Pair] = Counter()
    for exchange in scanned(job.samples):
        pair = (exchange.first, exchange.second)
        taken[min(pair), max(pair)] += len(exchange.seconds)
    return taken


def _orders(pairs: Sequence[Pair], window: int) -> list[Order]:
    return [
        Order("pairs", "echo", [SIZE], window, listed(pairs[n : n + _PAIRS_PER_ORDER]))
        for n in range(0, len(pairs), _PAIRS_PER_ORDER)
    ]
