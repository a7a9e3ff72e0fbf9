# SPDX-License-Identifier: BSD-3-Clause
"""Public names exist once, are documented, and match the stubs."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections import Counter

import pytest

import topoloom
from topoloom.support.public_names import find_defining_modules, list_public_packages

NAMES = [
    (package, name)
    for package in list_public_packages()
    for name, home in find_defining_modules(package).items()
    if home != package
]


@pytest.mark.parametrize(("package", "name"), NAMES)
def test_a_public_name_can_be_imported_and_is_documented(
    package: str, name: str
) -> None:
    value = getattr(importlib.import_module(package), name)
    if name == "__version__":
        return
    signatures = getattr(value, "__nb_signature__", None)
    assert signatures[0][1] if signatures else value.__doc__


def test_a_public_name_has_one_location() -> None:
    many = Counter(name for _, name in NAMES)
    assert [name for name, count in many.items() if count > 1] == []


@pytest.mark.parametrize("package", list_public_packages())
def test_a_package_exports_names_of_its_module_and_of_the_core(package: str) -> None:
    homes = (f"{package}.", "topoloom._core", "topoloom.importers.machine_description")
    wrong = [
        n
        for n, home in find_defining_modules(package).items()
        if not home.startswith(homes)
    ]
    assert package == "topoloom" or not wrong


def test_the_most_used_names_are_in_the_top_level_package() -> None:
    assert len(find_defining_modules("topoloom")) <= 30
    assert {"load_graph", "load_machine", "place", "judge"} <= set(dir(topoloom))


@pytest.mark.parametrize(
    ("package", "name", "place"),
    [
        ("topoloom", "stencil", "topoloom.graphs.stencil"),
        ("topoloom", "choose_nodes", "topoloom.allocations.choose_nodes"),
        ("topoloom.graphs", "load_graph", "topoloom.load_graph"),
    ],
)
def test_a_name_of_another_module_is_reported_with_its_location(
    package: str, name: str, place: str
) -> None:
    with pytest.raises(AttributeError, match=f"no attribute '{name}'; it is {place}$"):
        getattr(importlib.import_module(package), name)


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(AttributeError, match=r"has no attribute 'stencill'$"):
        _ = topoloom.stencill  # type: ignore[attr-defined]


def test_importing_the_package_loads_neither_numpy_nor_the_core() -> None:
    code = """
import sys, topoloom, topoloom.graphs, topoloom.schedules
print([name for name in ("numpy", "topoloom._core") if name in sys.modules])
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


def test_all_public_names_can_be_imported_at_once() -> None:
    names: dict[str, object] = {}
    exec("from topoloom.graphs import *", names)
    assert set(find_defining_modules("topoloom.graphs")) <= set(names)
