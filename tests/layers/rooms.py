# SPDX-License-Identifier: BSD-3-Clause
"""Rooms: folders whose README.md says what their files may include."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Collection, Mapping
from pathlib import Path, PurePosixPath

MAY_INCLUDE = re.compile(r"^May include: (.+)\.$", re.MULTILINE)


def rooms_below(top: Path, suffixes: tuple[str, ...]) -> dict[str, set[str]]:
    """Map every folder that has sources to the rooms its README.md permits."""
    folders = {path.parent for suffix in suffixes for path in top.rglob(f"*{suffix}")}
    return {
        str(folder.relative_to(top)): permitted(folder)
        for folder in sorted(folders - {top})
    }


def permitted(folder: Path) -> set[str]:
    """Read which rooms the README.md of a folder permits."""
    found = MAY_INCLUDE.search((folder / "README.md").read_text())
    assert found, f"{folder}/README.md does not say what the room may include"
    return set() if found[1] == "nothing" else set(found[1].split(", "))


def permits(room: str, allowed: set[str], other: str) -> bool:
    """Return whether files of `room` may include those of `other`.

    A name stands for the room and its sub-rooms, but for the room alone where it is
    the including room's own parent.
    """
    if other in allowed or other == room:
        return True
    above = [str(parent) for parent in PurePosixPath(other).parents]
    return any(name in allowed and not room.startswith(f"{name}/") for name in above)


def find_cycles(arrows: Mapping[str, Collection[str]]) -> list[str]:
    """Name shortest cycles of a directed graph, at most one through each node."""
    cycles: list[str] = []
    named: set[str] = set()
    for start in sorted(arrows):
        path = shortest_cycle(arrows, start)
        if path and not named & set(path):
            cycles.append(" -> ".join(path))
        named.update(path)
    return cycles


def shortest_cycle(arrows: Mapping[str, Collection[str]], start: str) -> list[str]:
    """Return the nodes from `start` back to `start`, or nothing."""
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
