# SPDX-License-Identifier: BSD-3-Clause
"""Reads XML as trees with line numbers; rejects entities and large documents.

A DOCTYPE with only a file name, such as ``hwloc2.dtd``, is ignored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NoReturn
from xml.etree.ElementTree import ParseError

from topoloom._core import Error
from topoloom.support.plain_text import is_number

_MAX_ELEMENTS = 4_000_000
_MAX_DEPTH = 200
_NO_ATTRIBUTES: Mapping[str, str] = MappingProxyType({})


@dataclass(slots=True)
class Element:
    """An element with its attributes and first line."""

    tag: str
    attributes: Mapping[str, str]
    line: int
    children: Sequence[Element] = ()

    def walk(self) -> Iterator[Element]:
        """Yield the element and its descendants in document order."""
        waiting = [self]
        while waiting:
            element = waiting.pop()
            yield element
            waiting += reversed(element.children)

    def fail(self, what: str) -> NoReturn:
        """Raise `topoloom.Error` with the line of the element."""
        raise Error(f"line {self.line}: {what}")

    def require(self, name: str) -> str:
        """Return a required attribute."""
        if name not in self.attributes:
            self.fail(f"<{self.tag}> lacks its '{name}'")
        return self.attributes[name]

    def number(self, name: str, default: int | None = None) -> int:
        """Get an attribute as an integer from 0 to 2^31 - 1."""
        text = self.require(name) if default is None else self.attributes.get(name)
        if text is None and default is not None:
            return default
        word = (text or "").strip()
        if not is_number(word) or len(word) > 10:
            self.fail(f'{name}="{word[:40]}" is not an integer')
        if int(word) >= 2**31:
            self.fail(f'{name}="{word}" is too large')
        return int(word)


def read_xml(text: str) -> Element:
    """Parse an XML document.

    Raises `topoloom.Error` with the line if the XML is invalid, too large or too deep,
    or has entities.
    """
    try:
        from defusedxml.common import DefusedXmlException
        from defusedxml.ElementTree import DefusedXMLParser
    except ModuleNotFoundError:
        raise Error(
            "reading XML requires defusedxml: pip install 'topoloom[cli]'"
        ) from None
    builder = _TreeBuilder()
    parser = DefusedXMLParser(target=builder)
    builder.line = lambda: int(parser.parser.CurrentLineNumber)
    parser.parser.StartDoctypeDeclHandler = builder.doctype
    try:
        parser.feed(text)
        parser.close()
    except ParseError as error:
        what = str(error).partition(": line ")[0]
        raise Error(f"line {error.position[0]}: not XML: {what}") from None
    except Error:
        raise
    except (DefusedXmlException, ValueError):
        line = builder.line()
        raise Error(
            f"line {line}: entities and control characters are not supported"
        ) from None
    if builder.root is None:
        raise Error("line 1: the document is empty")
    return builder.root


class _TreeBuilder:
    """Builds the tree in callbacks of the XML parser."""

    def __init__(self) -> None:
        self.root: Element | None = None
        self.line: Callable[[], int] = lambda: 1
        self._open: list[Element] = []
        self._count = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        # Files can have millions of empty elements: they share what is empty.
        element = Element(tag, attributes or _NO_ATTRIBUTES, self.line())
        self._count += 1
        if self._count > _MAX_ELEMENTS:
            element.fail(f"more than {_MAX_ELEMENTS} elements")
        if len(self._open) >= _MAX_DEPTH:
            element.fail(f"elements are nested more than {_MAX_DEPTH} deep")
        if self._open:
            parent = self._open[-1]
            if isinstance(parent.children, list):
                parent.children.append(element)
            else:
                parent.children = [element]
        else:
            self.root = element
        self._open.append(element)

    def doctype(self, name: str, system: str, _public: str, inside: bool) -> None:
        """Raise for declarations in a DOCTYPE before the parser expands them."""
        if inside:
            raise Error(
                f"line {self.line()}: the DOCTYPE declares entities or tags, which "
                "is not supported; remove the part in brackets"
            )

    def end(self, tag: str) -> None:
        self._open.pop()

    def data(self, text: str) -> None:
        """Ignore text between tags, because no format uses it."""

    def close(self) -> None:
        """Do nothing; the parser requires this method."""
