# SPDX-License-Identifier: BSD-3-Clause
"""Public names of a package, loaded on first use, from the imports of its stub.

The ``__init__.pyi`` beside a package's ``__init__.py`` is the one list of what it
offers: type checkers read it as it stands, and Python when a name is first asked for.
"""

from __future__ import annotations

import importlib
import sys
from functools import cache

TYPE_CHECKING = False  # typing takes as long to import as all of this
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

ROOT = __name__.partition(".")[0]


def attach(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Make ``__getattr__`` and ``__dir__`` for the package of this name."""

    def load(name: str) -> Any:
        if name == "__all__":
            return sorted(homes(package))
        home = homes(package).get(name)
        if home is None:
            raise AttributeError(_unknown(package, name), name=name)
        if home == package:
            return importlib.import_module(f"{package}.{name}")
        value = getattr(importlib.import_module(home), name)
        if hasattr(value, "__nb_signature__"):
            from topoloom.support.call_errors import explained

            value = explained(value, package)
        elif type(value).__name__ == "function":
            from topoloom.support.argument_types import checked

            value = checked(value, package)
        setattr(sys.modules[package], name, value)
        return value

    def listed() -> list[str]:
        own = {name for name in vars(sys.modules[package]) if name[:2] == "__"}
        return sorted(own | homes(package).keys())

    return load, listed


@cache
def homes(package: str) -> dict[str, str]:
    """Map the public names of a package to the modules that define them.

    A module that is public itself has the package for its home.
    """
    import ast  # not needed, and not free, where nothing is asked for
    from pathlib import Path

    file = sys.modules[ROOT].__file__
    assert file is not None
    stub = Path(file).parent.joinpath(*package.split(".")[1:], "__init__.pyi")
    return {
        alias.name: node.module
        for node in ast.parse(stub.read_text()).body
        if isinstance(node, ast.ImportFrom) and node.module is not None
        for alias in node.names
    }


def public_packages() -> list[str]:
    """List the package and those below it that offer names to users."""
    below = [f"{ROOT}.{name}" for name, home in homes(ROOT).items() if home == ROOT]
    return [ROOT, *sorted(below)]


def _unknown(package: str, name: str) -> str:
    text = f"module '{package}' has no attribute '{name}'"
    if name.startswith("_"):
        return text
    for other in public_packages():
        if name in homes(other):
            return f"{text}; it is {other}.{name}"
    return text
