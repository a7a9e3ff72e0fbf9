# SPDX-License-Identifier: BSD-3-Clause
"""Recipes of package managers require what `pyproject.toml` requires."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from topoloom.support.toml_document import read_toml

ROOT = Path(__file__).resolve().parents[3]
PROJECT = read_toml(ROOT / "pyproject.toml")
EXTRAS = PROJECT["project"]["optional-dependencies"]
NEEDED = [
    *PROJECT["build-system"]["requires"],
    *PROJECT["project"]["dependencies"],
    *EXTRAS["cli"],
    *EXTRAS["report"],
]


def split_requirements(texts: list[str]) -> list[tuple[str, str]]:
    """Split requirements such as ``numpy>=1.24`` into names and lowest versions."""
    found = [re.match(r"([\w-]+)>=([\d.]+)", text) for text in texts]
    assert all(found)
    return [(match[1], match[2]) for match in found if match]


@pytest.mark.parametrize(("name", "lowest"), split_requirements(NEEDED))
def test_the_conda_recipe_requires_what_the_project_requires(
    name: str, lowest: str
) -> None:
    recipe = (ROOT / "packaging/conda/recipe.yaml").read_text()
    name = {"matplotlib": "matplotlib-base"}.get(name, name)
    assert re.search(rf"(- |then: ){name} >={re.escape(lowest)}$", recipe, re.M)


@pytest.mark.parametrize(
    ("name", "lowest"), split_requirements([*NEEDED, *EXTRAS["bound"]])
)
def test_the_spack_package_requires_what_the_project_requires(
    name: str, lowest: str
) -> None:
    folder = ROOT / "packaging/spack/spack_repo/topoloom/packages"
    package = (folder / "py_topoloom/package.py").read_text()
    assert f'depends_on("py-{name}@{lowest}:"' in package


def test_recipes_and_project_require_the_same_cmake_and_python() -> None:
    text = (ROOT / "CMakeLists.txt").read_text()
    cmake = re.search(r"cmake_minimum_required\(VERSION ([\d.]+)\)", text)
    assert cmake
    recipe = (ROOT / "packaging/conda/recipe.yaml").read_text()
    assert f"- cmake >={cmake[1]}\n" in recipe
    python = PROJECT["project"]["requires-python"].removeprefix(">=")
    for file in ROOT.glob("packaging/spack/spack_repo/topoloom/packages/*topoloom/*"):
        package = file.read_text()
        assert f'depends_on("cmake@{cmake[1]}:", type="build")' in package
        assert "PythonPackage" not in package or f'"python@{python}:"' in package


def test_the_container_is_built_from_files_that_exist() -> None:
    text = (ROOT / "packaging/apptainer/container.def").read_text()
    files = re.findall(r"^    (\S+) /source/(\S+)$", text, re.MULTILINE)
    assert len(files) > 10
    for source, copy in files:
        assert source == copy
        assert (ROOT / source).exists()
