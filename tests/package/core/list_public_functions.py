# SPDX-License-Identifier: BSD-3-Clause
"""List the public functions with the parameters of their signatures."""

from __future__ import annotations

import importlib
import inspect
import re
from typing import Any, NamedTuple

from topoloom.support.public_names import find_defining_modules, list_public_packages


class Parameter(NamedTuple):
    """A parameter of a signature."""

    name: str
    type: str
    has_default: bool
    by_name: bool


class PublicFunction(NamedTuple):
    """A public function or method; for a method, also its class."""

    name: str
    owner: str | None
    call: Any
    parameters: tuple[Parameter, ...]


def list_public_functions() -> list[PublicFunction]:
    """List all public functions.

    Includes compiled functions, methods and constructors, and Python functions.
    """
    found = []
    for package in list_public_packages():
        for name, home in find_defining_modules(package).items():
            value = getattr(importlib.import_module(package), name, None)
            if home == package or name == "Error":
                continue
            if home == "topoloom._core" and isinstance(value, type):
                found += _list_methods(value)
            elif home == "topoloom._core":
                found.append(_make_core_function(name, None, value))
            elif inspect.isfunction(value):
                found.append(_make_python_function(name, value))
    return found


def _make_python_function(name: str, target: Any) -> PublicFunction:
    parameters = tuple(
        Parameter(
            one.name,
            str(one.annotation),
            one.default is not one.empty,
            one.kind is one.KEYWORD_ONLY,
        )
        for one in inspect.signature(target).parameters.values()
    )
    return PublicFunction(name, None, target, parameters)


def _list_methods(owner: type) -> list[PublicFunction]:
    found = []
    for name, value in vars(owner).items():
        signed = hasattr(value, "__nb_signature__")
        if not signed or (name.startswith("_") and name != "__init__"):
            continue
        if name == "__init__":
            found.append(_make_core_function(owner.__name__, None, owner, value))
        elif type(value).__name__ == "nb_func":
            found.append(_make_core_function(f"{owner.__name__}.{name}", None, value))
        else:
            found.append(_make_core_function(name, owner.__name__, value))
    return found


def _make_core_function(
    name: str, owner: str | None, target: Any, signed: Any = None
) -> PublicFunction:
    signature = (signed or inspect.unwrap(target)).__nb_signature__[0][0]
    text = re.sub(r"\\\d+", "...", signature)
    inside = text[text.index("(") + 1 : text.rindex(")", 0, _find_signature_end(text))]
    parameters = []
    by_name = False
    for part in _split_parameters(inside):
        if part in ("self", "/"):
            continue
        if part == "*":
            by_name = True
            continue
        label, _, rest = part.partition(":")
        parameters.append(Parameter(label.strip(), rest, "=" in rest, by_name))
    return PublicFunction(name, owner, target, tuple(parameters))


def _find_signature_end(text: str) -> int:
    arrow = text.rfind(" -> ")
    return len(text) if arrow < 0 else arrow


def _split_parameters(text: str) -> list[str]:
    """Split at commas outside of brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "[(") - (letter in "])")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]
