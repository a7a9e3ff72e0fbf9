# SPDX-License-Identifier: BSD-3-Clause
"""Checks text for characters that look like ASCII; shortens and splits text."""

from __future__ import annotations

import re
import unicodedata

from topoloom._core import Error


def is_number(text: str) -> bool:
    """Return whether a text consists of ASCII digits only."""
    return text.isascii() and text.isdigit()


def check_characters(name_of_text: str, text: str) -> None:
    """Raise `topoloom.Error` if a character looks like ASCII, such as a wide digit."""
    for column, letter in enumerate(text, start=1):
        plain = unicodedata.normalize("NFKC", letter)
        if letter.isdigit():
            plain = str(unicodedata.digit(letter))
        if letter.isascii() or not plain.isascii():
            continue
        name = unicodedata.name(letter, "no letter").lower()
        instead = f"; write {plain!r}" if plain.strip() else ""
        raise Error(
            f"{name_of_text} has '{letter}' ({name}) at column {column}{instead}"
        )


def shorten(text: str, max_length: int = 60) -> str:
    """Truncate a text to `max_length` characters, with dots at the end."""
    return text if len(text) <= max_length else text[: max_length - 3] + "..."


def cut_quotes(message: str, text: str, max_length: int = 20) -> str:
    """Cut pieces of `text` in a message to `max_length` characters and dots."""
    result, at, window = "", 0, max_length + 1
    while at < len(message):
        if message[at : at + window] not in text or at + window > len(message):
            result, at = result + message[at], at + 1
            continue
        end = at + window
        while end < len(message) and message[end - max_length : end + 1] in text:
            end += 1
        result, at = f"{result}{message[at : at + max_length]}...", end
    return result


def split_at_commas(text: str) -> list[str]:
    """Split text at commas outside parentheses, and strip blanks."""
    return [item.strip() for item in re.split(r",(?![^()]*\))", text)]
