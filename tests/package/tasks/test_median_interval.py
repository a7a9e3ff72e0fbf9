# SPDX-License-Identifier: BSD-3-Clause
"""Confidence intervals of medians have the claimed confidence, computed exactly."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb

import pytest
from hypothesis import given, strategies as st

from topoloom.tasks.collectives.measure import median_interval


def compute_confidence(samples: int, first: int) -> Fraction:
    """Compute the confidence of an interval that omits `first` samples at each end."""
    inside = range(first + 1, samples - first)
    return Fraction(sum(comb(samples, below) for below in inside), 2**samples)


@pytest.mark.parametrize("samples", range(6, 120))
def test_median_intervals_are_the_narrowest_with_95_percent_confidence(
    samples: int,
) -> None:
    low, high = median_interval(range(samples))
    assert low + high == samples - 1
    assert compute_confidence(samples, int(low)) >= Fraction(95, 100)
    assert compute_confidence(samples, int(low) + 1) < Fraction(95, 100)


def test_the_confidence_equals_an_enumeration_of_all_arrangements() -> None:
    """The median is inside 62 of the 64 equally likely arrangements of six samples."""
    ways = list(product((False, True), repeat=6))
    assert sum(0 < sum(way) < 6 for way in ways) == compute_confidence(6, 0) * len(ways)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=5))
def test_intervals_of_few_samples_contain_all_samples(samples: list[float]) -> None:
    assert median_interval(samples) == (min(samples), max(samples))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40))
def test_the_interval_does_not_depend_on_the_order_of_samples(
    samples: list[float],
) -> None:
    assert median_interval(sorted(samples)) == median_interval(samples)
