# SPDX-License-Identifier: BSD-3-Clause
"""Gains in percent, also relative to zero."""

from __future__ import annotations

from topoloom.support.gain import format_percent, gain


def test_a_gain_is_the_saved_share() -> None:
    assert gain(200, 150) == 25
    assert gain(100, 150) == -50
    assert format_percent(gain(3, 1)) == "+66.7 %"
    assert format_percent(gain(599.1, 599.2)) == "+0.0 %"
    assert format_percent(gain(10_000, 10_006)) == "-0.1 %"


def test_a_gain_relative_to_zero_is_no_percentage() -> None:
    assert gain(0, 0) == 0
    assert gain(0, 1) is None
    assert format_percent(None) == "-inf %"
