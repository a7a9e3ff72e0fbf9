# SPDX-License-Identifier: BSD-3-Clause
"""XML, tag by tag with line numbers; entities and what a DOCTYPE declares are refused.

A DOCTYPE that only names a file, such as ``hwloc2.dtd``, passes; nothing is fetched.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from topoloom._core import Error

_MOST_DEPTH = 1000


class _Events:
    """What the parser tells tags to."""

    def __init__(self, start: Callable[[int, str, dict[str, str]], None]) -> None:
        self.parser: Any = None
        self.depth = 0
        self._start = start

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        line = self.parser.CurrentLineNumber
        self.depth += 1
        if self.depth > _MOST_DEPTH:
            raise Error(f"line {line}: tags are nested over {_MOST_DEPTH} deep")
        self._start(line, tag, attributes)

    def end(self, tag: str) -> None:
        self.depth -= 1

    def close(self) -> None:
        """Have nothing to give: the tags were told as they came."""


def read_xml(text: str, start: Callable[[int, str, dict[str, str]], None]) -> None:
    """Call ``start(line, tag, attributes)`` for each tag that opens.

    Raises
    ------
    topoloom.Error
        ``line N: ...`` where the text is no XML, or has entities.
    """
    try:
        from defusedxml.common import DefusedXmlException
        from defusedxml.ElementTree import DefusedXMLParser, ParseError
    except ModuleNotFoundError:
        raise Error(
            "reading XML needs defusedxml; install it with: pip install defusedxml"
        ) from None
    events = _Events(start)
    reader = DefusedXMLParser(target=events)
    events.parser = reader.parser

    def doctype(name: str, system: str, public: str, inside: bool) -> None:
        if inside:
            line = events.parser.CurrentLineNumber
            raise Error(
                f"line {line}: the DOCTYPE declares entities or tags of its own, "
                "which is not read; take the part in brackets out"
            )

    events.parser.StartDoctypeDeclHandler = doctype
    try:
        reader.feed(text)
        reader.close()
    except ParseError as error:
        what = str(error).partition(":")[0]
        raise Error(f"line {error.position[0]}: not XML: {what}") from None
    except (DefusedXmlException, UnicodeError):
        line = events.parser.CurrentLineNumber
        raise Error(f"line {line}: entities and odd characters are not read") from None
