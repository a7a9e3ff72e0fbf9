# SPDX-License-Identifier: BSD-3-Clause
"""Measures pairs more exactly if they do not decide on groups."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from topoloom.probe.findings import Findings
from topoloom.probe.inference.groups import Pair
from topoloom.probe.inference.undecided_pairs import find_undecided_pairs
from topoloom.probe.job.probe_job import ProbeJob
from topoloom.probe.job.samples import Order
from topoloom.probe.scan_inference import (
    compute_scan_costs,
    infer_findings,
    list_scan_exchanges,
)
from topoloom.probe.stages.effort import (
    Clock,
    Effort,
    format_pairs,
    make_count_order,
    make_sampling_order,
)
from topoloom.probe.stages.scan import SHARE, SIZE

#: Maximum number of iterations, ratio between the sample counts of successive orders,
#: and minimal number of samples of a pair.
_MAX_TURNS, _SAMPLES_RATIO, _FEWEST = 5, 1.2, 3
#: Number of pairs per order; the job answers at the end of each order.
_PAIRS_PER_ORDER = 1 << 13


def measure_undecided_pairs(
    job: ProbeJob, found: Findings, effort: Effort, clock: Clock
) -> Findings:
    """Measure pairs of possible groups again until all groups are decided.

    This includes pairs in groups whose subgroups could not be detected.
    """
    window = [order for order in job.samples.orders if order.kind == "echo"][-1].window
    for _ in range(_MAX_TURNS):
        if clock.left(SHARE) <= 0:
            break
        costs, errors = compute_scan_costs(job.samples)
        wanted = find_undecided_pairs(found.root, costs, errors, effort.apart)
        if not wanted:
            break
        taken = _count_samples(job)
        by_count: dict[int, list[Pair]] = {}
        for pair, error in wanted.items():
            more = taken[pair] * ((errors[pair] / error) ** 2 - 1)
            step = math.ceil(
                math.log(max(more, _FEWEST) / _FEWEST) / math.log(_SAMPLES_RATIO)
            )
            by_count.setdefault(round(_FEWEST * _SAMPLES_RATIO**step), []).append(pair)
        for count, pairs in sorted(by_count.items()):
            job.measure([make_count_order(count), *_make_orders(pairs, window)])
        found = infer_findings(job.samples, found.doubts)
    job.measure([make_sampling_order(effort)])
    return found


def _count_samples(job: ProbeJob) -> Counter[Pair]:
    taken: Counter[Pair] = Counter()
    for exchange in list_scan_exchanges(job.samples):
        pair = (exchange.first, exchange.second)
        taken[min(pair), max(pair)] += len(exchange.seconds)
    return taken


def _make_orders(pairs: Sequence[Pair], window: int) -> list[Order]:
    return [
        Order(
            "pairs",
            "echo",
            [SIZE],
            window,
            format_pairs(pairs[n : n + _PAIRS_PER_ORDER]),
        )
        for n in range(0, len(pairs), _PAIRS_PER_ORDER)
    ]
