# SPDX-License-Identifier: BSD-3-Clause
"""Finds pairs that decide on groups and must be measured more exactly."""

from __future__ import annotations

import math

import numpy as np

from topoloom.probe.inference.groups import (
    LEVEL_RATIO,
    P_VALUE,
    Costs,
    Pair,
    RankGroup,
    compute_times_between,
    weigh_pairs,
)
from topoloom.probe.inference.splits import (
    MAX_ITEMS,
    compute_required_error,
    find_best_cut,
)

#: Gain in precision for pairs of possible groups, number of standard errors that
#: separates two levels, and tolerance on errors.
_MORE, _SURE, _NEARLY = 2.0, 6.0, 1.15


def find_undecided_pairs(
    root: RankGroup, costs: Costs, errors: Costs, apart: float
) -> dict[Pair, float]:
    """Find pairs to measure more exactly; return the target error of each.

    The result contains pairs in groups whose subgroups could not be detected, and pairs
    of possible groups.

    `costs` and `errors`: see `find_rank_groups`. `apart`: minimal difference between
    log times across groups and inside groups.
    """
    found: dict[Pair, float] = {}
    for group in root.all_groups():
        parts = [part.ranks for part in group.groups] or [(r,) for r in group.ranks]
        if not 3 <= len(parts) <= MAX_ITEMS:
            continue
        between, exact = compute_times_between(parts, costs, errors)
        above = np.triu_indices(len(parts), 1)
        if np.isnan(exact[above]).any():
            continue
        wanted = np.full_like(exact, compute_required_error(len(parts), apart, P_VALUE))
        alike = np.full_like(between, np.median(between[above]))
        cut = find_best_cut(
            *(weigh_pairs(between, exact, alike), np.arange(len(parts))),
            *(math.log(LEVEL_RATIO), P_VALUE),
        )
        if cut is not None and not cut.sure:
            for own in cut.parts:
                doubtful = np.maximum(exact[np.ix_(own, own)] / _MORE, apart / _SURE)
                wanted[np.ix_(own, own)] = np.minimum(
                    wanted[np.ix_(own, own)], doubtful
                )
        for a, b in zip(
            *np.nonzero(np.tril(exact > _NEARLY * wanted, -1)), strict=True
        ):
            share = wanted[a, b] / exact[a, b]
            for pair in ((x, y) for x in parts[a] for y in parts[b]):
                if not np.isnan(errors[pair]):
                    found[min(pair), max(pair)] = share * errors[pair]
    return found
