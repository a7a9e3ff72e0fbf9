# SPDX-License-Identifier: BSD-3-Clause
"""Files in mpi/ and nccl/ include only what they may, and never form cycles."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from c_symbols import find_references, read_symbols
from permissions import find_cycles, read_module_permissions

ROOT = Path(__file__).resolve().parents[2]
SUFFIXES = (".c", ".h", ".cpp", ".hpp")
FILES = sorted(
    path
    for top in ("mpi", "nccl")
    for suffix in SUFFIXES
    for path in (ROOT / top).rglob(f"*{suffix}")
)
C_FOLDERS = sorted({path.parent for path in FILES if path.suffix == ".c"})
INCLUDED = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def relative_name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def find_included_headers(path: Path) -> list[Path]:
    """Find the headers that a file includes; its own folder takes precedence."""
    found = []
    for name in INCLUDED.findall(path.read_text()):
        beside = path.with_name(name)
        others = [other for other in FILES if other.name == name]
        found += [beside] if beside in others else others
    return found


def find_module(path: Path) -> Path:
    """Return the module of a file: its folder, or the one above if in fortran/."""
    return path.parent.parent if path.parent.name == "fortran" else path.parent


def read_permissions_below(top: str) -> dict[str, set[str]]:
    """Map the modules below `top` to the modules that they may include."""
    modules = {find_module(path) for path in FILES if path.is_relative_to(ROOT / top)}
    return {
        str(module.relative_to(ROOT / top)): {
            other
            for other in read_module_permissions(module)
            if "libtopoloom" not in other
        }
        for module in sorted(modules)
    }


@pytest.mark.parametrize("top", ["mpi", "nccl"])
def test_files_include_only_what_their_module_permits(top: str) -> None:
    permissions = read_permissions_below(top)
    assert not set().union(*permissions.values()) - permissions.keys()
    wrong = []
    for path in FILES:
        if path.is_relative_to(ROOT / top):
            module = str(find_module(path).relative_to(ROOT / top))
            headers = {
                str(find_module(header).relative_to(ROOT / top)): header
                for header in find_included_headers(path)
            }
            wrong += [
                f"{relative_name(path)} includes {relative_name(headers[other])}"
                for other in headers.keys() - {module, *permissions[module]}
            ]
    assert not wrong


@pytest.mark.parametrize("top", ["mpi", "nccl"])
def test_permissions_have_no_cycles(top: str) -> None:
    assert not find_cycles(read_permissions_below(top))


def test_headers_do_not_include_each_other_in_cycles() -> None:
    """A C++ header and the source with the same name count as one file."""
    edges: dict[str, set[str]] = {}
    for path in FILES:
        if path.suffix != ".c":
            name = relative_name(path.with_suffix(""))
            names = {
                relative_name(header.with_suffix(""))
                for header in find_included_headers(path)
            }
            edges.setdefault(name, set()).update(names - {name})
    assert not find_cycles(edges)


@pytest.mark.parametrize("folder", C_FOLDERS, ids=relative_name)
def test_sources_do_not_use_each_other_in_cycles(folder: Path) -> None:
    sources = {
        path.name: read_symbols(path.read_text()) for path in folder.glob("*.[ch]")
    }
    assert not find_cycles(find_references(sources))


def test_symbols_are_read_from_text() -> None:
    header = "#define FINISH(x) free_run(x)\nint advance_run(int);\n"
    run = (
        "static int helper(void) { return release_plan(state.make_plan); }\n"
        "int advance_run(int x) {\n    // make_plan\n    return helper(); }\n"
        "int rounds[2] = {1, 2};\nextern int other;\nstruct plan { int x; };\n"
    )
    plan = (
        "void release_plan(int x) { FINISH(x); }\nint make_plan(void) { return 0; }\n"
    )
    free = "void free_run(int x) { rounds[0] = x; }\n"
    texts = {"run.h": header, "run.c": run, "plan.c": plan, "free.c": free}
    sources = {name: read_symbols(text) for name, text in texts.items()}
    assert sources["run.c"].defined == {"advance_run", "rounds"}
    references = find_references(sources)
    assert references == {
        "run.c": {"plan.c"},
        "plan.c": {"free.c"},
        "free.c": {"run.c"},
    }
    assert find_cycles(references) == ["free.c -> run.c -> plan.c -> free.c"]
