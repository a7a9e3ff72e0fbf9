# SPDX-License-Identifier: BSD-3-Clause
"""The matrix of how long messages take between ranks, and what is like what."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from topoloom.probe.inference.groups import Costs, RankGroup
from topoloom.probe.job.samples import Exchange


def cost_matrix(ranks: int, exchanges: Iterable[Exchange]) -> Costs:
    """Return medians of seconds one way, of shape ``(ranks, ranks)``.

    Half of a round trip counts for both ways. NaN was not measured; the diagonal is 0.
    """
    costs: Costs = np.full((ranks, ranks), np.nan)
    np.fill_diagonal(costs, 0)
    for e in exchanges:
        costs[e.first, e.second] = costs[e.second, e.first] = e.median
    return costs


def pair_costs(group: RankGroup, costs: Costs) -> Costs:
    """Return the measured costs of the pairs whose smallest group it is."""
    found: Costs = np.array([costs[pair] for pair in group.pairs()])
    known: Costs = found[~np.isnan(found)]
    return known


def filled(root: RankGroup, costs: Costs) -> Costs:
    """Put the median of their like in the place of what was not measured."""
    if not np.isnan(costs).any():
        return costs
    whole: Costs = costs.copy()
    for group in root.all_groups():
        known = pair_costs(group, costs)
        if not len(known):
            continue
        middle = float(np.median(known))
        for pair in group.pairs():
            if np.isnan(whole[pair]):
                whole[pair] = whole[pair[::-1]] = middle
    # Where none of a group was measured, the job has ended early.
    whole[np.isnan(whole)] = float(np.nanmedian(costs[costs != 0]))
    return whole
