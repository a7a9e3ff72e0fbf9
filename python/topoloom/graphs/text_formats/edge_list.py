# SPDX-License-Identifier: BSD-3-Clause
"""Reads edge lists: a line for each edge with its ends, bytes and messages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from topoloom import _core
from topoloom._core import CommGraph, Error
from topoloom.graphs.text_formats.separators import separate_by_blanks

#: Names of columns in the order in which the core numbers them.
COLUMNS = ("source", "target", "bytes", "messages")
_ALIASES = (
    {"source", "src", "from", "sender", "u"},
    {"target", "dst", "dest", "destination", "to", "receiver", "v"},
    {"bytes", "size", "weight", "volume", "data"},
    {"messages", "msgs", "count", "calls"},
)
_WORD = re.compile(rb"[^\s,;\"]+")
_DIGITS = re.compile(rb"[0-9]+")
_NUMBER = re.compile(
    rb"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|[-+]?(?:nan|inf)"
)
#: Lines that are looked at to recognize an edge list.
_LINES = 64


class Header(NamedTuple):
    """A line that names columns, and their numbers in `COLUMNS`."""

    start: int
    columns: list[int]


def read_edge_list(data: bytes, scale: float | None) -> tuple[CommGraph, int]:
    """Read an edge list; return also how many values `scale` rounded.

    Lines have source, target, bytes, and optionally messages, separated by blanks, tabs
    or commas. A first line, which may be a comment, can name the columns in another
    order. Error messages start with ``line``.
    """
    header = find_header(data)
    text = separate_by_blanks(data, find_first_line(data))
    if header is None:
        return _core.read_edge_list(text, scale)
    # The core skips comments; the other lines keep their numbers.
    text = text[: header.start] + b"#" + text[header.start + 1 :]
    return _core.read_edge_list(text, scale, header.columns)


def iterate_lines(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the start of each line and the line; lists of lines take more memory."""
    start = 0
    while start < len(data):
        end = data.find(b"\n", start) + 1 or len(data)
        yield start, data[start:end]
        start = end


def find_header(data: bytes) -> Header | None:
    """Find the line that names the columns.

    Raises `topoloom.Error` for names that are unknown, missing or repeated.
    """
    for number, (start, line) in enumerate(iterate_lines(data), 1):
        words = [word.decode(errors="replace") for word in _WORD.findall(line)]
        if words and words[0].startswith("#"):
            if names := _find_commented_names(words):
                return Header(start, _number_columns(number, names))
        elif words:
            if all(map(is_number, _WORD.findall(line))):
                return None
            return Header(start, _number_columns(number, words))
    return None


def _find_commented_names(words: list[str]) -> list[str]:
    """Return the words of a comment if they name at least three columns, else []."""
    names = [word for each in words if (word := each.lstrip("#"))]
    known = all(_find_column(name) is not None for name in names)
    return names if known and len(names) >= len(COLUMNS) - 1 else []


def looks_like_edges(data: bytes) -> bool:
    """Return whether the first lines are those of an edge list.

    They have a header or three to four numbers each, of which the first two are
    different ranks and the others are positive.
    """
    first = data[: data.find(b"\n") + 1]
    if first.startswith(b"#"):
        words = [word.decode(errors="replace") for word in _WORD.findall(first)]
        if _find_commented_names(words):
            return True
    rows = _list_rows(data)
    if rows and not all(map(is_number, rows[0])):
        names = [word.decode(errors="replace") for word in rows.pop(0)]
        return any(_find_column(name) is not None for name in names)
    lengths = {len(row) for row in rows}
    return lengths in ({3}, {4}) and all(map(_is_edge, rows))


def is_number(word: bytes) -> bool:
    """Return whether a word is an integer or a real number."""
    return bool(_NUMBER.fullmatch(word))


def is_count(word: bytes) -> bool:
    """Return whether a word consists of digits."""
    return bool(_DIGITS.fullmatch(word))


def _is_edge(row: list[bytes]) -> bool:
    if not (is_count(row[0]) and is_count(row[1]) and int(row[0]) != int(row[1])):
        return False
    return all(is_number(word) and float(word) > 0 for word in row[2:])


def _list_rows(data: bytes) -> list[list[bytes]]:
    """Split the first lines without comments, except the last if it is cut off."""
    head = data[: 1 << 14]
    lines = head.splitlines()
    if len(head) < len(data):
        lines = lines[:-1]
    filled = [line for line in lines if line.strip() and line.strip()[:1] != b"#"]
    return [_WORD.findall(line) for line in filled[:_LINES]]


def find_first_line(data: bytes) -> bytes:
    """Find the first line that is neither empty nor a comment."""
    lines = (line for _, line in iterate_lines(data))
    return next((line for line in lines if line.strip()[:1] not in (b"", b"#")), b"")


def _find_column(name: str) -> int | None:
    lower = name.lower()
    return next((at for at, names in enumerate(_ALIASES) if lower in names), None)


def _number_columns(line: int, names: list[str]) -> list[int]:
    columns = []
    for name in names:
        column = _find_column(name)
        if column is None:
            raise Error(
                f"line {line}: column '{name[:24]}' is none of {', '.join(COLUMNS)}; "
                "remove it"
            )
        if column in columns:
            raise Error(f"line {line}: two columns are {COLUMNS[column]}")
        columns.append(column)
    for column in range(3):
        if column not in columns:
            raise Error(f"line {line}: no column is {COLUMNS[column]}")
    return columns
