# SPDX-License-Identifier: BSD-3-Clause
"""JSON documents with format name and version, and type-checked access to values."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from topoloom._core import Error

_NAMES = {
    bool: "true or false",
    str: "a string",
    int: "an integer",
    list: "a list",
    dict: "an object",
}


def parse_document(text: str, format: str, version: int) -> dict[str, Any]:
    """Parse a JSON object and check its format and version."""
    if not text.strip():
        raise Error("the file is empty")
    try:
        document = json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise Error(f"line {error.lineno}: not JSON: {error.msg}") from None
    except (RecursionError, ValueError) as error:
        if isinstance(error, Error):
            raise
        raise Error(f"not JSON: {error}") from None
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
