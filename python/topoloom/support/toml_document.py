# SPDX-License-Identifier: BSD-3-Clause
"""Reads and writes TOML files with a format name and version."""

from __future__ import annotations

import importlib
import json
import re
import sys
from pathlib import Path
from typing import Any

from topoloom._core import Error
from topoloom.support.files import MAX_BYTES, read_text
from topoloom.support.plain_text import is_number

#: The memory of the parser grows with the square of a key's parts.
_MAX_KEY_PARTS = 8
_KEY_PART = r"""(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*"""
_LONG_KEY = re.compile(
    r"(?:^|[{,])[ \t]*(?:\[{1,2}[ \t]*)?"
    rf"(?:{_KEY_PART}\.[ \t]*){{{_MAX_KEY_PARTS}}}",
    re.MULTILINE,
)
#: Keys of every document.
HEADER_KEYS = ("format", "version")


def read_toml(path: str | Path) -> dict[str, Any]:
    """Read a document of any format; error messages contain the file and line."""
    text = read_text(path, limit=MAX_BYTES)
    if not text.strip():
        raise Error(f"{path}: the file is empty")
    if found := _LONG_KEY.search(text):
        number = text.count("\n", 0, found.end()) + 1
        raise Error(f"{path}:{number}: a key has more than {_MAX_KEY_PARTS} parts")
    try:
        tomllib = importlib.import_module(
            "tomllib" if sys.version_info >= (3, 11) else "tomli"
        )
    except ModuleNotFoundError:
        raise Error(
            f"{path}: reading TOML on Python 3.10 requires tomli; "
            "install it with: pip install tomli"
        ) from None
    try:
        document: dict[str, Any] = tomllib.loads(text)
        return document
    except tomllib.TOMLDecodeError as error:
        what, _, where = str(error).partition(" (at line ")
        line = where.partition(",")[0]
        place = f"{path}:{line}" if is_number(line) else str(path)
        raise Error(f"{place}: not TOML: {what}") from None
    except (
        ValueError
    ):  # Python limits the digits of integers; other ValueErrors are decoding errors
        raise Error(f"{path}: unsupported TOML: a number is too long") from None
    except RecursionError:
        raise Error(f"{path}: unsupported TOML: nested too deeply") from None


def check_header(document: dict[str, Any], name: str, version: int) -> None:
    """Raise `topoloom.Error` if a document has another format or version."""
    if document.get("format") != name:
        raise Error(f'format is {document.get("format")!r}, expected "{name}"')
    if document.get("version") != version:
        raise Error(
            f"{name} version {document.get('version')}, "
            f"but this Topoloom reads version {version}"
        )


def format_toml(value: Any) -> str:
    """Format a value as TOML; a list of tables takes one line per table."""
    if isinstance(value, dict):
        inner = ", ".join(
            f"{_format_key(k)} = {format_toml(v)}" for k, v in value.items()
        )
        return f"{{ {inner} }}"
    if isinstance(value, list):
        if value and isinstance(value[0], dict):
            return (
                "[\n" + "".join(f"    {format_toml(item)},\n" for item in value) + "]"
            )
        return "[" + ", ".join(format_toml(item) for item in value) + "]"
    # Strings, numbers and booleans are the same in JSON.
    return json.dumps(value)


def _format_key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_]+", key) else json.dumps(key)
