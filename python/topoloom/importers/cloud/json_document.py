# SPDX-License-Identifier: BSD-3-Clause
"""JSON documents whose errors contain the line number."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from topoloom._core import Error


class JsonDocument:
    """A JSON document whose errors contain the line number."""

    def __init__(self, text: str) -> None:
        self._text = text
        try:
            self.value: Any = json.loads(text)
        except json.JSONDecodeError as error:
            raise Error(f"line {error.lineno}: not JSON: {error.msg}") from None
        except RecursionError:
            raise Error("line 1: invalid JSON: nested too deep") from None
        except ValueError as error:  # for example a number with 5,000 digits
            raise Error(f"line 1: invalid JSON: {error}") from None

    def fail(self, near: str, what: str) -> NoReturn:
        """Raise `topoloom.Error` with the line number of the text `near`."""
        at = max(0, self._text.find(near))
        line = 1 + self._text.count("\n", 0, at)
        raise Error(f"line {line}: {what}")
