# SPDX-License-Identifier: BSD-3-Clause
"""Computes axes and ticks of SVG charts."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

#: Tolerance for rounding errors in values and logarithms.
_ROUND = 1e-3
_NICE = (1, 2, 5)
_FEW_DECADES = 2.0  # decades


class Tick(NamedTuple):
    """A labeled position on an axis."""

    at: float
    text: str


class Point(NamedTuple):
    """A measured value: its position in the chart, and the text about it."""

    x: float
    y: float
    text: str


@dataclass(frozen=True)
class LogAxis:
    """A logarithmic axis from `low` to `high`, drawn from `start` to `end`."""

    low: float
    high: float
    start: float
    end: float

    def position(self, value: float) -> float:
        """Return the position of a value, clamped to the axis."""
        value = min(max(value, self.low), self.high)
        share = math.log(value / self.low) / math.log(self.high / self.low)
        return round(self.start + share * (self.end - self.start), 2)

    def list_binary_ticks(
        self, text: Callable[[float], str], most: int = 8
    ) -> list[Tick]:
        """List at most `most` ticks, which are at powers of two."""
        first = math.ceil(math.log2(self.low) - _ROUND)
        last = math.floor(math.log2(self.high) + _ROUND)
        step = 1
        while (last - first) // step >= most:
            step *= 2
        powers = [2.0**p for p in range(first, last + 1) if p % step == 0]
        return [Tick(self.position(power), text(power)) for power in powers]

    def list_decimal_ticks(self, text: Callable[[float], str]) -> list[Tick]:
        """List ticks at 1, 2, 5, 10, ..., or over two decades only at powers of ten."""
        few = math.log10(self.high / self.low) < _FEW_DECADES
        first, last = (math.floor(math.log10(end)) for end in (self.low, self.high))
        marks = [
            factor * 10.0**power
            for power in range(first - 1, last + 2)
            for factor in (_NICE if few else (1,))
        ]
        least, most = self.low * (1 - _ROUND), self.high * (1 + _ROUND)
        return [Tick(self.position(m), text(m)) for m in marks if least <= m <= most]


def make_binary_axis(values: Iterable[float], start: float, end: float) -> LogAxis:
    """Make an axis that contains the values and ends at two powers of two."""
    low, high = _find_range(values)
    first = math.floor(math.log2(low) + _ROUND)
    last = max(math.ceil(math.log2(high) - _ROUND), first + 1)
    return LogAxis(2.0**first, 2.0**last, start, end)


def make_decimal_axis(values: Iterable[float], start: float, end: float) -> LogAxis:
    """Make an axis that contains the values and ends at two of 1, 2, 5, 10, ..."""
    low, high = _find_range(values)
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    marks = [f * 10.0**p for p in range(first - 1, last + 1) for f in _NICE]
    least = max(m for m in marks if m <= low * (1 + _ROUND))
    most = min(m for m in marks if m >= high * (1 - _ROUND) and m > least)
    return LogAxis(least, most, start, end)


def _find_range(values: Iterable[float]) -> tuple[float, float]:
    known = [value for value in values if value > 0 and math.isfinite(value)] or [1.0]
    return min(known), max(known)


def format_svg_path(points: Iterable[tuple[float, float]]) -> str:
    """Format an SVG path through points."""
    return "M" + "L".join(f"{x:g} {y:g}" for x, y in points)
