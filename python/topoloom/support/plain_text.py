# SPDX-License-Identifier: BSD-3-Clause
"""Digits and letters that look like those of ASCII, and are others."""

from __future__ import annotations

import unicodedata

from topoloom._core import Error


def is_number(text: str) -> bool:
    """Say whether all letters are the digits 0 to 9, and there is one."""
    return text.isascii() and text.isdigit()


def refuse_odd_letters(what: str, text: str) -> None:
    """Refuse a text with letters such as a superscript two, which nothing reads."""
    for column, letter in enumerate(text, start=1):
        plain = unicodedata.normalize("NFKC", letter)
        if letter.isdigit():
            plain = str(unicodedata.digit(letter))
        if letter.isascii() or not plain.isascii():
            continue
        name = unicodedata.name(letter, "no letter").lower()
        instead = f"; write {plain!r}" if plain.strip() else ""
        raise Error(f"{what} has '{letter}' ({name}) at column {column}{instead}")
