# SPDX-License-Identifier: BSD-3-Clause
"""JSON whose errors name a line."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from topoloom._core import Error


class JsonDocument:
    """A JSON document whose errors name the line."""

    def __init__(self, text: str) -> None:
        self._text = text
        try:
            self.value: Any = json.loads(text)
        except json.JSONDecodeError as error:
            raise Error(f"line {error.lineno}: not JSON: {error.msg}") from None
        except RecursionError:
            raise Error("line 1: not JSON that can be read: nested too deep") from None
        except ValueError as error:  # such as a number of 5,000 digits
            raise Error(f"line 1: not JSON that can be read: {error}") from None

    def fail(self, near: str, what: str) -> NoReturn:
        """Raise `topoloom.Error` with the line of the text `near`."""
        at = max(0, self._text.find(near))
        line = 1 + self._text.count("\n", 0, at)
        raise Error(f"line {line}: {what}")
