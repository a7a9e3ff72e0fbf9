# SPDX-License-Identifier: BSD-3-Clause
"""Draws the timeline of a collective call, with waiting times."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from topoloom._core import Error
from topoloom.figure.page import open_page
from topoloom.figure.style import AFTER, BEFORE, NEUTRAL, TEXT
from topoloom.schedules.call_trace import CallTrace
from topoloom.support.units import format_bytes, format_seconds

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_RANKS = 64

_LANE = 0.6  # lane height relative to the distance between two ranks
_PER_RANK = 0.2  # inches
_SCALES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"))


def check_timeline(ranks: int) -> None:
    """Raise an error if there are more ranks than can be drawn.

    Raises
    ------
    topoloom.Error
        If there are more than `MAX_RANKS`.
    """
    if ranks > MAX_RANKS:
        raise Error(f"timelines can be drawn for up to {MAX_RANKS} ranks, not {ranks}")


def draw_timeline(path: str | Path, trace: CallTrace) -> None:
    """Draw one lane per rank with its waits, communication and copies.

    A rank waits until the last message of a round has been sent. An arrow leads from
    the send of this message to its arrival.

    Parameters
    ----------
    path
        Output file; its suffix selects svg, png or pdf.
    trace
        A trace from `load_traces`.

    Raises
    ------
    topoloom.Error
        If there are more than `MAX_RANKS` ranks, or the figure cannot be drawn.
    OSError
        If the file cannot be written.
    """
    from matplotlib.ticker import MaxNLocator

    check_timeline(trace.ranks)
    unit, name = next(
        (pair for pair in _SCALES if trace.seconds >= 2 * pair[0]), _SCALES[-1]
    )
    with open_page(path, (8.6, 1.25 + _PER_RANK * max(trace.ranks, 4))) as figure:
        axes = figure.subplots()
        _draw_lanes(axes, trace, unit)
        axes.set_xlabel(f"time in {name}")
        axes.set_ylabel("rank")
        axes.set_ylim(trace.ranks - 0.4, -0.6)
        axes.set_xlim(0, trace.seconds / unit)
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_title(_make_title(trace), loc="left")
        axes.legend(
            loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, fontsize=8
        )
        figure.set_layout_engine("tight")


def _make_title(trace: CallTrace) -> str:
    size = f" of {format_bytes(trace.bytes)}" if trace.bytes else ""
    return (
        f"{trace.operation}{size} among {trace.ranks} ranks by {trace.schedule}: "
        f"{format_seconds(trace.seconds)}"
    )


def _draw_lanes(axes: Axes, trace: CallTrace, unit: float) -> None:
    start = trace.begin

    def at(time: float) -> float:
        return (time - start) / unit

    def draw_bars(
        spans: list[tuple[int, float, float]], height: float, **look: Any
    ) -> None:
        left = [at(begin) for _, begin, _ in spans]
        width = [(end - begin) / unit for _, begin, end in spans]
        axes.barh([r for r, _, _ in spans], width, height, left, linewidth=0, **look)

    def percentage(spans: list[tuple[int, float, float]]) -> float:
        """Return which percentage of the ranks' total time this is."""
        taken = sum(end - begin for _, begin, end in spans)
        return 100 * taken / max(trace.seconds * trace.ranks, 1e-12)

    waits = list(trace.waits())
    calls = [(one.rank, one.begin, one.end) for one in trace.select("call")]
    moving = _list_round_spans(trace)
    waiting = [(one.receive.rank, one.ready, one.sent) for one in waits]
    copies = [(one.rank, one.begin, one.end) for one in trace.select("copy")]
    draw_bars(calls, 0.08, color=NEUTRAL, zorder=1)
    under_way = percentage(moving) - percentage(waiting)
    under_way_label = f"messages under way, {under_way:.0f} %"
    draw_bars(moving, _LANE, color=AFTER, label=under_way_label, zorder=2)
    look: Any = {"color": BEFORE, "hatch": "////", "edgecolor": "white"}
    if waiting:
        label = f"waits for a sender, {percentage(waiting):.0f} %"
        draw_bars(waiting, _LANE, label=label, zorder=3, **look)
    if copies:
        label = f"copies, combines, {percentage(copies):.0f} %"
        draw_bars(copies, 0.3, color=TEXT, label=label, zorder=4)
    for wait in waits:
        axes.annotate(
            "",
            (at(wait.receive.end), wait.receive.rank),
            (at(wait.sent), wait.receive.peer),
            arrowprops={"arrowstyle": "-|>", "color": TEXT, "lw": 0.6, "shrinkB": 0},
            zorder=5,
        )


def _list_round_spans(trace: CallTrace) -> list[tuple[int, float, float]]:
    """List each rank's intervals: in each round, from the first to the last message."""
    found: dict[tuple[int, int], tuple[float, float]] = {}
    for one in trace.select("send", "receive"):
        begin, end = found.get((one.rank, one.round), (one.begin, one.end))
        span = min(begin, one.begin), max(end, one.end)
        found[one.rank, one.round] = span
    return [(rank, *span) for (rank, _), span in found.items()]
