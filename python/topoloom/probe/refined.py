# SPDX-License-Identifier: BSD-3-Clause
"""Measures pairs more exactly where groups are undecided."""

from __future__ import annotations

import math
from collections.abc import Sequence

from topoloom.probe.findings import Findings
from topoloom.probe.inference.groups import Pair, unsettled_pairs
from topoloom.probe.job.running import ProbeJob
from topoloom.probe.job.samples import Order
from topoloom.probe.scanned import infer, scan_costs
from topoloom.probe.stages.effort import Clock, Effort, listed, samples_for, sampling
from topoloom.probe.stages.scan import SHARE, SIZE

#: How often groups are looked at again, and by which factors errors differ that are
#: asked for together.
_TURNS, _STEP = 5, 1.15
#: Pairs of one order, after which there is an answer.
_PAIRS_PER_ORDER = 1 << 13


def refine(job: ProbeJob, found: Findings, effort: Effort, clock: Clock) -> Findings:
    """Measure pairs again that are in a group, perhaps, until that is sure.

    And those of groups in which a smaller group of hosts could not be seen.
    """
    window = next(iter(job.samples.of("circle", "echo"))).window
    for _ in range(_TURNS):
        if clock.left(SHARE) <= 0:
            break
        costs, errors = scan_costs(job.samples)
        wanted = unsettled_pairs(found.root, costs, errors, effort.apart)
        by_error: dict[int, list[Pair]] = {}
        for pair, error in wanted.items():
            # Of what is measured now, beside what was before.
            more = 1 / math.sqrt(1 / error**2 - 1 / errors[pair] ** 2)
            step = math.floor(math.log(more) / math.log(_STEP))
            by_error.setdefault(step, []).append(pair)
        if not by_error:
            break
        for step, pairs in sorted(by_error.items()):
            job.measure([samples_for(effort, _STEP**step), *_orders(pairs, window)])
        found = infer(job.samples, found.doubts)
    job.measure([sampling(effort)])
    return found


def _orders(pairs: Sequence[Pair], window: int) -> list[Order]:
    return [
        Order("pairs", "echo", [SIZE], window, listed(pairs[n : n + _PAIRS_PER_ORDER]))
        for n in range(0, len(pairs), _PAIRS_PER_ORDER)
    ]
