# SPDX-License-Identifier: BSD-3-Clause
"""Computes a histogram of link loads in two views, as bars and as a table."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from topoloom.figure.links import Array, LoadUnit
from topoloom.support.units import counted, format_bytes

BINS = 24
WIDTH, HEIGHT = 720.0, 190.0  # size of the plot area in picture units
BAR_GAP = 1.0  # gap between bins, in picture units


class HistogramBar(NamedTuple):
    """A bar of the histogram, in picture units."""

    x: float
    y: float
    width: float
    height: float
    view: int  # 0: before, 1: after
    text: str


class Histogram(NamedTuple):
    """Bars, axis labels, and the equivalent table."""

    bars: list[HistogramBar]
    x_ticks: list[tuple[float, str]]
    y_ticks: list[tuple[float, str]]
    rows: list[
        tuple[str, int, int]
    ]  # load range, number of links before, number of links after
    idle: list[int]
    links: int


def make_histogram(
    busy: tuple[Array, Array], names: list[str], by: LoadUnit
) -> Histogram:
    """Make the histogram of links that have traffic, with logarithmic heights."""
    top = max(float(values.max(initial=0)) for values in busy)
    edges = np.linspace(0, top or 1.0, BINS + 1)
    counts = [np.histogram(values[values > 0], edges)[0] for values in busy]
    most = max(int(count.max(initial=0)) for count in counts)
    tallest = math.log10(1 + max(most, 1)) * 1.05
    rows, bars = [], []
    step = WIDTH / BINS
    for index in range(BINS):
        low, high = (format_load(float(edges[index + k]), by) for k in (0, 1))
        where = f"{low} to {high}"
        if top:
            rows.append((where, int(counts[0][index]), int(counts[1][index])))
        for view, name in enumerate(names):
            count = int(counts[view][index])
            height = HEIGHT * math.log10(1 + count) / tallest
            wide = step / 2 - BAR_GAP
            x = index * step + view * step / 2 + BAR_GAP / 2
            text = f"{name}: {counted(count, 'link')}, {where}"
            if count:
                bars.append(HistogramBar(x, HEIGHT - height, wide, height, view, text))
    quarters = range(5) if top else range(1)
    x_ticks = [(WIDTH * k / 4, format_load(top * k / 4, by)) for k in quarters]
    tens = [10**k for k in range(7) if 10**k <= most]
    y_ticks = [
        (HEIGHT * (1 - math.log10(1 + count) / tallest), f"{count:,}") for count in tens
    ]
    idle = [int((values == 0).sum()) for values in busy]
    return Histogram(bars, x_ticks, y_ticks, rows, idle, len(busy[0]))


def format_load(value: float, by: LoadUnit) -> str:
    """Format a link load: seconds if bandwidths are known, else bytes."""
    return by.format(value) if by.in_seconds else format_bytes(value)
