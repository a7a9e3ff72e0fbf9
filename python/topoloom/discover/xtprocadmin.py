# SPDX-License-Identifier: BSD-3-Clause
"""Cray XC systems: the listings of `xtprocadmin` and `xtnids`."""

from __future__ import annotations

import itertools
import re
from typing import NamedTuple

from topoloom._core import Error
from topoloom.discover.described import Described
from topoloom.discover.switch_tree import Switch, describe_switches

_HEAD = re.compile(r"^[ \t]*NID[ \t]+\(HEX\)[ \t]+NODENAME\b", re.MULTILINE)
_NAME = re.compile(
    r"c(?P<column>[0-9]{1,4})-(?P<row>[0-9]{1,4})"
    r"c(?P<cage>[0-2])s(?P<slot>[0-9]|1[0-5])n(?P<node>[0-3])"
)
#: blades in a chassis of the XT and XE series, whose networks are tori
_BLADES_OF_XE = 8


class _Place(NamedTuple):
    """Where a node is, outermost first: sorting sorts by group, chassis, blade."""

    row: int
    pair: int
    column: int
    cage: int
    slot: int
    node: int

    @property
    def group(self) -> str:
        return f"group {self.pair}-{self.row}"

    @property
    def chassis(self) -> str:
        return f"c{self.column}-{self.row}c{self.cage}"

    @property
    def blade(self) -> str:
        return f"{self.chassis}s{self.slot}"


def recognizes_xtprocadmin(text: str) -> bool:
    """Tell whether a line is the head ``NID (HEX) NODENAME``."""
    return _HEAD.search(text) is not None


def read_xtprocadmin(text: str) -> Described:
    """Read the nodes of a Cray XC from ``xtprocadmin`` or ``xtnids``.

    The machine is a tree: the nodes of a blade on its router, blades in a chassis,
    chassis in a group of two cabinets side by side, groups. It is ``tree:4:16:6:...``
    where all are full, else a ``graph:``. This stands in for the Aries dragonfly: it
    knows which nodes are close, not how many links join groups. Service nodes are
    left out, nodes that are down are not. Hosts are ``nid00012``, as the launchers
    name them.

    Raises
    ------
    topoloom.Error
        With the line of what is malformed or listed twice; for XT and XE systems,
        whose nodes' names do not tell their places in the torus.
    """
    found: dict[_Place, tuple[int, str]] = {}
    lines_of: dict[str, int] = {}
    for number, raw in enumerate(text.splitlines(), 1):
        words = raw.split()
        if not words or words[0] == "NID":
            continue
        if len(words) < 3 or not re.fullmatch(r"[0-9]{1,9}", words[0]):
            raise Error(
                f"line {number}: expected a node, as '12 0xc c0-0c0s3n0 compute up', "
                f"not '{raw.strip()[:40]}'"
            )
        _check_hex(number, words)
        if words[3:4] == ["service"]:
            continue
        place = _place(number, words[2])
        host = f"nid{int(words[0]):05d}"
        for key, line in ((host, number), (words[2], number)):
            first = lines_of.setdefault(key, line)
            if first != line:
                raise Error(
                    f"line {number}: {key} is listed twice, first on line {first}; "
                    "keep one"
                )
        found[place] = (number, host)
    if not found:
        raise Error("line 1: no compute node is listed")
    _refuse_torus(found)
    return describe_switches(_switches(found))


def _check_hex(number: int, words: list[str]) -> None:
    if re.fullmatch(r"0x[0-9a-fA-F]{1,8}", words[1]) is None:
        raise Error(f"line {number}: '{words[1][:40]}' is no number such as 0x1c7d")
    if int(words[1], 16) != int(words[0]):
        raise Error(
            f"line {number}: NID {words[0]} is not {words[1]}, which is "
            f"{int(words[1], 16)}; list the nodes again"
        )


def _place(number: int, name: str) -> _Place:
    match = _NAME.fullmatch(name)
    if match is None:
        raise Error(
            f"line {number}: '{name[:40]}' is not a node of an XC, such as c7-3c2s15n1"
        )
    at = {part: int(digits) for part, digits in match.groupdict().items()}
    return _Place(pair=at["column"] // 2, **at)


def _refuse_torus(found: dict[_Place, tuple[int, str]]) -> None:
    blades = {place.blade for place in found}
    last = max(place.slot for place in found)
    if last < _BLADES_OF_XE < len(blades):
        line = min(line for line, _ in found.values())
        raise Error(
            f"line {line}: no blade is in a slot above {last}, as in Cray XT and XE "
            "systems; their network is a torus: describe it, as torus:17x8x24,nodes=2"
        )


def _switches(found: dict[_Place, tuple[int, str]]) -> list[Switch]:
    """Make blades, chassis and groups switches, and a root above several groups."""
    line_of: dict[str, int] = {}
    nodes: dict[str, list[str]] = {}
    below: dict[str, dict[str, None]] = {}
    for place in sorted(found):
        line, host = found[place]
        nodes.setdefault(place.blade, []).append(host)
        path = [place.blade, place.chassis, place.group, "all groups"]
        for under, above in itertools.pairwise(path):
            below.setdefault(above, {})[under] = None
        for name in path:
            line_of[name] = min(line, line_of.get(name, line))
    if len(below["all groups"]) == 1:
        del below["all groups"]
    leaves = [Switch(name, line_of[name], tuple(nodes[name])) for name in nodes]
    return leaves + [
        Switch(name, line_of[name], (), tuple(below[name])) for name in below
    ]
