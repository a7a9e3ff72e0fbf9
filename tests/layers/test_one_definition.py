# SPDX-License-Identifier: BSD-3-Clause
"""Types of the core and its tests have unique qualified names.

Compilers do not detect duplicates, because each file is compiled alone and the linker
silently merges functions with equal names. ``-flto -Wodr`` finds duplicate types, but
takes over a minute of CPU time. This test searches the text of headers for duplicate
types, and requires internal linkage for types in sources. A full run also compiles all
headers in one file.
"""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
INCLUDED = ("core", "tests/core", "third_party")
SOURCES = ("core", "tests/core", "bindings", "bench/core")

#: Only declarations outside functions and classes begin in the first column.
TYPE = re.compile(r"(?:struct|class|union|enum class|enum) ([\w:]+)")
NAMESPACE = re.compile(r"namespace ([\w:]+) \{|\}  // namespace ([\w:]+)")


def find_visible_types(source: str) -> Iterator[str]:
    """List the types that a source defines outside anonymous namespaces."""
    hidden = False
    for line in source.splitlines():
        if line == "namespace {":
            hidden = True
        elif line == "}  // namespace":
            hidden = False
        elif not hidden and (found := TYPE.match(line)) and not line.endswith(";"):
            yield found[1]


def find_defined_types(header: str) -> Iterator[str]:
    """List the qualified names of the types that a header defines."""
    spaces: list[str] = []
    for line in header.splitlines():
        if space := NAMESPACE.match(line):
            spaces = [*spaces, space[1]] if space[1] else spaces[:-1]
        elif (
            (found := TYPE.match(line))
            and not line.endswith(";")
            and not line.startswith("<", found.end())  # a specialization
        ):
            yield "::".join([*spaces, found[1]])


def list_headers() -> list[Path]:
    """List the include paths of all headers."""
    found = [
        header.relative_to(ROOT / folder)
        for folder in INCLUDED[:2]
        for header in sorted((ROOT / folder).rglob("*.hpp"))
    ]
    assert len(found) > 200
    return found


def test_headers_define_each_type_once() -> None:
    defined = Counter(
        name
        for folder in INCLUDED[:2]
        for header in (ROOT / folder).rglob("*.hpp")
        for name in find_defined_types(header.read_text())
    )
    assert len(defined) > 200
    assert [name for name, count in defined.items() if count > 1] == []


def test_a_type_that_two_headers_define_is_found() -> None:
    inside = (
        "namespace topoloom {\nstruct A {\n};\nclass B;\n}  // namespace topoloom\n"
    )
    outside = "namespace topoloom::grid {\nstruct A final {\n};\n"
    assert list(find_defined_types(inside + outside)) == [
        "topoloom::A",
        "topoloom::grid::A",
    ]


@pytest.mark.full
def test_headers_define_each_name_once(tmp_path: Path) -> None:
    everything = tmp_path / "everything.cpp"
    lines = [f'#include "{header}"\n' for header in list_headers()]
    everything.write_text("".join(lines))
    folders = [f"-I{ROOT / folder}" for folder in INCLUDED]
    compiled = subprocess.run(
        ["c++", "-std=c++20", "-fsyntax-only", *folders, everything],
        capture_output=True,
        text=True,
        check=False,
    )
    assert compiled.returncode == 0, compiled.stderr


def test_types_of_sources_have_internal_linkage_or_a_declaration() -> None:
    declared = {
        name
        for suffix in ("*.hpp", "*.h")
        for header in (ROOT / "core").rglob(suffix)
        for name in re.findall(r"(?:struct|class) (\w+)(?: \w+)?;", header.read_text())
    }
    wrong = [
        f"{path.relative_to(ROOT)}: {name} belongs in an anonymous namespace"
        for folder in SOURCES
        for path in sorted((ROOT / folder).rglob("*.cpp"))
        for name in find_visible_types(path.read_text())
        if name.rpartition("::")[2] not in declared
    ]
    assert not wrong


def test_a_type_outside_anonymous_namespaces_is_found() -> None:
    source = "namespace topoloom {\nnamespace {\nstruct A {\n};\n}  // namespace\n"
    assert list(find_visible_types(f"{source}class B : C {{\n}};\nstruct D;\n")) == [
        "B"
    ]
