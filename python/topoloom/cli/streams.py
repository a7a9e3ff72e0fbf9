# SPDX-License-Identifier: BSD-3-Clause
"""What stdout and stderr can show: characters, escape codes, width.

All text is escaped here. Escape codes of the command itself use `get_code_stream`.
"""

from __future__ import annotations

import codecs
import io
import os
import re
import shutil
import sys
from pathlib import Path
from typing import IO, Any

#: Name of the codec error handler that replaces characters by ASCII.
ASCII_FALLBACK = "topoloom.ascii"
#: Width below which help is laid out for narrow terminals; click's minimum.
NARROW = 52

#: Characters with which a text could control a terminal or reorder what it shows:
#: C0 except newline and tab, DEL, C1, line separators, and directions of writing.
_CONTROLS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]"
)

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
    """Make stdout and stderr replace what they cannot show: see `EscapingStream`.

    Characters that their encoding lacks are replaced by ASCII. If the parent process
    closed a stream, discard what is written to it.
    """
    codecs.register_error(ASCII_FALLBACK, _replace_by_ascii)
    sys.stdout = _configure_stream(sys.stdout)
    sys.stderr = _configure_stream(sys.stderr)


def _configure_stream(stream: IO[str] | None) -> Any:
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors=ASCII_FALLBACK)
    return EscapingStream(_open_null() if stream is None else stream)


class EscapingStream:
    """A text stream that spells control characters, as in ``\\u001b``.

    Texts can come from files, names and the environment of other people. The spelling
    is also that of JSON. On terminals, bytes that are not UTF-8 are spelled, too.
    """

    def __init__(self, stream: IO[str]) -> None:
        #: The stream for the command's own escape codes.
        self.stream = stream

    def __getattr__(self, name: str) -> Any:
        """Return everything but `write` from the stream."""
        return getattr(self.stream, name)

    def write(self, text: str) -> int:
        """Write the text with spelled control characters."""
        if is_terminal(self.stream):
            text = spell_bytes(text)
        return self.stream.write(spell_controls(text))


def get_code_stream(stream: IO[str]) -> IO[str]:
    """Return the stream to write escape codes to; escape all texts for it."""
    return stream.stream if isinstance(stream, EscapingStream) else stream


def spell_controls(text: str) -> str:
    """Return the text with control characters but newlines and tabs as ``\\u001b``."""
    return _CONTROLS.sub(_spell_control, text)


def spell_line(text: str) -> str:
    """Return the text of one line: newlines and tabs are spelled, too."""
    return spell_controls(text).replace("\n", "\\n").replace("\t", "\\t")


def _spell_control(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"


def _open_null() -> IO[str]:
    return Path(os.devnull).open("w", encoding="utf-8")


def to_encodable(text: str, stream: IO[str] | None) -> str:
    """Return the text as the stream will show it, for example to measure its width."""
    if text.isascii() or stream is None:
        return text
    encoding = getattr(stream, "encoding", None) or "utf-8"
    codecs.register_error(ASCII_FALLBACK, _replace_by_ascii)
    return text.encode(encoding, ASCII_FALLBACK).decode(encoding, "surrogateescape")


def is_decoded(text: str) -> bool:
    """Return whether a word of the command line has no bytes Python did not decode."""
    return text.isascii() or not any("\udc80" <= sign <= "\udcff" for sign in text)


def spell_bytes(text: str) -> str:
    """Return the text with bytes that are not UTF-8 spelled as ``\\xff``."""
    return re.sub("[\udc80-\udcff]+", _spell_bytes, text)


def _spell_bytes(found: re.Match[str]) -> str:
    data = found[0].encode(errors="surrogateescape")
    spelled = data.decode(errors="backslashreplace")
    return found[0] if spelled.encode() == data else spelled


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
