# SPDX-License-Identifier: BSD-3-Clause
"""Package files import only modules that their module's README.md permits."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from permissions import (
    find_cycles,
    find_permitted_cycles,
    is_permitted,
    read_permissions,
)

PACKAGE = Path(__file__).resolve().parents[2] / "python" / "topoloom"
FILES = sorted(PACKAGE.rglob("*.py"))


def module_name(path: Path) -> str:
    """Return the module name of a file, relative to the package."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts).removesuffix(".__init__").removesuffix("__init__")


MODULES = {module_name(path): path for path in FILES}

#: Functions that import a module whose name is their argument.
IMPORTERS = ("import_module", "__import__")
#: The module that loads the commands. It may form cycles with files of its folder.
DISPATCHER = "cli.app"


def list_imports(name: str, path: Path) -> set[str]:
    """Return the package's modules that a file imports, including late imports.

    The package itself is "".
    """
    tree = ast.parse(path.read_text())
    return list_statement_imports(tree, path) | list_call_imports(tree, name)


def list_lazy_imports(path: Path) -> set[str]:
    """Return the modules that a package loads on first use of a public name."""
    stub = path.with_suffix(".pyi")
    if path.name != "__init__.py" or not stub.exists():
        return set()
    return list_statement_imports(ast.parse(stub.read_text()), stub)


def list_statement_imports(tree: ast.Module, path: Path) -> set[str]:
    """Return the modules that a file imports, including imports in functions."""
    known = {f"topoloom.{name}" for name in (*MODULES, "_core")}
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            base = node.module or ""
            full = [f"{base}.{alias.name}" for alias in node.names]
            names.update(name if name in known else base for name in full)
    own = [name.partition(".") for name in names]
    return {rest for top, _, rest in own if top == "topoloom" and rest != "_core"}


def list_call_imports(tree: ast.Module, name: str) -> set[str]:
    """Return the modules that a file can import with `import_module`.

    A computed part of a module name matches every string of the file. A completely
    computed name matches every module below the packages that the file mentions.
    """
    texts = {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and get_called_name(node) in IMPORTERS:
            module = node.args[0]
            if isinstance(module, ast.JoinedStr):
                found |= {substitute_fields(module, name, text) for text in texts}
            elif isinstance(module, ast.Constant):
                found.add(str(module.value))
            else:
                packages = [text for text in texts if text.startswith("topoloom.")]
                found |= {
                    f"topoloom.{other}"
                    for other in MODULES
                    for package in packages
                    if f"topoloom.{other}.".startswith(f"{package}.")
                }
    return {other for other in MODULES if f"topoloom.{other}" in found}


def get_called_name(call: ast.Call) -> str:
    """Return the name of the called function, without its module."""
    return ast.unparse(call.func).rpartition(".")[2]


def substitute_fields(module: ast.JoinedStr, name: str, text: str) -> str:
    """Substitute a text for fields of an f-string, but the module for `__name__`."""
    parts = []
    for part in module.values:
        if isinstance(part, ast.Constant):
            parts.append(str(part.value))
        else:
            own = ast.unparse(part.value) == "__name__"  # type: ignore[attr-defined]
            parts.append(f"topoloom.{name}" if own else text)
    return "".join(parts)


def folder_of(name: str) -> str:
    return str(MODULES[name].parent.relative_to(PACKAGE))


def test_files_import_only_what_their_module_permits() -> None:
    """Public names are for users; package files import from the defining modules."""
    permissions = read_permissions(PACKAGE, (".py",))
    wrong = []
    for name, path in MODULES.items():
        folder = folder_of(name)
        if name == DISPATCHER:
            continue
        for other in sorted(list_imports(name, path)):
            if folder != "." and not (
                other and is_permitted(folder, permissions[folder], folder_of(other))
            ):
                wrong.append(f"{name} imports {other or 'topoloom'}")
    assert not wrong


def test_permissions_have_no_cycles() -> None:
    permissions = read_permissions(PACKAGE, (".py",))
    assert not set().union(*permissions.values()) - permissions.keys()
    assert not find_permitted_cycles(permissions)


def test_imports_have_no_cycles() -> None:
    edges = {
        name: (list_imports(name, path) | list_lazy_imports(path)) - {name}
        for name, path in MODULES.items()
    }
    assert not find_cycles(edges)


def test_late_imports_are_found() -> None:
    source = (
        "from importlib import import_module\n"
        'TABLE = ("simgrid", "none.such")\n'
        'import_module("topoloom.report.notebook")\n'
        "def load(name): return import_module(f'{__name__}.{name}')\n"
        "def use():\n    from topoloom.support import units\n"
    )
    tree = ast.parse(source)
    late = list_call_imports(tree, "simulate")
    assert late == {"report.notebook", "simulate.simgrid"}
    assert list_statement_imports(tree, PACKAGE) == {"support.units"}


#: Patterns of code that parses machine texts outside the core.
MACHINE_TEXT_PARSER = re.compile(
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
        if MACHINE_TEXT_PARSER.search(line)
    ]
    assert not wrong
