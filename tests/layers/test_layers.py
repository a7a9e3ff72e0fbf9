# SPDX-License-Identifier: BSD-3-Clause
"""Rules for files that no compiler checks: dependences, sizes and contents."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CORE = ROOT / "core" / "topoloom"
LINE_LIMIT = 500
FILE_LIMIT = 30

SOURCES = (".cpp", ".hpp", ".c", ".h", ".py", ".f90", ".sh", ".toml", ".txt", ".yml")
FOREIGN = re.compile(r"#\s*include\s*[<\"](mpi\.h|Python\.h|nanobind/|numpy/)")
FILES_AND_STREAMS = re.compile(r"#\s*include\s*<(iostream|fstream|cstdio|stdio\.h)>")
PRINTING = re.compile(r"\b(std::(cout|cerr|clog|print|puts|printf)|printf|puts)\b")


def list_project_files() -> list[Path]:
    """List the files of the project that git tracks or would add."""
    words = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(
        words, cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode != 0:
        pytest.skip("not a git checkout")
    return [
        path for name in listed.stdout.splitlines() if (path := ROOT / name).is_file()
    ]


def list_core_files() -> list[Path]:
    return sorted([*CORE.rglob("*.hpp"), *CORE.rglob("*.cpp")])


def relative_name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_the_core_uses_neither_mpi_nor_python() -> None:
    wrong = [
        relative_name(p) for p in list_core_files() if FOREIGN.search(p.read_text())
    ]
    assert not wrong


def test_the_core_neither_prints_nor_opens_files() -> None:
    wrong = []
    for path in list_core_files():
        code = "\n".join(
            line.partition("//")[0] for line in path.read_text().splitlines()
        )
        if FILES_AND_STREAMS.search(code) or PRINTING.search(code):
            wrong.append(relative_name(path))
    assert not wrong


def test_bindings_are_at_most_a_fifth_of_the_core() -> None:
    def count_lines(paths: list[Path]) -> int:
        return sum(len(path.read_text().splitlines()) for path in paths)

    bindings = sorted((ROOT / "bindings").rglob("*.[ch]pp"))
    assert count_lines(bindings) <= count_lines(list_core_files()) / 5


def test_no_file_is_longer_than_the_limit() -> None:
    wrong = []
    for path in list_project_files():
        if path.suffix not in SOURCES or "third_party" in path.parts:
            continue
        count = len(path.read_text().splitlines())
        if count > LINE_LIMIT:
            wrong.append(f"{relative_name(path)}: {count} lines")
    assert not wrong


def test_every_source_begins_with_its_license() -> None:
    wrong = []
    for path in list_project_files():
        made = path.suffix == ".pyi"
        data = path.suffix == ".txt" and path.name not in (
            "CMakeLists.txt",
            "calls.txt",
        )
        if path.suffix not in SOURCES or "third_party" in path.parts or made or data:
            continue
        head = path.read_text().splitlines()[:2]
        if not any("SPDX-License-Identifier: BSD-3-Clause" in line for line in head):
            wrong.append(relative_name(path))
    assert not wrong


def test_no_file_names_a_home_directory() -> None:
    home = re.compile(r"(?<![\w.])/(?:home/\w+|root/|Users/\w+)")
    wrong = []
    for path in list_project_files():
        if "third_party" in path.parts or path == Path(__file__).resolve():
            continue
        try:
            text = path.read_text()
        except UnicodeDecodeError:
            continue
        wrong += [f"{relative_name(path)}: {found[0]}" for found in home.finditer(text)]
    assert not wrong


def test_no_file_is_large() -> None:
    wrong = [
        relative_name(path)
        for path in list_project_files()
        if path.stat().st_size > 500_000
    ]
    assert not wrong


def test_no_folder_has_too_many_files() -> None:
    held = Counter(path.parent for path in list_project_files())
    assert not [f"{relative_name(at)}: {n}" for at, n in held.items() if n > FILE_LIMIT]


def test_contributing_names_every_module() -> None:
    table = (ROOT / "CONTRIBUTING.md").read_text()
    tops = {"core/topoloom": 1, "python/topoloom": 1, "mpi": 1}
    modules = {
        "/".join(path.relative_to(ROOT).parts[: top.count("/") + 1 + depth])
        for path in list_project_files()
        for top, depth in tops.items()
        if path.is_relative_to(ROOT / top)
        and len(path.relative_to(ROOT / top).parts) > depth
    }
    missing = sorted(module for module in modules if f"`{module}`" not in table)
    named = re.findall(r"`((?:core|python|mpi)/[\w/]+)`", table)
    gone = sorted(name for name in named if not (ROOT / name).exists())
    assert not missing + gone


@pytest.mark.parametrize("tree", ["core/topoloom", "python/topoloom", "mpi", "nccl"])
def test_a_readme_of_a_module_has_at_most_fifteen_lines(tree: str) -> None:
    source = re.compile(r"\.(c|h|cpp|hpp|py)$")
    folders = [
        path
        for path in (ROOT / tree).iterdir()
        if path.is_dir() and any(source.search(file.name) for file in path.iterdir())
    ]
    assert folders
    for folder in folders:
        text = (folder / "README.md").read_text()
        assert len(text.splitlines()) <= 15, folder
        for begin in ("# ", "May include: ", "Start with `"):
            assert any(line.startswith(begin) for line in text.splitlines()), folder
        files = re.findall(r"`([\w.]+\.[chp]\w*)`", text.rpartition("Start with")[2])
        assert all((folder / name).exists() for name in files), folder
