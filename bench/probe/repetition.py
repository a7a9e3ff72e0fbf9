# SPDX-License-Identifier: BSD-3-Clause
"""Number of samples in a scan, compared with that of fixed repetition."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from probe.planted import SCANNED
from topoloom.probe.inference.cost_matrix import Values, compute_medians
from topoloom.probe.inference.groups import MEDIAN, SIGMA
from topoloom.probe.job.samples import ProbeSamples
from topoloom.probe.stages.effort import Effort


def samples_taken(samples: ProbeSamples) -> int:
    """Count the samples of the scan, including repeated measurements."""
    return sum(
        len(exchange.seconds)
        for how in ("circle", "pairs")
        for exchange in samples.select(how, "echo")
        if exchange.bytes == SCANNED
    )


def samples_of_fixed(samples: ProbeSamples, effort: Effort, seed: int = 1) -> int:
    """Return the number of samples if all pairs had as many as the worst pair needs.

    A pair needs samples until the confidence interval of its median is as narrow as
    requested. The samples are random normal values with the measured deviations.
    """
    of_pairs: dict[tuple[int, int], list[Values]] = {}
    for how in ("circle", "pairs"):
        for e in samples.select(how, "echo"):
            if e.bytes == SCANNED:
                pair = (min(e.first, e.second), max(e.first, e.second))
                of_pairs.setdefault(pair, []).append(e.seconds)
    measured = [np.concatenate(of) for of in of_pairs.values()]
    counts = np.array([len(of) for of in measured])
    sigma = compute_medians(measured)[1] * np.sqrt(counts) / MEDIAN
    normal = np.random.default_rng(seed).standard_normal((len(sigma), effort.most))
    factors = 1 + sigma[:, None] * normal
    left = np.arange(len(factors))
    count = effort.least
    for count in _list_sample_counts(effort):
        own = factors[left, :count]
        middle = np.median(own, axis=1)
        deviation = SIGMA * np.median(np.abs(own - middle[:, None]), axis=1)
        half = _get_t_quantile(count - 1) * MEDIAN * deviation / math.sqrt(count)
        left = left[half > effort.width * middle]
        if not len(left):
            break
    return len(factors) * count


def _list_sample_counts(effort: Effort) -> Iterator[int]:
    """Yield the sample counts at which a pair checks its confidence interval."""
    count = effort.least
    while count < effort.most:
        yield count
        count += 1 + count // 2
    yield effort.most


def _get_t_quantile(n: float) -> float:
    """Return the 97.5 % quantile of Student's t (Hill, CACM 13(10), 1970)."""
    z = 1.959964
    return z + (z**3 + z) / (4 * n) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * n**2)
