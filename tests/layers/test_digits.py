# SPDX-License-Identifier: BSD-3-Clause
"""Parsers of numbers accept only ASCII digits."""

from __future__ import annotations

from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "python" / "topoloom"
#: These methods accept all Unicode digits, some of which int() rejects.
LOOSE = (r"\d", ".isdigit()", ".isdecimal()", ".isnumeric()")


def test_no_reader_accepts_digits_beyond_ascii() -> None:
    found = [
        f"{path.relative_to(PACKAGE)}:{number}: {word}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        for word in LOOSE
        if word in line and path.name != "plain_text.py"
    ]
    assert not found, "write [0-9], or use topoloom.support.plain_text.is_number"
