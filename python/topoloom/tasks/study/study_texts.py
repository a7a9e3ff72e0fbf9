# SPDX-License-Identifier: BSD-3-Clause
"""Formats changes and predictions for the tables and the page of a study."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from topoloom.tasks.runs.gain_estimate import Change

_UNKNOWN = "-"


def format_change(change: Change) -> str:
    """Format the change; ``-`` without runs."""
    if change.change is None:
        return "not enough runs" if change.pairs else _UNKNOWN
    return f"{change.change + 0.0:+.1f} %".replace("-0.0 %", "+0.0 %")


def format_interval(change: Change) -> str:
    """Format the 95 % interval; ``-`` if the change is exact or unknown."""
    if change.low is None or change.high is None or change.low == change.high:
        return _UNKNOWN
    return f"{change.low:+.1f} to {change.high:+.1f} %"


def format_prediction(value: float | None, base: float | None) -> str:
    """Format the predicted change from `base`; ``-`` if either is unknown."""
    if value is None or not base:
        return _UNKNOWN
    return f"{100 * (value / base - 1):+.1f} %"
