# SPDX-License-Identifier: BSD-3-Clause
"""Computes and formats gains in percent."""

from __future__ import annotations


def gain(before: float, after: float) -> float | None:
    """Compute the reduction from `before` to `after` in percent; negative for growth.

    Returns None if only `before` is 0, and 0 if both are 0.
    """
    if before == 0:
        return 0.0 if after == 0 else None
    return 100.0 * (before - after) / before


def format_percent(number: float | None) -> str:
    """Format a gain: ``+31.4 %``; losses below 0.05 % are ``+0.0 %``."""
    if number is None:
        return "-inf %"
    return f"{number:+.1f} %".replace("-0.0 %", "+0.0 %")
