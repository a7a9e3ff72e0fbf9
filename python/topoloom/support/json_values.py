# SPDX-License-Identifier: BSD-3-Clause
"""JSON documents with format name and version, and type-checked access to values."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NoReturn

from topoloom._core import Error

_NAMES = {
    bool: "true or false",
    str: "a string",
    int: "an integer",
    list: "a list",
    dict: "an object",
}


def parse_json(
    text: str | bytes, parse_constant: Callable[[str], Any] | None = None
) -> Any:
    """Parse JSON; raise `topoloom.Error` with the line of an error."""
    try:
        return json.loads(text, parse_constant=parse_constant)
    except json.JSONDecodeError as error:
        found = error.doc[error.pos : error.pos + 1].strip()
        what = f"unexpected '{found}'" if found.isprintable() and found else "cut off"
        where = f"at column {error.colno}"
        raise Error(f"line {error.lineno}: not JSON: {what} {where}") from None
    except UnicodeDecodeError:
        raise Error("line 1: not JSON: not text") from None
    except RecursionError:
        raise Error("line 1: not JSON: nested too deeply") from None
    except ValueError as error:
        if isinstance(error, Error):
            raise
        raise Error("line 1: not JSON: a number is too long") from None


def parse_document(text: str, format: str, version: int) -> dict[str, Any]:
    """Parse a JSON object and check its format and version."""
    if not text.strip():
        raise Error("the file is empty")
    document = parse_json(text, _refuse_constant)
    if not isinstance(document, dict) or "format" not in document:
        raise Error(f'not a {format} file: it has no "format"')
    if document["format"] != format:
        raise Error(f"format is '{document['format']}', expected '{format}'")
    if document.get("version") != version:
        raise Error(
            f"{format} version {document.get('version')}, "
            f"but this Topoloom reads version {version}"
        )
    return document


def get_value(document: dict[str, Any], key: str, kind: type) -> Any:
    """Get a required value; check its type."""
    if key not in document:
        raise Error(f'has no "{key}"')
    value = document[key]
    if not isinstance(value, kind) or isinstance(value, bool) is not (kind is bool):
        raise Error(f'"{key}" must be {_NAMES[kind]}')
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise Error(f"contains {name}, which is not a JSON number")
