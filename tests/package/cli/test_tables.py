# SPDX-License-Identifier: BSD-3-Clause
"""Tables leave out columns that say least, and break no word."""

from __future__ import annotations

import io

import pytest

from topoloom.cli.streams import to_encodable
from topoloom.cli.tables import (
    Column,
    describe_omissions,
    format_lines,
    lay_out,
    wrap_words,
)

COLUMNS = [
    Column("name", ["short", "a name of several words"], True),
    Column("cost", ["1.25 us", "2 us"], False),
    Column("same", ["7", "7"], False),
    Column("less", ["1", "2"], False),
    Column("least", ["3", "4"], False),
]
KEEP = {"name", "cost"}


def format_table(width: int | None, drop_first: list[str]) -> list[str]:
    head, rows = format_lines(lay_out(COLUMNS, width, KEEP, drop_first))
    return [*head, *(line for row in rows for line in row)]


@pytest.mark.parametrize(
    ("width", "shown"),
    [
        (None, ["name", "cost", "same", "less", "least"]),
        (80, ["name", "cost", "same", "less", "least"]),
        (54, ["name", "cost", "less", "least"]),
        (46, ["name", "cost", "least"]),
        (38, ["name", "cost"]),
        (22, ["name", "cost"]),
    ],
)
def test_equal_columns_go_first_then_the_least_important(
    width: int | None, shown: list[str]
) -> None:
    lines = format_table(width, ["less"])
    assert lines[0].split() == shown
    assert width is None or max(map(len, lines)) <= width
    words = " ".join(lines).split()
    assert {"several", "1.25"} <= set(words)


def test_omitted_columns_are_named() -> None:
    layout = lay_out(COLUMNS, 46, KEEP, ["less"])
    assert describe_omissions(layout) == [
        "equal in all rows: same 7",
        "not shown: less (--json or a wider terminal has them)",
    ]
    assert describe_omissions(lay_out(COLUMNS, None, KEEP)) == []


def test_a_number_stays_with_its_unit() -> None:
    assert wrap_words("it takes 1.25 us in all", 14) == ["it takes", "1.25 us in all"]
    assert wrap_words("a-b/c.json", 4) == ["a-b/c.json"]


@pytest.mark.parametrize(
    ("text", "ascii_text"),
    [
        ("0 → 1 ± 2 µs", "0 -> 1 +- 2 us"),
        ("2\N{MULTIPLICATION SIGN}2 ◄ best ▲ ─", "2x2 <- best ^ -"),
        ("Schäfer 中", "Schafer \\u4e2d"),
    ],
)
def test_characters_get_readable_replacements(text: str, ascii_text: str) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    assert to_encodable(text, stream) == ascii_text
    utf_8 = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    assert to_encodable(text, utf_8) == text
