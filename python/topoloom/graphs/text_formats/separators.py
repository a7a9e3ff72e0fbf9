# SPDX-License-Identifier: BSD-3-Clause
"""Replaces commas, semicolons and quotes of CSV by the blanks that the core reads."""

from __future__ import annotations

import re

from topoloom._core import Error

#: An empty cell: between two separators, or at the begin or end of a line.
_EMPTY_CELLS = {
    separator: re.compile(
        rb"%b[ \t]*(?:%b|\r?$)|^[ \t]*%b" % ((separator,) * 3), re.MULTILINE
    )
    for separator in (b",", b";")
}
BLANKS = bytes.maketrans(b',;"', b"   ")


def find_separator(line: bytes) -> bytes:
    """Return the separator of a line: a semicolon, a comma, or b"" for blanks."""
    return next((each for each in (b";", b",") if each in line), b"")


def separate_by_blanks(data: bytes, line: bytes) -> bytes:
    """Replace the separator that `line` has by blanks, and quotes with it.

    Raises `topoloom.Error` with the line for empty cells, which blanks would hide.
    """
    separator = find_separator(line)
    if not separator:
        return data
    if empty := _EMPTY_CELLS[separator].search(data) or re.search(b'""', data):
        number = data.count(b"\n", 0, empty.start()) + 1
        raise Error(f"line {number}: a cell is empty; write 0")
    if separator == b";" and b"," in data:
        number = data.count(b"\n", 0, data.index(b",")) + 1
        raise Error(
            f"line {number}: commas between semicolons; write fractions with a point"
        )
    return data.translate(BLANKS)
