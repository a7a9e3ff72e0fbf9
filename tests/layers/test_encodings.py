# SPDX-License-Identifier: BSD-3-Clause
"""No text is read or written in the encoding of the locale."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "python" / "topoloom"

#: Objects whose `open` returns no text stream, or whose `write_text` writes no file.
NO_FILES = {"os", "archive", "builder", "webbrowser", "super()"}


def find_locale_dependent_calls(tree: ast.AST) -> Iterator[ast.Call]:
    """Find calls that open text files, or read text from programs, without encoding."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        keywords = {each.arg for each in node.keywords}
        if "encoding" in keywords:
            continue
        if any(each.arg == "text" and is_true(each.value) for each in node.keywords):
            yield node
        elif isinstance(node.func, ast.Attribute):
            if ast.unparse(node.func.value) in NO_FILES:
                continue
            if node.func.attr in ("read_text", "write_text"):
                yield node
            elif node.func.attr == "open":
                mode = node.args[0] if node.args else ast.Constant("r")
                if isinstance(mode, ast.Constant) and "b" not in str(mode.value):
                    yield node


def is_true(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is True


def test_files_are_read_and_written_as_utf_8() -> None:
    found = [
        f"{path.relative_to(PACKAGE)}:{call.lineno}"
        for path in PACKAGE.rglob("*.py")
        for call in find_locale_dependent_calls(ast.parse(path.read_bytes()))
    ]
    assert found == []
