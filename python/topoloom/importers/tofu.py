# SPDX-License-Identifier: BSD-3-Clause
"""Fugaku and other Tofu systems: lines with a host or rank and six coordinates.

``utofu_query_my_coords`` and ``FJMPI_Topology_get_coords(.., FJMPI_TOFU_SYS, 6, ..)``
give a process the six numbers X Y Z a b c of its node. A line ``size X Y Z`` may give
the size of the system.
"""

from __future__ import annotations

import re

from topoloom._core import Error
from topoloom.importers.machine_description import MachineDescription
from topoloom.importers.scotch import recognizes_scotch_target
from topoloom.importers.torus_places import check_size, hosts_by_place

_RANK = re.compile(r"[0-9]{1,10}")
_NODE = re.compile(
    r"(?P<name>[A-Za-z0-9][A-Za-z0-9_.\-]*)[\s:]+\(?\s*(?P<place>"
    r"[0-9]{1,6}(?:(?:\s*,\s*|\s+)[0-9]{1,6}){5})\s*\)?"
)
_SIZE = re.compile(r"size\s+([0-9]{1,6})\s+([0-9]{1,6})\s+([0-9]{1,6})")
#: a, b and c number the 12 nodes of a cell. X, Y, Z and b are rings, a and c pairs.
_CELL = (2, 3, 2)
_WRAP = "111010"

_Place = tuple[int, ...]


def recognizes_tofu(text: str) -> bool:
    """Return whether every line is a name and six coordinates, or the size.

    A Scotch target has a name and numbers, too, but no hosts.
    """
    if recognizes_scotch_target(text):
        return False
    # The last line of an excerpt may be cut off.
    lines = [line for line in map(_bare, text.splitlines()) if line]
    lines = lines[: max(1, len(lines) - 1)]
    return any(map(_NODE.fullmatch, lines)) and all(
        _NODE.fullmatch(line) or _SIZE.fullmatch(line) for line in lines
    )


def read_tofu(text: str) -> MachineDescription:
    """Read hosts, or ranks, with their coordinates X Y Z a b c.

    The machine is ``torus:XxYxZx2x3x2,wrap=111010`` with the extents of the ``size``
    line, or the smallest that hold all coordinates; places without a host are vacant.
    Several lines may repeat a host. If lines have ranks instead of hosts, a node is
    called ``rank12`` after its lowest rank.
    """
    size: tuple[int, ...] | None = None
    places: dict[str, tuple[int, _Place]] = {}
    for number, raw in enumerate(text.splitlines(), 1):
        line = _bare(raw)
        if match := _SIZE.fullmatch(line):
            if size is not None:
                raise Error(f"line {number}: the size is given twice; keep one")
            size = tuple(map(int, match.groups()))
            if 0 in size:
                shape = "x".join(map(str, size))
                raise Error(f"line {number}: the size is {shape}; no axis can be 0")
            check_size((*size, *_CELL), 1, number)
        elif match := _NODE.fullmatch(line):
            place = tuple(int(at) for at in re.findall("[0-9]+", match["place"]))
            _add(places, number, match["name"], place)
        elif line:
            raise Error(
                f"line {number}: expected a host and its coordinates X Y Z a b c, such "
                f"as 'n1 3 0 12 0 2 1', not '{line[:40]}'"
            )
    if not places:
        raise Error("line 1: there is no line 'HOST X Y Z a b c'")
    size = _size(size, places)
    hosts = {place: [host] for host, place in _by_host(places).items()}
    text = f"torus:{'x'.join(map(str, (*size, *_CELL)))},wrap={_WRAP}"
    names = hosts_by_place((*size, *_CELL), 1, hosts)
    return MachineDescription(text, names, network="tofu-d")


def _bare(line: str) -> str:
    return line.partition("#")[0].strip()


def _add(
    places: dict[str, tuple[int, _Place]], number: int, name: str, place: _Place
) -> None:
    for axis, at, extent in zip("abc", place[3:], _CELL, strict=True):
        if at >= extent:
            raise Error(f"line {number}: {axis} is {at}, but goes to {extent - 1}")
    line, before = places.setdefault(name, (number, place))
    if before != place:
        raise Error(
            f"line {number}: {name} is at {_written(place)}, but line {line} has it "
            f"at {_written(before)}; collect the lines in one job"
        )


def _size(
    given: tuple[int, ...] | None, places: dict[str, tuple[int, _Place]]
) -> tuple[int, ...]:
    """Check or find the extents of X, Y and Z."""
    size = list(given or (0, 0, 0))
    for line, place in places.values():
        for axis, at in enumerate(place[:3]):
            if at < size[axis]:
                continue
            if given is not None:
                raise Error(
                    f"line {line}: {'XYZ'[axis]} is {at}, but the size on it is "
                    f"{size[axis]}"
                )
            size[axis] = at + 1
            check_size((*map(lambda extent: extent or 1, size), *_CELL), 1, line)
    return tuple(size)


def _by_host(places: dict[str, tuple[int, _Place]]) -> dict[str, _Place]:
    """Name each node by its host, or by its lowest rank."""
    ranks = [name for name in places if _RANK.fullmatch(name)]
    if ranks and len(ranks) < len(places):
        raise Error(
            f"line {places[ranks[0]][0]}: '{ranks[0]}' is a rank, but other lines "
            "have hosts; keep to one of them"
        )
    nodes: dict[_Place, str] = {}
    for name, (line, place) in places.items():
        before = nodes.setdefault(place, name)
        if ranks:
            nodes[place] = min(before, name, key=int)
        elif before != name:
            raise Error(
                f"line {line}: host {name} is at {_written(place)}, where host "
                f"{before} is (line {places[before][0]}); each node has its own place"
            )
    prefix = "rank" if ranks else ""
    return {f"{prefix}{name}": place for place, name in nodes.items()}


def _written(place: _Place) -> str:
    return f"({','.join(map(str, place))})"
