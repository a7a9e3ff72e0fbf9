# SPDX-License-Identifier: BSD-3-Clause
"""No two types of the core or its tests share a name in one namespace.

Compilers need not notice that: each file is compiled alone, and the linker keeps one
of two functions that it takes for the same. ``-flto -Wodr`` finds such types in more
than a minute of processor time. Here one compilation meets all headers at once, and
types of sources must be hidden in their file.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
INCLUDED = ("core", "tests/core", "third_party")
SOURCES = ("core", "tests/core", "bindings", "bench/core")

#: What clang-format puts into the first column is in no function and no class.
TYPE = re.compile(r"(?:struct|class|union|enum class|enum) ([\w:]+)")


def visible_types(source: str) -> Iterator[str]:
    """Name the types that a source defines for all of the program."""
    hidden = False
    for line in source.splitlines():
        if line == "namespace {":
            hidden = True
        elif line == "}  // namespace":
            hidden = False
        elif not hidden and (found := TYPE.match(line)) and not line.endswith(";"):
            yield found[1]


def test_headers_define_each_name_once(tmp_path: Path) -> None:
    everything = tmp_path / "everything.cpp"
    headers = [
        header.relative_to(ROOT / folder)
        for folder in INCLUDED[:2]
        for header in sorted((ROOT / folder).rglob("*.hpp"))
    ]
    assert len(headers) > 200
    everything.write_text("".join(f'#include "{header}"\n' for header in headers))
    folders = [f"-I{ROOT / folder}" for folder in INCLUDED]
    compiled = subprocess.run(
        ["c++", "-std=c++20", "-fsyntax-only", *folders, everything],
        capture_output=True,
        text=True,
        check=False,
    )
    assert compiled.returncode == 0, compiled.stderr


def test_types_of_sources_are_hidden_or_declared_in_a_header() -> None:
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
        for name in visible_types(path.read_text())
        if name.rpartition("::")[2] not in declared
    ]
    assert not wrong


def test_a_type_in_the_open_is_found() -> None:
    source = "namespace topoloom {\nnamespace {\nstruct A {\n};\n}  // namespace\n"
    assert list(visible_types(f"{source}class B : C {{\n}};\nstruct D;\n")) == ["B"]
