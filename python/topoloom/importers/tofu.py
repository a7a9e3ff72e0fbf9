# SPDX-License-Identifier: BSD-3-Clause
"""Fugaku and other Tofu systems: reads lines with host or rank, and coordinates.

``utofu_query_my_coords`` and ``FJMPI_Topology_get_coords(.., FJMPI_TOFU_SYS, 6, ..)``
return the six coordinates X Y Z a b c of a process's node. A line ``size X Y Z`` can
specify the extents of the system.
"""

from __future__ import annotations

import re

from topoloom._core import Error
from topoloom.importers.machine_description import MachineDescription
from topoloom.importers.scotch import recognizes_scotch_target
from topoloom.importers.torus_positions import check_torus_size, list_hosts_by_position

_RANK = re.compile(r"[0-9]{1,10}")
_NODE = re.compile(
    r"(?P<name>[A-Za-z0-9][A-Za-z0-9_.\-]*)[\s:]+\(?\s*(?P<place>"
    r"[0-9]{1,6}(?:(?:\s*,\s*|\s+)[0-9]{1,6}){5})\s*\)?"
)
_SIZE = re.compile(r"size\s+([0-9]{1,6})\s+([0-9]{1,6})\s+([0-9]{1,6})")
#: a, b and c number the 12 nodes of a cell. Axes X, Y, Z and b are rings; a and c are
#: pairs.
_CELL = (2, 3, 2)
_WRAP = "111010"

_Place = tuple[int, ...]


def recognizes_tofu(text: str) -> bool:
    """Return whether each line is a name with six coordinates, or the size.

    Scotch target files also contain a name and numbers, but the name is no host.
    """
    if recognizes_scotch_target(text):
        return False
    # The text may be an excerpt whose last line is incomplete.
    lines = [line for line in map(_strip_comment, text.splitlines()) if line]
    lines = lines[: max(1, len(lines) - 1)]
    return any(map(_NODE.fullmatch, lines)) and all(
        _NODE.fullmatch(line) or _SIZE.fullmatch(line) for line in lines
    )


def read_tofu(text: str) -> MachineDescription:
    """Read hosts, or ranks, with their coordinates X Y Z a b c.

    The machine is ``torus:XxYxZx2x3x2,wrap=111010`` with the extents from the ``size``
    line, or else the smallest extents that contain all coordinates; positions without a
    host are vacant. A host may occur on several lines. If lines contain ranks instead
    of hosts, a node is named ``rank12`` after its lowest rank.
    """
    size: tuple[int, ...] | None = None
    places: dict[str, tuple[int, _Place]] = {}
    for number, raw in enumerate(text.splitlines(), 1):
        line = _strip_comment(raw)
        if match := _SIZE.fullmatch(line):
            if size is not None:
                raise Error(f"line {number}: the size is given twice; keep one")
            size = tuple(map(int, match.groups()))
            if 0 in size:
                shape = "x".join(map(str, size))
                raise Error(f"line {number}: the size is {shape}; no axis can be 0")
            check_torus_size((*size, *_CELL), 1, number)
        elif match := _NODE.fullmatch(line):
            place = tuple(int(at) for at in re.findall("[0-9]+", match["place"]))
            _add_place(places, number, match["name"], place)
        elif line:
            raise Error(
                f"line {number}: expected a host and its coordinates X Y Z a b c, such "
                f"as 'n1 3 0 12 0 2 1', not '{line[:40]}'"
            )
    if not places:
        raise Error("line 1: there is no line 'HOST X Y Z a b c'")
    size = _find_size(size, places)
    hosts = {place: [host] for host, place in _name_nodes(places).items()}
    text = f"torus:{'x'.join(map(str, (*size, *_CELL)))},wrap={_WRAP}"
    names = list_hosts_by_position((*size, *_CELL), 1, hosts)
    return MachineDescription(text, names, network="tofu-d")


def _strip_comment(line: str) -> str:
    return line.partition("#")[0].strip()


def _add_place(
    places: dict[str, tuple[int, _Place]], number: int, name: str, place: _Place
) -> None:
    for axis, at, extent in zip("abc", place[3:], _CELL, strict=True):
        if at >= extent:
            raise Error(f"line {number}: {axis} is {at}, but goes to {extent - 1}")
    line, before = places.setdefault(name, (number, place))
    if before != place:
        raise Error(
            f"line {number}: {name} is at {_format_coordinates(place)}, but on line "
            f"{line} at {_format_coordinates(before)}; collect the lines in one job"
        )


def _find_size(
    given: tuple[int, ...] | None, places: dict[str, tuple[int, _Place]]
) -> tuple[int, ...]:
    """Check the specified extents of X, Y and Z; if unspecified, find the smallest."""
    size = list(given or (0, 0, 0))
    for line, place in places.values():
        for axis, at in enumerate(place[:3]):
            if at < size[axis]:
                continue
            if given is not None:
                raise Error(
                    f"line {line}: {'XYZ'[axis]} is {at}, but the size is {size[axis]}"
                )
            size[axis] = at + 1
            check_torus_size((*map(lambda extent: extent or 1, size), *_CELL), 1, line)
    return tuple(size)


def _name_nodes(places: dict[str, tuple[int, _Place]]) -> dict[str, _Place]:
    """Name each node after its host, or after its lowest rank."""
    ranks = [name for name in places if _RANK.fullmatch(name)]
    if ranks and len(ranks) < len(places):
        raise Error(
            f"line {places[ranks[0]][0]}: '{ranks[0]}' is a rank, but other lines "
            "have hosts; use either ranks or hosts"
        )
    nodes: dict[_Place, str] = {}
    for name, (line, place) in places.items():
        before = nodes.setdefault(place, name)
        if ranks:
            nodes[place] = min(before, name, key=int)
        elif before != name:
            raise Error(
                f"line {line}: hosts {name} and {before} (line {places[before][0]}) "
                f"are both at {_format_coordinates(place)}; correct one of them"
            )
    prefix = "rank" if ranks else ""
    return {f"{prefix}{name}": place for place, name in nodes.items()}


def _format_coordinates(place: _Place) -> str:
    return f"({','.join(map(str, place))})"
