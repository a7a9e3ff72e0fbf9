# SPDX-License-Identifier: BSD-3-Clause
"""JSON documents whose errors contain the line number."""

from __future__ import annotations

from typing import Any, NoReturn

from topoloom._core import Error
from topoloom.support.json_values import parse_json


class JsonDocument:
    """A JSON document whose errors contain the line number."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.value: Any = parse_json(text)

    def fail(self, near: str, what: str) -> NoReturn:
        """Raise `topoloom.Error` with the line number of the text `near`."""
        at = max(0, self._text.find(near))
        line = 1 + self._text.count("\n", 0, at)
        raise Error(f"line {line}: {what}")
