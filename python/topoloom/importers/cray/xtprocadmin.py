# SPDX-License-Identifier: BSD-3-Clause
"""Cray XC systems: reads node listings from `xtprocadmin` and `xtnids`."""

from __future__ import annotations

import re
from dataclasses import replace

from topoloom._core import Error
from topoloom.importers.cray.node_locations import (
    BLADES_OF_XE,
    CrayLocation,
    describe_xc_groups,
    make_location,
)
from topoloom.importers.machine_description import MachineDescription
from topoloom.support.units import counted

_NAME = re.compile(
    r"c(?P<column>[0-9]{1,4})-(?P<row>[0-9]{1,4})"
    r"c(?P<cage>[0-2])s(?P<slot>[0-9]|1[0-5])n(?P<node>[0-3])"
)


def read_xtprocadmin(text: str) -> MachineDescription:
    """Read the nodes of a Cray XC from ``xtprocadmin`` or ``xtnids``.

    The machine is a tree of groups (two neighboring cabinets), chassis, blades and
    nodes: ``tree:4:16:6:...`` if none of these has free positions, else a ``graph:``.
    The tree approximates the Aries dragonfly: it represents which nodes are close, but
    not the number of links between groups. Service nodes are omitted; nodes that are
    down are included. Host names have the form that launchers use: ``nid00012``. XT and
    XE systems are rejected, because their node names contain no torus coordinates; use
    `xtdb2proc`.
    """
    found: dict[CrayLocation, tuple[int, str]] = {}
    lines_of: dict[str, int] = {}
    columns = incomplete = 0
    for number, raw in enumerate(text.splitlines(), 1):
        words = raw.split()
        if not words:
            continue
        if words[0] == "NID":
            columns = len(words)
            continue
        incomplete += len(words) < columns
        if len(words) < 3 or not re.fullmatch(r"[0-9]{1,9}", words[0]):
            raise Error(
                f"line {number}: expected a node, such as '12 0xc c0-0c0s3n0 compute "
                f"up', not '{raw.strip()[:40]}'"
            )
        _check_hex(number, words)
        if words[3:4] == ["service"]:
            continue
        place = _parse_location(number, words[2])
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
        raise Error("line 1: the file contains no compute node")
    _reject_torus(found)
    described = describe_xc_groups(found)
    if not incomplete:
        return described
    remark = (
        f"{counted(incomplete, 'line')} shorter than the heading: nodes without a type "
        "are taken as compute nodes"
    )
    return replace(described, remarks=(*described.remarks, remark))


def _check_hex(number: int, words: list[str]) -> None:
    if re.fullmatch(r"0x[0-9a-fA-F]{1,8}", words[1]) is None:
        raise Error(f"line {number}: '{words[1][:40]}' is not a number such as 0x1c7d")
    if int(words[1], 16) != int(words[0]):
        raise Error(
            f"line {number}: NID {words[0]} is not {words[1]}, which is "
            f"{int(words[1], 16)}; list the nodes again"
        )


def _parse_location(number: int, name: str) -> CrayLocation:
    match = _NAME.fullmatch(name)
    if match is None:
        raise Error(
            f"line {number}: '{name[:40]}' is not a node of an XC, such as c7-3c2s15n1"
        )
    return make_location(**{part: int(at) for part, at in match.groupdict().items()})


def _reject_torus(found: dict[CrayLocation, tuple[int, str]]) -> None:
    blades = {place.blade for place in found}
    last = max(place.slot for place in found)
    if last < BLADES_OF_XE < len(blades):
        line = min(line for line, _ in found.values())
        raise Error(
            f"line {line}: no blade is in a slot above {last}, as in Cray XT and XE "
            "systems; their network is a torus, which xtdb2proc describes; read its "
            "file"
        )
