# SPDX-License-Identifier: BSD-3-Clause
"""Makes charts of message times by size, with fitted lines and errors."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from topoloom.report.probed.chart import (
    LogAxis,
    Point,
    Tick,
    format_svg_path,
    make_binary_axis,
    make_decimal_axis,
)
from topoloom.report.probed.probed_file import (
    FittedLine,
    LevelModel,
    PairLimit,
    TimeCurve,
)
from topoloom.support.units import format_bandwidth, format_bytes, format_seconds

WIDTH = 390.0
HEIGHT = 230.0  # height of the chart of times
ERRORS = (262.0, 322.0)  # vertical positions of top and bottom of the chart of errors
_SCALES = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)


class LineEnd(NamedTuple):
    """The message size at which a fitted line ends, and its confidence interval."""

    low: float
    at: float
    high: float
    text: str


class ChartSeries(NamedTuple):
    """Measured times and fitted lines (upper chart), and errors (lower chart)."""

    name: str
    path: str
    points: list[Point]
    errors: list[Point]
    breaks: list[LineEnd]


class FitChart(NamedTuple):
    """The chart of message times of a level."""

    name: str
    series: list[ChartSeries]
    x_ticks: list[Tick]
    y_ticks: list[Tick]
    error_ticks: list[Tick]
    text: str


class TotalsChart(NamedTuple):
    """The chart of total bandwidth over concurrent pairs: measured, and ideal."""

    name: str
    points: list[Point]
    ideal: str
    limit: float
    free: tuple[float, float]  # range of pair counts at which pairs do not interfere
    x_ticks: list[Tick]
    y_ticks: list[Tick]
    caption: str


class HostChart(NamedTuple):
    """The chart with one point per host: its message times relative to typical ones."""

    points: list[Point]
    slow: list[Point]
    y_ticks: list[Tick]


def make_fit_chart(level: LevelModel) -> FitChart | None:
    """Make the chart of a level; None if message sizes were not measured."""
    named = [("alone", level.alone), ("in a burst", level.burst)]
    curves = [(name, curve) for name, curve in named if curve is not None]
    if not curves:
        return None
    x = make_binary_axis(
        [max(1.0, size) for _, c in curves for size in c.sizes.tolist()], 0, WIDTH
    )
    times = [time for _, curve in curves for time in curve.measured.tolist()]
    y = make_decimal_axis(times, HEIGHT, 0)
    worst = max(float(np.abs(curve.errors).max()) for _, curve in curves)
    scale = next((s for s in _SCALES if s >= worst), _SCALES[-1])
    middle = (ERRORS[0] + ERRORS[1]) / 2
    half = (ERRORS[1] - ERRORS[0]) / 2

    def error_at(error: float) -> float:
        return round(middle - half * min(max(error / scale, -1), 1), 2)

    series = [
        ChartSeries(
            name,
            _make_line_paths(curve, x, y),
            _make_points(curve, x, y),
            [
                Point(
                    x.position(size),
                    error_at(e),
                    f"{name}, {format_bytes(size)}: {e:+.1%}",
                )
                for size, e in zip(
                    curve.sizes.tolist(), curve.errors.tolist(), strict=True
                )
            ],
            _list_line_ends(curve.lines, x),
        )
        for name, curve in curves
    ]
    ends = (-scale, 0.0, scale)
    texts = [f"{100 * e:+.0f} %" if e else "0" for e in ends]
    return FitChart(
        level.name,
        series,
        x.list_binary_ticks(format_size),
        y.list_decimal_ticks(format_seconds),
        [Tick(error_at(e), text) for e, text in zip(ends, texts, strict=True)],
        f"Messages of {format_bytes(curves[0][1].sizes[0])} to "
        f"{format_bytes(curves[0][1].sizes[-1])} take {format_seconds(min(times))} to "
        f"{format_seconds(max(times))}; the lines are at most {format_share(worst)} "
        "off.",
    )


def make_totals_chart(channels: PairLimit) -> TotalsChart:
    """Make the chart of total bandwidth over the number of concurrent pairs."""
    pairs, totals = channels.pairs, channels.totals
    single = totals[0]
    x = make_binary_axis([float(count) for count in pairs], 0, WIDTH)
    y = make_decimal_axis([*totals, channels.bandwidth, single * 2], HEIGHT, 0)
    most = channels.at_most
    last = y.high / single  # pair count at which the ideal line leaves the chart
    ends = [float(pairs[0]), min(float(pairs[-1]), last)]
    points = [
        Point(
            x.position(count),
            y.position(total),
            f"{count} at once: {format_bandwidth(total)}, {samples} samples",
        )
        for count, total, samples in zip(pairs, totals, channels.samples, strict=True)
    ]
    return TotalsChart(
        channels.pattern,
        points,
        format_svg_path(
            (x.position(count), y.position(count * single)) for count in ends
        ),
        y.position(channels.bandwidth),
        (
            x.position(channels.channels),
            x.position(pairs[-1] if most is None else most),
        ),
        x.list_binary_ticks(lambda count: f"{count:.0f}"),
        y.list_decimal_ticks(format_bandwidth),
        _write_caption(channels),
    )


def _write_caption(channels: PairLimit) -> str:
    single, count, most = channels.totals[0], channels.channels, channels.at_most
    if most is None:
        free = f"No number of pairs, up to {channels.pairs[-1]}, slows the others down"
    elif most == count:
        free = (
            f"Up to {count} at once do not slow each other down"
            if count > 1
            else ("Two at once slow each other down")
        )
    else:
        free = f"{count} to {most} at once do not slow each other down"
    return (
        f"{free}; one pair has {format_bandwidth(single)}, all have "
        f"{format_bandwidth(channels.bandwidth)}, {channels.bandwidth / single:.1f} x "
        "that"
    )


def make_host_chart(
    hosts: Sequence[str], ratios: Sequence[float], slow: Sequence[str], height: float
) -> HostChart:
    """Make the chart of hosts: one point for each host's relative message times."""
    known = [ratio for ratio in ratios if ratio == ratio]
    far = max([1.1, *known, *(1 / ratio for ratio in known)]) ** 1.1
    y = LogAxis(1 / far, far, height, 0)
    points: list[Point] = []
    marked: list[Point] = []
    for n, (host, ratio) in enumerate(zip(hosts, ratios, strict=True)):
        if ratio != ratio:
            continue
        at = round(2 * WIDTH * (n + 0.5) / len(hosts), 2)
        into = marked if host in slow else points
        into.append(Point(at, y.position(ratio), f"{host}: {ratio:.3f} x usual"))
    shown = (1 / far**0.9, 1.0, far**0.9)
    return HostChart(points, marked, [Tick(y.position(r), f"{r:.2f} x") for r in shown])


