# SPDX-License-Identifier: BSD-3-Clause
"""Rank correlation of two measures of placements."""

from __future__ import annotations

from collections.abc import Sequence

from scipy import stats


def rank_correlation(
    values: Sequence[float], times: Sequence[float], within: float = 0.01
) -> float | None:
    """Correlate the ranks of values and of times (Spearman 1904).

    Numbers within a hundredth of each other count as equal. None if all values or all
    times are equal.
    """
    both = [classes(numbers, within) for numbers in (values, times)]
    if any(len(set(numbers)) == 1 for numbers in both):
        return None
    return float(stats.spearmanr(*both).statistic)


def classes(values: Sequence[float], within: float) -> list[int]:
    """Return each value's class; a class spans a factor of 1 + `within`."""
    numbers: dict[float, int] = {}
    number, least = -1, -1.0
    for value in sorted(values):
        if value > least * (1 + within) or number < 0:
            number, least = number + 1, value
        numbers[value] = number
    return [numbers[value] for value in values]
