# SPDX-License-Identifier: BSD-3-Clause
"""Rooms: folders whose README.md says what their files may include."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

MAY_INCLUDE = re.compile(r"^May include: (.+)\.$", re.MULTILINE)


def rooms_below(top: Path, suffixes: tuple[str, ...]) -> dict[str, set[str]]:
    """Map every folder that has sources to the rooms its README.md permits."""
    folders = {path.parent for suffix in suffixes for path in top.rglob(f"*{suffix}")}
    rooms = {}
    for folder in sorted(folders - {top}):
        found = MAY_INCLUDE.search((folder / "README.md").read_text())
        assert found, f"{folder}/README.md does not say what the room may include"
        named = set() if found[1] == "nothing" else set(found[1].split(", "))
        rooms[str(folder.relative_to(top))] = named
    return rooms


def permits(room: str, allowed: set[str], other: str) -> bool:
    """Return whether files of `room` may include those of `other`.

    A name stands for the room and its sub-rooms, but for the room alone where it is
    the including room's own parent.
    """
    if other in allowed or other == room:
        return True
    above = [str(parent) for parent in PurePosixPath(other).parents]
    return any(name in allowed and not room.startswith(f"{name}/") for name in above)


def circles(arrows: dict[str, set[str]]) -> list[str]:
    """Name the nodes of a directed graph that can be reached from themselves."""
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
