# SPDX-License-Identifier: BSD-3-Clause
"""What is saved in percent, also against nothing."""

from __future__ import annotations

from topoloom.support.gain import format_percent, gain


def test_a_gain_is_what_is_saved() -> None:
    assert gain(200, 150) == 25
    assert gain(100, 150) == -50
    assert format_percent(gain(3, 1)) == "+66.7 %"


def test_something_against_nothing_is_no_percentage() -> None:
    assert gain(0, 0) == 0
    assert gain(0, 1) is None
    assert format_percent(None) == "-inf %"
