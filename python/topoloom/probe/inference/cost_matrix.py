# SPDX-License-Identifier: BSD-3-Clause
"""Matrix of message times between ranks, with errors and typical values."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from topoloom.model.fit import NOISE
from topoloom.probe.inference.groups import SIGMA, Costs, RankGroup
from topoloom.probe.job.samples import Exchange

Values = NDArray[np.float64]
#: Correction factors for the median deviation of 0, 1, 2, ... normal samples (C. Croux
#: and P. J. Rousseeuw, Time-efficient algorithms for two highly robust estimators of
#: scale, COMPSTAT 1992).
_SMALL_SAMPLE_FACTORS = (1, 1, 1.196, 1.495, 1.363, 1.206, 1.200, 1.140, 1.129, 1.107)
#: Pairs whose log times differ by at most this share an estimate of deviation; minimal
#: number of such pairs on either side; weight of the estimate, in samples.
_NEAR, _FEW, _SHARED = 0.2, 50, 60


def make_cost_matrix(ranks: int, exchanges: Iterable[Exchange]) -> tuple[Costs, Costs]:
    """Build two matrices: median one-way seconds, and their relative standard errors.

    Both matrices have shape ``(ranks, ranks)`` and use all samples of a pair; half a
    round trip is the time of both directions. Unmeasured pairs are NaN; the diagonal is
    0.
    """
    of_pairs: dict[tuple[int, int], list[Values]] = {}
    for e in exchanges:
        pair = (min(e.first, e.second), max(e.first, e.second))
        of_pairs.setdefault(pair, []).append(e.seconds)
    costs: Costs = np.full((ranks, ranks), np.nan)
    np.fill_diagonal(costs, 0)
    errors = costs.copy()
    if of_pairs:
        samples = [np.concatenate(of) for of in of_pairs.values()]
        a, b = np.array(list(of_pairs)).T
        costs[a, b], errors[a, b] = compute_medians(samples)
        costs[b, a], errors[b, a] = costs[a, b], errors[a, b]
    return costs, errors


def compute_medians(samples: Sequence[Values]) -> tuple[Values, Values]:
    """Compute the median of each pair's samples and its relative standard error.

    For the errors, see `estimate_median_errors`.
    """
    counts = np.array([len(of) for of in samples])
    medians, own = np.empty(len(counts)), np.empty(len(counts))
    for count in np.unique(counts):
        same = np.flatnonzero(counts == count)
        values = np.stack([samples[number] for number in same.tolist()])
        medians[same] = middle = np.median(values, axis=1)
        apart = np.median(np.abs(values - middle[:, None]), axis=1)
        own[same] = apart / middle
    return medians, estimate_median_errors(counts, medians, own)


def estimate_deviations(counts: NDArray[np.int64], apart: Values) -> Values:
    """Estimate standard deviations of small samples from their median deviations."""
    small = np.array(
        [
            _get_deviation_factor(count)
            for count in range(int(counts.max(initial=0)) + 1)
        ]
    )
    found: Values = SIGMA * small[counts] * apart
    return found


def estimate_median_errors(
    counts: NDArray[np.int64], medians: Values, apart: Values
) -> Values:
    """Estimate the relative standard error of each pair's median.

    The deviation of pairs that have similar times counts as `_SHARED` additional
    samples.

    `counts`: number of samples of each pair. `apart`: relative median deviations from
    the medians.
    """
    own = estimate_deviations(counts, apart)
    order = np.argsort(medians, kind="stable")
    freedom = counts - 1.0
    places = np.arange(len(counts))
    times = np.log(medians[order])
    low = np.minimum(np.searchsorted(times, times - _NEAR), places - _FEW).clip(0)
    high = np.maximum(np.searchsorted(times, times + _NEAR), places + _FEW + 1)
    high = high.clip(max=len(counts))
    sums = np.concatenate([[0], np.cumsum((freedom * own)[order])])
    weights = np.concatenate([[0], np.cumsum(freedom[order])])
    like = np.empty(len(counts))
    total = np.maximum(weights[high] - weights[low], 1)
    like[order] = (sums[high] - sums[low]) / total
    square = (_SHARED * like**2 + freedom * own**2) / (_SHARED + freedom)
    # The variance of the median of n normal values is pi / 2n for large n, and 1 for n
    # = 1.
    halves = counts + math.pi / 2 - 1
    errors: Values = np.maximum(np.sqrt(math.pi / 2 * square / halves), NOISE)
    return errors


def _get_deviation_factor(count: int) -> float:
    return (
        _SMALL_SAMPLE_FACTORS[count]
        if count < len(_SMALL_SAMPLE_FACTORS)
        else count / (count - 0.8)
    )


def select_pair_costs(group: RankGroup, costs: Costs) -> Costs:
    """Select the measured costs of pairs whose smallest common group is `group`."""
    found: Costs = np.array([costs[pair] for pair in group.pairs()])
    known: Costs = found[~np.isnan(found)]
    return known


def fill_missing(root: RankGroup, costs: Costs) -> Costs:
    """Replace unmeasured costs by the median of pairs with the same smallest group."""
    if not np.isnan(costs).any():
        return costs
    whole: Costs = costs.copy()
    for group in root.all_groups():
        known = select_pair_costs(group, costs)
        if not len(known):
            continue
        middle = float(np.median(known))
        for pair in group.pairs():
            if np.isnan(whole[pair]):
                whole[pair] = whole[pair[::-1]] = middle
    # A group has no measurements if the job ended early.
    whole[np.isnan(whole)] = float(np.nanmedian(costs[costs != 0]))
    return whole
