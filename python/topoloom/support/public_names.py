# SPDX-License-Identifier: BSD-3-Clause
"""Lazy loading of a package's public names, which its stub file lists.

The ``__init__.pyi`` next to a package's ``__init__.py`` is the only list of its public
names. Type checkers read the stub; so does this module when a name is first used.
"""

from __future__ import annotations

import importlib
import sys
from functools import cache

TYPE_CHECKING = False  # `import typing` is slow.
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

ROOT = __name__.partition(".")[0]


def make_lazy_attributes(
    package: str,
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Make the functions ``__getattr__`` and ``__dir__`` of a package."""

    def load(name: str) -> Any:
        if name == "__all__":
            return sorted(find_defining_modules(package))
        home = find_defining_modules(package).get(name)
        if home is None:
            raise AttributeError(_describe_unknown_name(package, name), name=name)
        if home == package:
            return importlib.import_module(f"{package}.{name}")
        value = getattr(importlib.import_module(home), name)
        if hasattr(value, "__nb_signature__"):
            from topoloom.support.call_errors import add_call_errors

            value = add_call_errors(value, package)
        elif type(value).__name__ == "function":
            from topoloom.support.argument_types import add_type_checks

            value = add_type_checks(value, package)
        setattr(sys.modules[package], name, value)
        return value

    def list_names() -> list[str]:
        own = {name for name in vars(sys.modules[package]) if name[:2] == "__"}
        return sorted(own | find_defining_modules(package).keys())

    return load, list_names


@cache
def find_defining_modules(package: str) -> dict[str, str]:
    """Map the public names of a package to the modules that define them.

    A public module maps to the package itself.
    """
    import ast  # slow to import, and needed only here
    from pathlib import Path

    file = sys.modules[ROOT].__file__
    assert file is not None
    stub = Path(file).parent.joinpath(*package.split(".")[1:], "__init__.pyi")
    return {
        alias.name: node.module
        for node in ast.parse(stub.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ImportFrom) and node.module is not None
        for alias in node.names
    }


def list_public_packages() -> list[str]:
    """List topoloom and its public packages."""
    below = [
        f"{ROOT}.{name}"
        for name, home in find_defining_modules(ROOT).items()
        if home == ROOT
    ]
    return [ROOT, *sorted(below)]


def _describe_unknown_name(package: str, name: str) -> str:
    text = f"module '{package}' has no attribute '{name}'"
    if name.startswith("_"):
        return text
    for other in list_public_packages():
        if name in find_defining_modules(other):
            return f"{text}; it is {other}.{name}"
    return text
