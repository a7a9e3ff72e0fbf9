# SPDX-License-Identifier: BSD-3-Clause
"""Lays out the chart of effects: a point and an interval in each row."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

#: Width of the names, width of the plot, and height of a row, in units of the SVG.
NAMES, PLOT, ROW = 260.0, 420.0, 24.0
_MARGIN, _MOST_TICKS = 24.0, 7
_STEPS = (1, 2, 5)
#: Changes below this, in percent, are printed as 0.
_ROUNDED = 0.05


class PlottedEffect(NamedTuple):
    """A change in percent and its 95 % interval; None without enough runs."""

    name: str
    change: float | None
    low: float | None
    high: float | None
    text: str


class ChartRow(NamedTuple):
    """A row of the chart: positions of the point and of the ends of the interval.

    `kind` is ``good`` if the interval is below 0, ``bad`` if above, ``same`` if it
    contains 0.
    """

    name: str
    text: str
    y: float
    x: float | None
    start: float
    end: float
    kind: str


class EffectChart(NamedTuple):
    """The chart: rows, ticks (position and label), position of 0 %, and size."""

    rows: list[ChartRow]
    ticks: list[tuple[float, str]]
    zero: float
    width: float
    height: float


def lay_out_effects(effects: Sequence[PlottedEffect]) -> EffectChart:
    """Lay out the effects along one axis in percent that contains 0."""
    known = [each for each in effects if each.change is not None]
    ends = [v for e in known for v in (e.change, e.low, e.high) if v is not None]
    low, high = min([0.0, *ends]), max([0.0, *ends])
    if high - low < 1e-9:
        low, high = -1.0, 1.0
    scale = (PLOT - 2 * _MARGIN) / (high - low)

    def place(value: float) -> float:
        return round(NAMES + _MARGIN + (value - low) * scale, 2)

    rows = []
    for number, each in enumerate(effects):
        y = (number + 0.5) * ROW
        if each.change is None:
            rows.append(ChartRow(each.name, each.text, y, None, 0, 0, "same"))
            continue
        start = each.change if each.low is None else each.low
        end = each.change if each.high is None else each.high
        is_less, is_more = end < -_ROUNDED, start > _ROUNDED
        kind = "good" if is_less else "bad" if is_more else "same"
        at = (place(each.change), place(start), place(end))
        rows.append(ChartRow(each.name, each.text, y, *at, kind))
    ticks = [(place(value), f"{value:+g} %") for value in _list_ticks(low, high)]
    height = ROW * len(effects) + 24
    return EffectChart(rows, ticks, place(0.0), NAMES + PLOT, height)


def _list_ticks(low: float, high: float) -> list[float]:
    """List multiples of 1, 2 or 5 times a power of ten, at most seven."""
    power = 10.0 ** math.floor(math.log10((high - low) / _MOST_TICKS))
    step = next(
        each * power
        for each in (*_STEPS, 10, 20)
        if (high - low) / (each * power) < _MOST_TICKS
    )
    first, last = math.ceil(low / step), math.floor(high / step)
    return [round(number * step, 10) for number in range(first, last + 1)]
