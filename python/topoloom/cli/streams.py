# SPDX-License-Identifier: BSD-3-Clause
"""What stdout and stderr can show: characters, escape codes, width."""

from __future__ import annotations

import codecs
import io
import os
import re
import shutil
import sys
from typing import IO

#: Name of the codec error handler that replaces characters by ASCII.
ASCII_FALLBACK = "topoloom.ascii"
#: Width below which help is laid out for narrow terminals; click's minimum.
NARROW = 52

_REPLACEMENTS = {
    "→": "->",
    "←": "<-",
    "◄": "<-",
    "▲": "^",
    "\N{MULTIPLICATION SIGN}": "x",
    "±": "+-",
    "µ": "u",
    "μ": "u",
    "…": "...",
    "≤": "<=",
    "≥": ">=",
    "·": ".",
    "└": "`",
    "├": "|",
    "│": "|",
    "─": "-",
    "━": "-",
    "\N{EN DASH}": "-",
    "—": "-",
    "\N{LEFT SINGLE QUOTATION MARK}": "'",
    "\N{RIGHT SINGLE QUOTATION MARK}": "'",
    "“": '"',
    "”": '"',
}


def configure_streams() -> None:
    """Make stdout and stderr replace characters that their encoding lacks."""
    codecs.register_error(ASCII_FALLBACK, _replace_by_ascii)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=ASCII_FALLBACK)


def to_encodable(text: str, stream: IO[str] | None) -> str:
    """Return the text as the stream will show it, for example to measure its width."""
    if text.isascii() or stream is None:
        return text
    encoding = getattr(stream, "encoding", None) or "utf-8"
    codecs.register_error(ASCII_FALLBACK, _replace_by_ascii)
    return text.encode(encoding, ASCII_FALLBACK).decode(encoding, "surrogateescape")


def is_terminal(stream: IO[str] | None) -> bool:
    """Return whether a stream is a terminal; False for None, which means closed."""
    return stream is not None and stream.isatty()


def has_escape_codes(stream: IO[str] | None) -> bool:
    """Return whether a stream takes escape codes: for colors, and to redraw a bar."""
    return (
        is_terminal(stream)
        and not os.environ.get("NO_COLOR")
        and os.environ.get("TERM", "dumb") not in ("", "dumb", "unknown")
    )


def find_width(stream: IO[str] | None) -> int | None:
    """Return COLUMNS or the width of a terminal; None if neither is known."""
    columns = os.environ.get("COLUMNS", "")
    if re.fullmatch("0*[1-9][0-9]{,4}", columns):
        return int(columns)
    if not is_terminal(stream):
        return None
    assert stream is not None
    try:
        return os.get_terminal_size(stream.fileno()).columns or None
    except (OSError, ValueError):
        return None


def find_help_width() -> int | None:
    """Return the width for help on narrow terminals; else None, click's default."""
    width = shutil.get_terminal_size().columns
    return width if width < NARROW else None


def _replace_by_ascii(error: UnicodeError) -> tuple[str | bytes, int]:
    """Handle encoding errors: give bytes of file names back, and spell the rest."""
    import unicodedata

    if not isinstance(error, UnicodeEncodeError):
        raise error
    character = error.object[error.start]
    if 0xDC80 <= ord(character) <= 0xDCFF:  # a byte of a file name or an argument
        return bytes([ord(character) - 0xDC00]), error.start + 1
    spelled = _REPLACEMENTS.get(character)
    if spelled is None:
        plain = unicodedata.normalize("NFKD", character)
        spelled = "".join(each for each in plain if each.isascii())
    return spelled or f"\\u{ord(character):04x}", error.start + 1
