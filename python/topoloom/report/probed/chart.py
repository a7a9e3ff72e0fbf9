# SPDX-License-Identifier: BSD-3-Clause
"""Axes of charts in SVG: where a number lies, and which are written beside it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

#: How far rounding takes values, and logarithms, off.
_ROUND = 1e-3
_NICE = (1, 2, 5)
_FEW = 2.0  # decades


class Tick(NamedTuple):
    """A place on an axis, and what is written there."""

    at: float
    text: str


class Point(NamedTuple):
    """A measured value: where it is drawn, and what it says."""

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

    def at(self, value: float) -> float:
        """Return where a value lies; what is beyond the axis, at its end."""
        value = min(max(value, self.low), self.high)
        share = math.log(value / self.low) / math.log(self.high / self.low)
        return round(self.start + share * (self.end - self.start), 2)

    def powers_of_two(self, text: Callable[[float], str], most: int = 8) -> list[Tick]:
        """Mark every power, or every second, fourth ... of them."""
        first = math.ceil(math.log2(self.low) - _ROUND)
        last = math.floor(math.log2(self.high) + _ROUND)
        step = 1
        while (last - first) // step >= most:
            step *= 2
        powers = [2.0**p for p in range(first, last + 1) if p % step == 0]
        return [Tick(self.at(power), text(power)) for power in powers]

    def decimals(self, text: Callable[[float], str]) -> list[Tick]:
        """Mark 1, 2, 5, 10, ...; of more than two decades powers of ten alone."""
        few = math.log10(self.high / self.low) < _FEW
        first, last = (math.floor(math.log10(end)) for end in (self.low, self.high))
        marks = [
            factor * 10.0**power
            for power in range(first - 1, last + 2)
            for factor in (_NICE if few else (1,))
        ]
        least, most = self.low * (1 - _ROUND), self.high * (1 + _ROUND)
        return [Tick(self.at(m), text(m)) for m in marks if least <= m <= most]


def two_axis(values: Iterable[float], start: float, end: float) -> LogAxis:
    """Make an axis for all the values, from a power of two to another."""
    low, high = _ends(values)
    first = math.floor(math.log2(low) + _ROUND)
    last = max(math.ceil(math.log2(high) - _ROUND), first + 1)
    return LogAxis(2.0**first, 2.0**last, start, end)


def ten_axis(values: Iterable[float], start: float, end: float) -> LogAxis:
    """Make an axis for all the values, from 1, 2, 5, 10, ... to another of these."""
    low, high = _ends(values)
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    marks = [f * 10.0**p for p in range(first - 1, last + 1) for f in _NICE]
    least = max(m for m in marks if m <= low * (1 + _ROUND))
    most = min(m for m in marks if m >= high * (1 - _ROUND) and m > least)
    return LogAxis(least, most, start, end)


def _ends(values: Iterable[float]) -> tuple[float, float]:
    known = [value for value in values if value > 0 and math.isfinite(value)] or [1.0]
    return min(known), max(known)


def path(points: Iterable[tuple[float, float]]) -> str:
    """Write the path through points."""
    return "M" + "L".join(f"{x:g} {y:g}" for x, y in points)
