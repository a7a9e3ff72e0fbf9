# SPDX-License-Identifier: BSD-3-Clause
"""Reads from the README.md of each module which modules its files may include."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Collection, Mapping
from pathlib import Path, PurePosixPath

MAY_INCLUDE = re.compile(r"^May include: (.+)\.$", re.MULTILINE)


def read_permissions(top: Path, suffixes: tuple[str, ...]) -> dict[str, set[str]]:
    """Map every source folder to the folders that its files may include."""
    folders = {path.parent for suffix in suffixes for path in top.rglob(f"*{suffix}")}
    return {
        str(folder.relative_to(top)): read_module_permissions(folder)
        for folder in sorted(folders - {top})
    }


def read_module_permissions(folder: Path) -> set[str]:
    """Read the folders that files of a folder may include from its README.md."""
    found = MAY_INCLUDE.search((folder / "README.md").read_text())
    assert found, f"{folder}/README.md does not state what its files may include"
    return set() if found[1] == "nothing" else set(found[1].split(", "))


def is_permitted(folder: str, allowed: set[str], other: str) -> bool:
    """Return whether files of `folder` are permitted to include files of `other`.

    An allowed folder stands for itself and all folders below. If it contains the
    including folder, it stands only for itself.
    """
    if other in allowed or other == folder:
        return True
    above = [str(parent) for parent in PurePosixPath(other).parents]
    return any(name in allowed and not folder.startswith(f"{name}/") for name in above)


def find_permitted_cycles(permissions: dict[str, set[str]]) -> list[str]:
    """List the cycles that permitted includes could form between folders."""
    return find_cycles(
        {
            folder: {o for o in permissions if is_permitted(folder, allowed, o)}
            - {folder}
            for folder, allowed in permissions.items()
        }
    )


def find_cycles(edges: Mapping[str, Collection[str]]) -> list[str]:
    """List shortest cycles of a directed graph. No two of them share a node."""
    cycles: list[str] = []
    named: set[str] = set()
    for start in sorted(edges):
        path = find_shortest_cycle(edges, start)
        if path and not named & set(path):
            cycles.append(" -> ".join(path))
        named.update(path)
    return cycles


def find_shortest_cycle(edges: Mapping[str, Collection[str]], start: str) -> list[str]:
    """List the nodes of a shortest cycle through `start`; empty without a cycle."""
    predecessors: dict[str, str] = {}
    waiting = deque([start])
    while waiting:
        node = waiting.popleft()
        for after in sorted(edges.get(node, ())):
            if after not in predecessors:
                predecessors[after] = node
                waiting.append(after)
    path = [start]
    while path[-1] in predecessors and (len(path) == 1 or path[-1] != start):
        path.append(predecessors[path[-1]])
    return path[::-1] if len(path) > 1 else []
