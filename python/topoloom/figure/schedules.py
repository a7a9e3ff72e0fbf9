# SPDX-License-Identifier: BSD-3-Clause
"""Draws the times of a collective's schedules over sizes, ranks or degrees."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from topoloom._core import Error
from topoloom.figure.page import open_page
from topoloom.figure.style import AFTER
from topoloom.support.units import format_bytes, format_seconds

if TYPE_CHECKING:
    from topoloom._core import NetworkModel
    from topoloom.schedules.choose import Call, RankSlots

#: Markers that distinguish lines in addition to colors.
_MARKERS = "os^vDPX*<>hp"


def vary_call(call: Call, over: str, slots: RankSlots | None = None) -> list[Call]:
    """List variants of a call for a figure's x-axis: bytes, ranks, or the degree.

    Values are powers of two; bytes go up to 1 MiB.

    Raises
    ------
    topoloom.Error
        If the call has nothing to vary.
    """
    if call.demand is not None:
        raise Error(
            "a demand defines all messages, which leaves nothing for the x-axis"
        )
    if over == "ranks" and slots is not None:
        raise Error("a figure over ranks requires a network model, and no machine")
    if over == "bytes" and call.operation != "barrier":
        return [call._replace(bytes=1 << k) for k in range(21)]
    if over == "ranks":
        most = max(call.root + 1, (call.degree or 0) + 1, 2)
        powers = [1 << k for k in range(1, call.ranks.bit_length())]
        return [call._replace(ranks=p) for p in powers if p >= most]
    if over == "degree" and call.degree is not None:
        powers = [1 << k for k in range(call.ranks.bit_length())]
        return [call._replace(degree=p) for p in powers if p < call.ranks]
    raise Error(
        f"no figure over {over} of {call.operation}; expected ranks, bytes (except "
        "for a barrier), or the degree of a many-to-many"
    )


def draw_schedules(
    path: str | Path,
    call: Call,
    model: NetworkModel | None,
    slots: RankSlots | None,
    over: str = "bytes",
) -> None:
    """Draw one line per schedule; below the x-axis, name the fastest one of each range.

    Raises
    ------
    topoloom.Error
        If the figure cannot be drawn, or `over` is not bytes, ranks or degree.
    OSError
        If the file cannot be written.
    """
    from topoloom.schedules.choose import rank_schedules

    points = vary_call(call, over, slots)
    times: dict[str, dict[int, float]] = {}
    best: list[str] = []
    for index, point in enumerate(points):
        ranked = rank_schedules(point, model, slots)
        best.append(ranked[0].name.partition("(")[0])
        for one in ranked:
            name = one.name.partition("(")[0]
            times.setdefault(name, {})[index] = one.cost.time
    at = [getattr(point, over) for point in points]
    with open_page(path, (7.2, 4.6)) as figure:
        axes, band = figure.subplots(
            2, 1, sharex=True, gridspec_kw={"height_ratios": [12, 1], "hspace": 0.08}
        )
        _draw_lines(axes, at, times)
        _draw_band(band, at, best)
        band.set_xlabel(_make_label(call, over))
        # The default labels are formulas; see parse_math in the style.
        label = format_bytes if over == "bytes" else "{:,.0f}".format
        band.xaxis.set_major_formatter(lambda value, _: label(value))
        figure.subplots_adjust(left=0.1, right=0.74, top=0.93, bottom=0.12)
        axes.set_title(_make_title(call, over), loc="left")


def _draw_lines(axes: Any, at: list[int], times: dict[str, dict[int, float]]) -> None:
    import matplotlib
    from matplotlib.ticker import NullFormatter

    colors = matplotlib.colormaps["viridis"](np.linspace(0, 0.85, len(times)))
    order = sorted(times, key=lambda name: -list(times[name].values())[-1])
    for number, name in enumerate(order):
        axes.plot(
            [at[i] for i in times[name]],
            list(times[name].values()),
            label=name,
            color=colors[number],
            marker=_MARKERS[number % len(_MARKERS)],
            markersize=3.5,
            linewidth=1.1,
        )
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(lambda seconds, _: format_seconds(seconds))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.set_ylabel("predicted time")
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, fontsize=8)


def _draw_band(band: Any, at: list[int], best: list[str]) -> None:
    """Write the fastest schedule below each range, and shade ranges alternately."""
    start = 0
    turn = 0
    edges = [at[0] / 2**0.5, *(a * 2**0.5 for a in at)]
    for i in range(1, len(best) + 1):
        if i < len(best) and best[i] == best[start]:
            continue
        band.axvspan(edges[start], edges[i], color=AFTER, alpha=(0.12, 0.28)[turn])
        middle = (edges[start] * edges[i]) ** 0.5
        if i - start > len(best) / 12:
            band.text(middle, 0.5, best[start], ha="center", va="center", fontsize=7)
        start, turn = i, 1 - turn
    band.set_yticks([])
    band.set_ylabel("fastest", rotation=0, ha="right", va="center")
    band.set_ylim(0, 1)


def _make_label(call: Call, over: str) -> str:
    if over == "ranks":
        return "ranks"
    if over == "degree":
        return "ranks to which each rank sends"
    whole = call.operation in ("bcast", "reduce", "allreduce")
    return "size of the vector" if whole else "size of a block"


def _make_title(call: Call, over: str) -> str:
    parts = [call.operation]
    if over != "bytes":
        parts.append(f"{call.bytes:,} B")
    if over != "ranks":
        parts.append(f"{call.ranks:,} ranks")
    if over != "degree" and call.degree is not None:
        parts.append(f"degree {call.degree}")
    return ", ".join(parts)
