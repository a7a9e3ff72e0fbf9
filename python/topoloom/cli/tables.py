# SPDX-License-Identifier: BSD-3-Clause
"""Lays out tables, and leaves out columns where the width is limited."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Collection, Sequence
from typing import NamedTuple

_GAP, _NARROW_GAP = 3, 2  # characters between two columns
_MARGIN = 2
#: Columns of text are wrapped down to this width before other columns are left out.
_MIN_TEXT_WIDTH = 24
_BEFORE_UNIT = re.compile(r"(?<=[0-9]) (?=(?:%|[KMGTPE]?i?B(?:/s)?|[munk]?s)(?!\w))")


class Column(NamedTuple):
    """A column: its heading, with line breaks, and its cells."""

    heading: str
    cells: Sequence[str]
    is_text: bool  # aligned to the left, and wrapped at spaces if necessary

    @property
    def name(self) -> str:
        """The heading in one line."""
        return self.heading.replace("\n", " ")

    @property
    def natural_width(self) -> int:
        """The width of the longest line."""
        lines = [*self.heading.split("\n"), *self.cells]
        return max(map(len, lines))

    @property
    def word_width(self) -> int:
        """The least width that breaks no word, and no cell with a number."""
        words = [word for text in self._wrappable for word in text.split()]
        fixed = () if self.is_text else self.cells
        return max(map(len, [*words, *fixed, ""]))

    @property
    def is_equal(self) -> bool:
        """Whether all of several cells are equal."""
        return len(self.cells) > 1 and len(set(self.cells)) == 1

    @property
    def _wrappable(self) -> list[str]:
        return [self.heading, *(self.cells if self.is_text else ())]


class Layout(NamedTuple):
    """The columns that are shown, their widths, and the columns that are not."""

    columns: list[Column]
    widths: list[int]
    gap: int
    equal: list[Column]
    dropped: list[Column]


def lay_out(
    columns: Sequence[Column],
    width: int | None,
    keep: Collection[str],
    drop_first: Sequence[str] = (),
) -> Layout:
    """Choose the columns and their widths for a total width; None means unlimited.

    Columns of `keep` are always shown. If the others do not fit, those that are equal
    in all rows are left out first, then those of `drop_first`, then the rightmost.
    """
    shown = list(columns)
    equal: list[Column] = []
    dropped: list[Column] = []
    while True:
        widths = _fit(shown, _GAP, width, _MIN_TEXT_WIDTH)
        if widths is not None:
            return Layout(shown, widths, _GAP, equal, dropped)
        candidate = _choose_column(shown, keep, drop_first)
        if candidate is None:
            break
        shown.remove(candidate)
        (equal if candidate.is_equal else dropped).append(candidate)
    narrow = [column.word_width for column in shown]
    widths = _fit(shown, _NARROW_GAP, width, 0) or narrow
    return Layout(shown, widths, _NARROW_GAP, equal, dropped)


def format_lines(layout: Layout, rule: str = "─") -> tuple[list[str], list[list[str]]]:
    """Format the head of a table, with the rule below it, and the lines of each row."""
    heading = _format_cells([column.heading for column in layout.columns], layout, -1)
    total = sum(layout.widths) + layout.gap * (len(layout.widths) - 1) + _MARGIN
    count = len(layout.columns[0].cells) if layout.columns else 0
    rows = [
        _format_cells([column.cells[row] for column in layout.columns], layout, 0)
        for row in range(count)
    ]
    return [*heading, " " + rule * total], rows


def describe_omissions(layout: Layout) -> list[str]:
    """Say in lines which columns are equal in all rows, and which are left out."""
    lines = []
    equal = (f"{each.name} {each.cells[0]}".strip() for each in layout.equal)
    if facts := "; ".join(filter(None, equal)):
        lines.append(f"equal in all rows: {facts}")
    if names := "; ".join(each.name for each in layout.dropped if each.name):
        lines.append(f"not shown: {names} (--json or a wider terminal has them)")
    return lines


def _fit(
    columns: Sequence[Column], gap: int, width: int | None, min_text_width: int
) -> list[int] | None:
    """Return widths of columns whose sum fits; None if they cannot fit."""
    widths = [column.natural_width for column in columns]
    if width is None:
        return widths
    excess = sum(widths) + gap * (len(widths) - 1) + _MARGIN + 1 - width
    least = [
        min(natural, max(column.word_width, min_text_width if column.is_text else 0))
        for column, natural in zip(columns, widths, strict=True)
    ]
    while excess > 0:
        spare = [have - need for have, need in zip(widths, least, strict=True)]
        if max(spare, default=0) <= 0:
            return None
        # Shorten the widest of the columns that can be shortened.
        widest = max((w, i) for i, w in enumerate(widths) if spare[i] > 0)[1]
        widths[widest] -= 1
        excess -= 1
    return widths


def _choose_column(
    columns: Sequence[Column], keep: Collection[str], drop_first: Sequence[str]
) -> Column | None:
    """Choose the column to leave out next; None if all must stay."""
    order = {name: index for index, name in enumerate(drop_first)}
    candidates = [
        (not column.is_equal, order.get(column.heading, len(order)), -position)
        for position, column in enumerate(columns)
        if column.heading not in keep
    ]
    return columns[-min(candidates)[2]] if candidates else None


def _format_cells(cells: Sequence[str], layout: Layout, where: int) -> list[str]:
    """Wrap and align one row; `where` is -1 to align its lines at the bottom."""
    parts = [
        _wrap(cell, width, column.is_text or where < 0)
        for cell, width, column in zip(
            cells, layout.widths, layout.columns, strict=True
        )
    ]
    height = max(map(len, parts))
    padded = [
        [""] * (height - len(lines)) + lines
        if where < 0
        else lines + [""] * (height - len(lines))
        for lines in parts
    ]
    aligned = [
        [line.ljust(width) if column.is_text else line.rjust(width) for line in lines]
        for lines, width, column in zip(
            padded, layout.widths, layout.columns, strict=True
        )
    ]
    between = " " * layout.gap
    return [
        " " * _MARGIN + between.join(line).rstrip()
        if any(each.strip() for each in line)
        else ""
        for line in zip(*aligned, strict=True)
    ]


def _wrap(text: str, width: int, can_wrap: bool) -> list[str]:
    lines = text.split("\n")
    if not can_wrap or max(map(len, lines)) <= width:
        return lines
    return wrap_words(" ".join(lines), width)


def wrap_words(text: str, width: int, indent: str = "") -> list[str]:
    """Wrap a text at spaces; continue lines with `indent`.

    Words are not broken, and numbers are not separated from their units.
    """
    lines = textwrap.wrap(
        _BEFORE_UNIT.sub("\N{NO-BREAK SPACE}", text),
        max(width, 1),
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace("\N{NO-BREAK SPACE}", " ") for line in lines] or [""]
