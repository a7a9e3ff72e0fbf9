# SPDX-License-Identifier: BSD-3-Clause
"""Files of the core include only modules that their module's README.md permits."""

from __future__ import annotations

import re
from pathlib import Path

from permissions import (
    find_cycles,
    find_permitted_cycles,
    is_permitted,
    read_permissions,
)

CORE = Path(__file__).resolve().parents[2] / "core" / "topoloom"
INCLUDED = re.compile(r'#include "topoloom/([^"]+)"')
SUFFIXES = (".cpp", ".hpp")
FILES = sorted(path for suffix in SUFFIXES for path in CORE.rglob(f"*{suffix}"))


def relative_name(path: Path) -> str:
    return str(path.relative_to(CORE))


def test_every_module_states_what_it_may_include() -> None:
    permissions = read_permissions(CORE, SUFFIXES)
    unknown = set().union(*permissions.values()) - permissions.keys()
    assert not unknown


def test_files_include_only_what_their_module_permits() -> None:
    permissions = read_permissions(CORE, SUFFIXES)
    wrong = []
    for path in FILES:
        folder = relative_name(path.parent)
        for name in INCLUDED.findall(path.read_text()):
            if not is_permitted(folder, permissions[folder], str(Path(name).parent)):
                wrong.append(f"{relative_name(path)} includes {name}")
    assert not wrong


def test_permissions_have_no_cycles() -> None:
    assert not find_permitted_cycles(read_permissions(CORE, SUFFIXES))


def test_includes_have_no_cycles() -> None:
    """A header and the source with the same name count as one file."""
    edges: dict[str, set[str]] = {}
    for path in FILES:
        name = relative_name(path.with_suffix(""))
        names = (Path(found) for found in INCLUDED.findall(path.read_text()))
        included = {str(found.with_suffix("")) for found in names}
        edges.setdefault(name, set()).update(included - {name})
    assert not find_cycles(edges)
