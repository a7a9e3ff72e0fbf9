# SPDX-License-Identifier: BSD-3-Clause
"""Checks for characters that look like ASCII digits and letters but are not."""

from __future__ import annotations

import unicodedata

from topoloom._core import Error


def is_number(text: str) -> bool:
    """Return whether a text consists of the digits 0 to 9."""
    return text.isascii() and text.isdigit()


def check_characters(what: str, text: str) -> None:
    """Refuse a text with characters such as a superscript two."""
    for column, letter in enumerate(text, start=1):
        plain = unicodedata.normalize("NFKC", letter)
        if letter.isdigit():
            plain = str(unicodedata.digit(letter))
        if letter.isascii() or not plain.isascii():
            continue
        name = unicodedata.name(letter, "no letter").lower()
        instead = f"; write {plain!r}" if plain.strip() else ""
        raise Error(f"{what} has '{letter}' ({name}) at column {column}{instead}")


def shorten(text: str, most: int = 60) -> str:
    """Cut a text to a length, and mark the cut with dots."""
    return text if len(text) <= most else text[: most - 3] + "..."
