# SPDX-License-Identifier: BSD-3-Clause
"""Reads YAML as trees with line numbers; rejects tags and aliases."""

from __future__ import annotations

from dataclasses import dataclass

from topoloom._core import Error
from topoloom.support.plain_text import is_number

_MAX_BYTES = 16 << 20
_MAX_DEPTH = 32
_TRUE, _FALSE = ("true", "yes", "on"), ("false", "no", "off")


@dataclass(frozen=True)
class Value:
    """A string, list or mapping of a YAML file, and its first line."""

    line: int
    content: str | list[Value] | dict[str, Value]

    def find(self, key: str) -> Value | None:
        """Return the value of a key; None if the key is missing."""
        if not isinstance(self.content, dict):
            raise Error(f"line {self.line}: expected keys, such as '{key}: ...'")
        return self.content.get(key)

    def get(self, key: str) -> Value:
        """Look up a required key of a mapping."""
        value = self.find(key)
        if value is None:
            raise Error(f"line {self.line}: the key '{key}' is missing")
        return value

    def items(self, what: str) -> list[Value]:
        """Return the entries of a list; `what` names the entries in errors."""
        if not isinstance(self.content, list):
            raise Error(f"line {self.line}: expected {what}, entries with '- '")
        return self.content

    def text(self) -> str:
        """Return a nonempty string."""
        if not isinstance(self.content, str) or not self.content:
            raise Error(f"line {self.line}: expected a string")
        return self.content

    def integer(self, minimum: int, maximum: int) -> int:
        """Return an integer from `minimum` to `maximum`."""
        text = self.text()
        if not (is_number(text) and len(text) < 19):
            raise Error(f"line {self.line}: '{text[:40]}' is not an integer")
        if not minimum <= int(text) <= maximum:
            raise Error(f"line {self.line}: {text} is not from {minimum} to {maximum}")
        return int(text)

    def boolean(self) -> bool:
        """Return a boolean."""
        text = self.text().lower()
        if text not in _TRUE + _FALSE:
            raise Error(f"line {self.line}: '{text[:40]}' is not true or false")
        return text in _TRUE


def read_yaml(text: str) -> Value:
    """Read one YAML document.

    Scalars stay strings. Aliases, tags, duplicate keys and deep nesting raise
    `topoloom.Error`; a few lines with aliases can expand to gigabytes.

    Raises `topoloom.Error` with the line of the error, or if PyYAML is missing.
    """
    if len(text) > _MAX_BYTES:
        raise Error(f"line 1: over {_MAX_BYTES >> 20} MiB of YAML")
    try:
        import yaml
    except ImportError:
        raise Error(
            "reading YAML requires PyYAML: pip install 'topoloom[cli]'"
        ) from None

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    builder = _TreeBuilder()
    try:
        for event in yaml.parse(text, Loader=loader):
            line = event.start_mark.line + 1 if event.start_mark else 1
            if isinstance(event, yaml.AliasEvent):
                raise Error(
                    f"line {line}: YAML aliases are not supported; repeat the value"
                )
            if isinstance(event, yaml.ScalarEvent):
                builder.add(Value(line, event.value))
            elif isinstance(event, yaml.CollectionStartEvent):
                is_list = isinstance(event, yaml.SequenceStartEvent)
                builder.open(Value(line, [] if is_list else {}))
            elif isinstance(event, yaml.CollectionEndEvent):
                builder.close()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        if "maximum nesting" in (error.problem or ""):  # PyYAML >= 6.0.4
            raise Error(f"line {line}: nested over {_MAX_DEPTH} deep") from None
        raise Error(f"line {line}: not YAML: {error.problem}") from None
    except (yaml.YAMLError, UnicodeError) as error:
        raise Error(f"line 1: not YAML: {str(error).splitlines()[0]}") from None
    if len(builder.documents) != 1:
        found = len(builder.documents)
        raise Error(f"line 1: expected one YAML document, found {found}")
    return builder.documents[0]


class _TreeBuilder:
    """Builds the trees of documents from the parser's events."""

    def __init__(self) -> None:
        self.documents: list[Value] = []
        self._open: list[Value] = []
        self._keys: list[str | None] = []  # next key of each open mapping

    def add(self, value: Value) -> None:
        if not self._open:
            self.documents.append(value)
            return
        content = self._open[-1].content
        if isinstance(content, list):
            content.append(value)
            return
        assert isinstance(content, dict)
        key = self._keys[-1]
        if key is not None:
            content[key] = value
            self._keys[-1] = None
            return
        if value.text() in content:
            raise Error(f"line {value.line}: the key '{value.text()}' appears twice")
        self._keys[-1] = value.text()

    def open(self, value: Value) -> None:
        self.add(value)
        self._open.append(value)
        self._keys.append(None)
        if len(self._open) > _MAX_DEPTH:
            raise Error(f"line {value.line}: nested over {_MAX_DEPTH} deep")

    def close(self) -> None:
        self._open.pop()
        self._keys.pop()
