# SPDX-License-Identifier: BSD-3-Clause
"""Gains in percent."""

from __future__ import annotations


def gain(before: float, after: float) -> float | None:
    """Percent that `after` saves; negative if worse, None if only `before` is 0."""
    if before == 0:
        return 0.0 if after == 0 else None
    return 100.0 * (before - after) / before


def percent(number: float | None) -> str:
    """Write a gain: ``+31.4 %``."""
    return "-inf %" if number is None else f"{number:+.1f} %"
