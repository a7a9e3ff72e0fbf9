# SPDX-License-Identifier: BSD-3-Clause
"""Draws the messages in each round of a small schedule."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from topoloom._core import Error
from topoloom.figure.page import open_page
from topoloom.figure.style import AFTER, BEFORE, NEUTRAL, make_color_scale
from topoloom.support.number_ranges import compress_ranges
from topoloom.support.units import format_bytes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from topoloom.schedules.choose import Call

MAX_RANKS = 32
MAX_ROUNDS = 32

_WIDTH = 9.6  # in inches, like all constants below
_TITLE = 0.3
_PER_HEIGHT = 0.34
_MARGIN = 0.35  # heights
_MAX_HEIGHT = 4.0
_LETTER = 0.055

_ROOTED = ("bcast", "reduce", "scatter", "gather")
#: Operations whose blocks are named by two ranks; such names are too long for labels.
_PERSONAL = ("alltoall", "many-to-many")


class _Message(NamedTuple):
    source: int
    target: int
    bytes: int
    blocks: list[int]


@dataclass(frozen=True)
class _Drawing:
    """The drawing of a schedule, with the sizes of its panels."""

    call: Call
    name: str
    rounds: list[list[_Message]]

    @property
    def rows(self) -> list[list[list[_Message]]]:
        """The rounds in each row of panels; rows have equally many."""
        columns = -(-len(self.rounds) // -(-len(self.rounds) // self._most_columns))
        return [
            self.rounds[at : at + columns] for at in range(0, len(self.rounds), columns)
        ]

    @property
    def _most_columns(self) -> int:
        return min(max(1, 36 // (self.call.ranks + 1)), 5)

    @property
    def width(self) -> float:
        """Width of a panel in inches; a single panel fills at most half of the page."""
        return 0.98 * _WIDTH / max(len(self.rows[0]), min(2, self._most_columns))

    @cached_property
    def _has_plain_blocks(self) -> bool:
        """Whether labels are unnecessary: all messages contain the same blocks."""
        carried = [one.blocks for messages in self.rounds for one in messages]
        if self.call.operation in _PERSONAL:
            return all(len(blocks) == 1 for blocks in carried)
        return all(blocks == carried[0] for blocks in carried)

    def label(self, one: _Message) -> str:
        """Format the blocks of a message as block numbers, or as their count."""
        if self._has_plain_blocks:
            return ""
        names = compress_ranges(sorted(one.blocks))
        wide = len(names) * _LETTER > self.width / self.call.ranks
        if wide or self.call.operation in _PERSONAL:
            return f"{len(one.blocks)}\N{MULTIPLICATION SIGN}"
        return names

    def height(self, one: _Message) -> float:
        """Return an arrow's height: above 0 if the arrow points right, else below 0."""
        way = one.target - one.source
        longest = math.log(max(self.call.ranks - 1, 2))
        power = min(0.7, math.log(_MAX_HEIGHT) / longest)
        return math.copysign(abs(way) ** power, way)

    def find_height_range(self, row: list[list[_Message]]) -> tuple[float, float]:
        """Return the lowest and the highest point of a row of panels."""
        heights = [self.height(one) for messages in row for one in messages]
        return min(0.0, *heights) - _MARGIN, max(0.0, *heights) + _MARGIN

    def compute_row_height(self, row: list[list[_Message]]) -> float:
        low, high = self.find_height_range(row)
        return _TITLE + (high - low) * _PER_HEIGHT


def check_rounds(call: Call) -> None:
    """Raise an error if there are more ranks than can be drawn."""
    if call.ranks > MAX_RANKS:
        raise Error(
            f"rounds can be drawn for up to {MAX_RANKS} ranks, not {call.ranks}; use "
            "fewer ranks"
        )


def draw_rounds(path: str | Path, schedules: Sequence[tuple[Call, str]]) -> None:
    """Draw a panel per round: ranks on a line, and messages as arrows.

    Arrows are labeled with block numbers. In an alltoall, or if the label is too
    long, it is the number of blocks. Darker arrows mean more bytes.

    Parameters
    ----------
    path
        Output file; its suffix selects svg, png or pdf.
    schedules
        Pairs of call and schedule name, from top to bottom.

    Raises
    ------
    topoloom.Error
        If there are more than `MAX_RANKS` ranks or `MAX_ROUNDS` rounds, or the figure
        cannot be drawn.
    OSError
        If the file cannot be written.
    """
    drawings = [
        _Drawing(call, name, _read_rounds(call, name)) for call, name in schedules
    ]
    inches = [
        _TITLE + sum(map(each.compute_row_height, each.rows)) for each in drawings
    ]
    with open_page(path, (_WIDTH, sum(inches))) as figure:
        parts = figure.subfigures(len(drawings), 1, squeeze=False, height_ratios=inches)
        for (part,), drawing, tall in zip(parts, drawings, inches, strict=True):
            _draw_rows(part, drawing, tall)


