# SPDX-License-Identifier: BSD-3-Clause
"""The includes and imports that the README.md of each module permits."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

MAY_INCLUDE = re.compile(r"^May include: (.+)\.$", re.MULTILINE)


def read_permissions(top: Path, suffixes: tuple[str, ...]) -> dict[str, set[str]]:
    """Map every folder with sources to the folders that its README.md permits."""
    folders = {path.parent for suffix in suffixes for path in top.rglob(f"*{suffix}")}
    permissions = {}
    for folder in sorted(folders - {top}):
        found = MAY_INCLUDE.search((folder / "README.md").read_text())
        assert found, f"{folder}/README.md does not state what its files may include"
        named = set() if found[1] == "nothing" else set(found[1].split(", "))
        permissions[str(folder.relative_to(top))] = named
    return permissions


def permits(folder: str, allowed: set[str], other: str) -> bool:
    """Return whether files of `folder` may include those of `other`.

    A name permits a folder and everything below it, but only the folder itself if it
    contains the including one.
    """
    if other in allowed or other == folder:
        return True
    above = [str(parent) for parent in PurePosixPath(other).parents]
    return any(name in allowed and not folder.startswith(f"{name}/") for name in above)


def find_permitted_cycles(permissions: dict[str, set[str]]) -> list[str]:
    """List the folders that may include themselves through others."""
    return find_cycles(
        {
            folder: {o for o in permissions if permits(folder, allowed, o)} - {folder}
            for folder, allowed in permissions.items()
        }
    )


def find_cycles(arrows: dict[str, set[str]]) -> list[str]:
    """List the nodes of a directed graph that can be reached from themselves."""
    wrong = []
    for start in sorted(arrows):
        seen: set[str] = set()
        waiting = list(arrows[start])
        while waiting:
            node = waiting.pop()
            if node not in seen:
                seen.add(node)
                waiting += arrows.get(node, ())
        if start in seen:
            wrong.append(start)
    return wrong
