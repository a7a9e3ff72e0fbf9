# SPDX-License-Identifier: BSD-3-Clause
"""The includes and imports that the README.md of each module permits."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Collection, Mapping
from pathlib import Path, PurePosixPath

MAY_INCLUDE = re.compile(r"^May include: (.+)\.$", re.MULTILINE)


def read_permissions(top: Path, suffixes: tuple[str, ...]) -> dict[str, set[str]]:
    """Map every folder with sources to the folders that its README.md permits."""
    folders = {path.parent for suffix in suffixes for path in top.rglob(f"*{suffix}")}
    return {
        str(folder.relative_to(top)): permitted(folder)
        for folder in sorted(folders - {top})
    }


def permitted(folder: Path) -> set[str]:
    """Read which folders the README.md of a folder permits."""
    found = MAY_INCLUDE.search((folder / "README.md").read_text())
    assert found, f"{folder}/README.md does not state what its files may include"
    return set() if found[1] == "nothing" else set(found[1].split(", "))


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


def find_cycles(arrows: Mapping[str, Collection[str]]) -> list[str]:
    """Name shortest cycles of a directed graph, at most one through each node."""
    cycles: list[str] = []
    named: set[str] = set()
    for start in sorted(arrows):
        path = find_shortest_cycle(arrows, start)
        if path and not named & set(path):
            cycles.append(" -> ".join(path))
        named.update(path)
    return cycles


def find_shortest_cycle(arrows: Mapping[str, Collection[str]], start: str) -> list[str]:
    """List the nodes of a shortest cycle from `start` back to it; empty without one."""
    before: dict[str, str] = {}
    waiting = deque([start])
    while waiting:
        node = waiting.popleft()
        for after in sorted(arrows.get(node, ())):
            if after not in before:
                before[after] = node
                waiting.append(after)
    path = [start]
    while path[-1] in before and (len(path) == 1 or path[-1] != start):
        path.append(before[path[-1]])
    return path[::-1] if len(path) > 1 else []