def _read_rounds(call: Call, name: str) -> list[list[_Message]]:
    check_rounds(call)
    schedule = call.schedule(name)
    if schedule.rounds == 0:
        raise Error(f"{name} has no rounds to draw; use more ranks than {call.ranks}")
    if schedule.rounds > MAX_ROUNDS:
        raise Error(
            f"{name} has {schedule.rounds} rounds, more than the {MAX_ROUNDS} "
            "that can be drawn; take fewer ranks, or another schedule"
        )
    rounds = []
    for number in range(schedule.rounds):
        sent = zip(*(a.tolist() for a in schedule.messages(number)), strict=True)
        rounds.append(
            [_Message(a, b, size, schedule.blocks(number, a, b)) for a, b, size in sent]
        )
    return rounds


def _draw_rows(part: Any, drawing: _Drawing, inches: float) -> None:
    call = drawing.call
    what = f"{drawing.name}: {call.operation} among {call.ranks} ranks"
    part.text(0.01, 1 - 0.18 / inches, what, va="top", weight="bold")
    most = max(one.bytes for messages in drawing.rounds for one in messages)
    width = drawing.width / _WIDTH
    top = inches - _TITLE
    number = 0
    for row in drawing.rows:
        tall = drawing.compute_row_height(row)
        for column, messages in enumerate(row):
            number += 1
            box = (0.01 + column * width, (top - tall) / inches)
            axes = part.add_axes((*box, 0.96 * width, (tall - _TITLE) / inches))
            axes.set(xlim=(-0.6, call.ranks - 0.4), ylim=drawing.find_height_range(row))
            axes.axis("off")
            axes.set_title(
                _format_sizes(number, messages), loc="left", fontsize=8, pad=2
            )
            _draw_ranks(axes, call, messages)
            for one in sorted(messages, key=lambda one: abs(one.target - one.source)):
                _draw_message(axes, one, drawing.height(one), drawing.label(one), most)
        top -= tall


def _format_sizes(number: int, messages: list[_Message]) -> str:
    sizes = sorted({one.bytes for one in messages})
    text = " to ".join(format_bytes(size) for size in (*sizes[:1], *sizes[1:][-1:]))
    return f"round {number}: {text}" if any(sizes) else f"round {number}"


def _draw_ranks(axes: Axes, call: Call, messages: list[_Message]) -> None:
    """Draw the ranks: the root in another color, inactive ranks in a pale one."""
    busy = {rank for one in messages for rank in one[:2]}
    rooted = call.operation in _ROOTED
    for rank in range(call.ranks):
        root = rooted and rank == call.root
        color = BEFORE if root else AFTER if rank in busy else NEUTRAL
        axes.plot(rank, 0, "s" if root else "o", color=color, ms=9, mew=0, zorder=3)
        text = "white" if rank in busy or root else "#666666"
        style: Any = {"ha": "center", "va": "center_baseline", "fontsize": 6}
        axes.text(rank, 0, str(rank), color=text, zorder=4, **style)


def _draw_message(
    axes: Axes, one: _Message, height: float, label: str, most: int
) -> None:
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path as Curve

    # The middle of the curve is at 3/4 of the height of its control points.
    edge = math.copysign(0.2, height)
    bow = edge + (height - edge) / 0.75
    corners = [(one.source, edge), (one.source, bow), (one.target, bow)]
    curve = Curve([*corners, (one.target, edge)], [Curve.MOVETO, *[Curve.CURVE4] * 3])
    color = make_color_scale(0.45)(one.bytes / most if most else 1.0)
    axes.add_patch(
        FancyArrowPatch(
            path=curve, arrowstyle="-|>", mutation_scale=6, color=color, lw=0.9
        )
    )
    if label:
        box = {"facecolor": "white", "edgecolor": "none", "pad": 0.6}
        style: Any = {"ha": "center", "va": "center", "fontsize": 6}
        at = ((one.source + one.target) / 2, height)
        axes.text(*at, label, bbox=box, zorder=5, **style)
