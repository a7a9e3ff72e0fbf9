# SPDX-License-Identifier: BSD-3-Clause
"""Errors of the Python interface do not mention command-line options."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "python" / "topoloom"

#: Modules of the Python interface, except modules that start programs.
FOLDERS = (
    "allocations",
    "figure",
    "graphs",
    "machines",
    "model",
    "nodes",
    "placements",
    "report",
    "schedules",
    "simulate",
    "support",
    "tasks",
)
#: Messages of `run` and `verify`, which are used only from the command line.
COMMAND_LINES = {
    "launch_slots.py",
    "placed_run.py",
    "reordered_run.py",
    "verified_run.py",
}
OPTION = re.compile(r"(?:^|[\s('])--[a-z]")


def list_string_constants(raised: ast.Raise) -> Iterator[str]:
    for node in ast.walk(raised):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def test_errors_of_the_package_mention_no_option() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}: {text}"
        for folder in FOLDERS
        for path in sorted((PACKAGE / folder).rglob("*.py"))
        if path.name not in COMMAND_LINES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Raise)
        for text in list_string_constants(node)
        if OPTION.search(text) and "pip install" not in text
    ]
    assert not found


def test_errors_of_the_core_mention_no_option() -> None:
    files = [*(ROOT / "core").rglob("*.cpp"), *(ROOT / "bindings").rglob("*.cpp")]
    found = [
        f"{path.relative_to(ROOT)}: {text}"
        for path in files
        for text in re.findall(r'"((?:[^"\\\n]|\\.)*)"', path.read_text())
        if OPTION.search(text) and "pip install" not in text
    ]
    assert not found