def _make_points(curve: TimeCurve, x: LogAxis, y: LogAxis) -> list[Point]:
    return [
        Point(
            x.position(size),
            y.position(time),
            f"{format_bytes(size)}: {format_seconds(time)}",
        )
        for size, time in zip(
            curve.sizes.tolist(), curve.measured.tolist(), strict=True
        )
    ]


def _make_line_paths(curve: TimeCurve, x: LogAxis, y: LogAxis) -> str:
    """Draw each line separately, because fits may be discontinuous."""
    least, last = max(1.0, float(curve.sizes[0])), float(curve.sizes[-1])
    limits = [line.most for line in curve.lines if line.most is not None]
    edges = [least, *(most for most in limits if least < most < last), last]
    parts = []
    for first, end in pairwise(edges):
        begin = first if first == least else first + 1
        sizes = np.geomspace(begin, max(end, begin), 24)
        parts.append(
            format_svg_path(
                (x.position(m), y.position(curve.seconds(m))) for m in sizes.tolist()
            )
        )
    return "".join(parts)


def _list_line_ends(lines: Sequence[FittedLine], x: LogAxis) -> list[LineEnd]:
    return [
        LineEnd(
            x.position(max(1.0, line.most_interval[0])),
            x.position(max(1, line.most)),
            x.position(max(1.0, line.most_interval[1])),
            f"a line ends at {line.most:,} B, between {line.most_interval[0]:,.0f} and "
            f"{line.most_interval[1]:,.0f} B",
        )
        for line in lines
        if line.most is not None and line.most_interval is not None
    ]


def format_share(share: float) -> str:
    """Format a share: ``1.4 %``."""
    return f"{100 * share:.1f} %"


def format_size(size: float) -> str:
    """Format a power of two of bytes: ``1 B``, ``64 KiB``."""
    return format_bytes(size).replace(".0 ", " ")
