# SPDX-License-Identifier: BSD-3-Clause
"""Checks text for non-ASCII characters that look like ASCII, and shortens text."""

from __future__ import annotations

import unicodedata

from topoloom._core import Error


def is_number(text: str) -> bool:
    """Return whether a text consists of ASCII digits only."""
    return text.isascii() and text.isdigit()


def check_characters(what: str, text: str) -> None:
    """Raise `topoloom.Error` if a character looks like ASCII, such as a wide digit."""
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
    """Truncate a text to `most` characters, with dots at the end."""
    return text if len(text) <= most else text[: most - 3] + "..."
