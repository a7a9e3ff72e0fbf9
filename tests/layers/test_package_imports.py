# SPDX-License-Identifier: BSD-3-Clause
"""Files of the package import only what the README.md of their module permits."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from permissions import find_cycles, find_permitted_cycles, permits, read_permissions

PACKAGE = Path(__file__).resolve().parents[2] / "python" / "topoloom"
FILES = sorted(PACKAGE.rglob("*.py"))


def module(path: Path) -> str:
    """Return the name of a file in imports, without that of the package."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts).removesuffix(".__init__").removesuffix("__init__")


MODULES = {module(path): path for path in FILES}


def imported(path: Path) -> Iterator[str]:
    """List the modules of the package that a file imports; "" is the package."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            base = node.module or ""
            full = [f"{base}.{alias.name}" for alias in node.names]
            known = {f"topoloom.{name}" for name in (*MODULES, "_core")}
            names = [name if name in known else base for name in full]
        else:
            continue
        for name in names:
            package, _, rest = name.partition(".")
            if package == "topoloom" and rest != "_core":
                yield rest


def folder_of(name: str) -> str:
    return str(MODULES[name].parent.relative_to(PACKAGE))


def test_files_import_only_what_their_module_permits() -> None:
    """The package is for users: its files import names where they are defined."""
    permissions = read_permissions(PACKAGE, (".py",))
    wrong = []
    for name, path in MODULES.items():
        folder = folder_of(name)
        for other in imported(path):
            if folder != "." and not (
                other and permits(folder, permissions[folder], folder_of(other))
            ):
                wrong.append(f"{name} imports {other or 'topoloom'}")
    assert not wrong


def test_permissions_have_no_cycles() -> None:
    permissions = read_permissions(PACKAGE, (".py",))
    assert not set().union(*permissions.values()) - permissions.keys()
    assert not find_permitted_cycles(permissions)


def test_imports_have_no_cycles() -> None:
    arrows = {name: set(imported(path)) - {name} for name, path in MODULES.items()}
    assert not find_cycles(arrows)


#: Code that would parse the short text of a machine outside the core.
TAKEN_APART = re.compile(
    r"(?:machine|described|network|before|after)\.text"
    r"\.(?:partition|rpartition|split|rsplit|find|index|startswith|removeprefix|replace)"
    r"|in (?:\w+\.)*(?:machine|described|network)\.text\b"
    r"|re\.\w+\(.*(?:machine|described|network)\.text\b"
    r"|(?:partition|split|find)\(\"\+(?:node|down)"
)


def test_machine_text_is_parsed_by_the_core_alone() -> None:
    wrong = [
        f"{path.relative_to(PACKAGE)}:{number}: {line.strip()}"
        for path in FILES
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if TAKEN_APART.search(line)
    ]
    assert not wrong
