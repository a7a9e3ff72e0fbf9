# SPDX-License-Identifier: BSD-3-Clause
"""The rooms of the core: what they may include, and where they declare their names."""

from __future__ import annotations

import re
from pathlib import Path

from rooms import find_cycles, permits, rooms_below

CORE = Path(__file__).resolve().parents[2] / "core" / "topoloom"
INCLUDED = re.compile(r'#include "topoloom/([^"]+)"')
SUFFIXES = (".cpp", ".hpp")
FILES = sorted(path for suffix in SUFFIXES for path in CORE.rglob(f"*{suffix}"))


def inside(path: Path) -> str:
    return str(path.relative_to(CORE))


def test_every_room_says_which_rooms_it_may_include() -> None:
    rooms = rooms_below(CORE, SUFFIXES)
    unknown = set().union(*rooms.values()) - rooms.keys()
    assert not unknown


def test_files_include_only_what_their_room_permits() -> None:
    rooms = rooms_below(CORE, SUFFIXES)
    wrong = []
    for path in FILES:
        room = inside(path.parent)
        for name in INCLUDED.findall(path.read_text()):
            if not permits(room, rooms[room], str(Path(name).parent)):
                wrong.append(f"{inside(path)} includes {name}")
    assert not wrong


def test_permissions_have_no_cycles() -> None:
    rooms = rooms_below(CORE, SUFFIXES)
    arrows = {
        room: {other for other in rooms if permits(room, allowed, other)} - {room}
        for room, allowed in rooms.items()
    }
    assert not find_cycles(arrows)


def test_files_do_not_include_each_other_in_cycles() -> None:
    """A header and its source are one file here."""
    arrows: dict[str, set[str]] = {}
    for path in FILES:
        name = inside(path.with_suffix(""))
        names = (Path(found) for found in INCLUDED.findall(path.read_text()))
        included = {str(found.with_suffix("")) for found in names}
        arrows.setdefault(name, set()).update(included - {name})
    assert not find_cycles(arrows)
