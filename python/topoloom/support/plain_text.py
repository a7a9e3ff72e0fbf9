# SPDX-License-Identifier: BSD-3-Clause
"""Texts for messages: checked letters, and limited length."""

from __future__ import annotations

import unicodedata

from topoloom._core import Error


def is_number(text: str) -> bool:
    """Whether a text is one or more ASCII digits."""
    return text.isascii() and text.isdigit()


def refuse_odd_letters(what: str, text: str) -> None:
    """Refuse look-alikes of ASCII characters, such as a superscript two."""
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
