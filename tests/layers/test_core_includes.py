# SPDX-License-Identifier: BSD-3-Clause
"""Files of the core include only modules that their module's README.md permits."""

from __future__ import annotations

import re
from pathlib import Path

from permissions import find_cycles, find_permitted_cycles, permits, read_permissions

CORE = Path(__file__).resolve().parents[2] / "core" / "topoloom"
INCLUDED = re.compile(r'#include "topoloom/([^"]+)"')
SUFFIXES = (".cpp", ".hpp")
FILES = sorted(path for suffix in SUFFIXES for path in CORE.rglob(f"*{suffix}"))


def inside(path: Path) -> str:
    return str(path.relative_to(CORE))


def test_every_module_states_what_it_may_include() -> None:
    permissions = read_permissions(CORE, SUFFIXES)
    unknown = set().union(*permissions.values()) - permissions.keys()
    assert not unknown


def test_files_include_only_what_their_module_permits() -> None:
    permissions = read_permissions(CORE, SUFFIXES)
    wrong = []
    for path in FILES:
        folder = inside(path.parent)
        for name in INCLUDED.findall(path.read_text()):
            if not permits(folder, permissions[folder], str(Path(name).parent)):
                wrong.append(f"{inside(path)} includes {name}")
    assert not wrong


def test_permissions_have_no_cycles() -> None:
    assert not find_permitted_cycles(read_permissions(CORE, SUFFIXES))


def test_includes_have_no_cycles() -> None:
    """A header and its source count as one file."""
    arrows: dict[str, set[str]] = {}
    for path in FILES:
        name = inside(path.with_suffix(""))
        names = (Path(found) for found in INCLUDED.findall(path.read_text()))
        included = {str(found.with_suffix("")) for found in names}
        arrows.setdefault(name, set()).update(included - {name})
    assert not find_cycles(arrows)
