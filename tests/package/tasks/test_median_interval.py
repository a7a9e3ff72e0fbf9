# SPDX-License-Identifier: BSD-3-Clause
"""Intervals of medians have the confidence that they claim, and not more."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb

import pytest
from hypothesis import given, strategies as st

from topoloom.tasks.collectives.measure import median_interval


def confidence(samples: int, first: int) -> Fraction:
    """Sum the cases in which the median lies between the ends, `first` from outside."""
    inside = range(first + 1, samples - first)
    return Fraction(sum(comb(samples, below) for below in inside), 2**samples)


@pytest.mark.parametrize("samples", range(6, 120))
def test_the_interval_has_95_percent_confidence_and_a_tighter_one_less(
    samples: int,
) -> None:
    low, high = median_interval(range(samples))
    assert low + high == samples - 1
    assert confidence(samples, int(low)) >= Fraction(95, 100)
    assert confidence(samples, int(low) + 1) < Fraction(95, 100)


def test_the_confidence_equals_a_count_of_all_cases() -> None:
    """Six samples lie below or above with equal chances: 62 of 64 are on both sides."""
    ways = list(product((False, True), repeat=6))
    assert sum(0 < sum(way) < 6 for way in ways) == confidence(6, 0) * len(ways)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=5))
def test_up_to_five_samples_give_their_range(samples: list[float]) -> None:
    assert median_interval(samples) == (min(samples), max(samples))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40))
def test_the_interval_does_not_depend_on_the_order_of_samples(
    samples: list[float],
) -> None:
    assert median_interval(sorted(samples)) == median_interval(samples)
