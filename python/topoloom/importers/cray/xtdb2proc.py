# SPDX-License-Identifier: BSD-3-Clause
"""Cray XT, XE and XC systems: reads the processor table from `xtdb2proc`."""

from __future__ import annotations

import re
from typing import NamedTuple

from topoloom._core import Error
from topoloom.importers.cray.node_locations import (
    BLADES_OF_XE,
    CrayLocation,
    describe_xc_groups,
    make_location,
)
from topoloom.importers.machine_description import MachineDescription
from topoloom.importers.torus_positions import check_torus_size, list_hosts_by_position

_FIELD = re.compile(r"\s*([a-z_]+)\s*=\s*(?:'([^']*)'|([^,']*))\s*")
#: Maximum number of nodes per router of a torus: SeaStar (XT) has 1, Gemini has 2.
#: Aries has 4.
_NODES_OF_GEMINI = 2


class _NodeRecord(NamedTuple):
    """A node, read from a line."""

    line: int
    nid: int
    compute: bool
    place: CrayLocation
    router: tuple[int, int, int]

    @property
    def host(self) -> str:
        return f"nid{self.nid:05d}"


def read_xtdb2proc(text: str) -> MachineDescription:
    """Read the table of processors of a Cray XT, XE, XK or XC system.

    The machine of an XT (SeaStar) is ``torus:XxYxZ``. The machine of an XE or XK
    (Gemini) is ``torus:XxYxZ,nodes=2,bandwidth.y=half``, because a Gemini has half the
    links in y. Coordinates are those of the system; positions without a compute node
    are vacant. An XC (Aries) has more than 8 blades per chassis or 2 nodes per router.
    It becomes the tree of `describe_xc_groups`, without service nodes. Nodes that are
    down are included. Host names have the form that launchers use: ``nid00012``.
    """
    records = _read_records(text)
    compute = [record for record in records if record.compute]
    if not compute:
        raise Error("line 1: the file contains no compute node")
    routers: dict[tuple[int, ...], list[_NodeRecord]] = {}
    for record in records:
        routers.setdefault(record.router, []).append(record)
    nodes = max(map(len, routers.values()))
    if nodes > _NODES_OF_GEMINI or any(r.place.slot >= BLADES_OF_XE for r in records):
        return describe_xc_groups({r.place: (r.line, r.host) for r in compute})
    far = [max(records, key=lambda record: record.router[axis]) for axis in range(3)]
    size = [record.router[axis] + 1 for axis, record in enumerate(far)]
    check_torus_size(size, nodes, far[size.index(max(size))].line)
    hosts = {
        router: sorted(record.host for record in here if record.compute)
        for router, here in routers.items()
    }
    is_gemini = nodes == _NODES_OF_GEMINI
    routers_of = f",nodes={nodes},bandwidth.y=half" if is_gemini else ""
    return MachineDescription(
        f"torus:{'x'.join(map(str, size))}{routers_of}",
        list_hosts_by_position(size, nodes, hosts),
        network="gemini" if is_gemini else "seastar",
    )


def _read_records(text: str) -> list[_NodeRecord]:
    records: list[_NodeRecord] = []
    lines_of: dict[str, int] = {}
    for number, raw in enumerate(text.splitlines(), 1):
        if not raw.strip() or raw.lstrip().startswith("#"):
            continue
        record = _make_record(number, _parse_fields(number, raw))
        for name in (record.host, record.place.name):
            first = lines_of.setdefault(name, number)
            if first != number:
                raise Error(
                    f"line {number}: {name} is listed twice, first on line {first}; "
                    "keep one"
                )
        records.append(record)
    return records


def _parse_fields(number: int, line: str) -> dict[str, str]:
    fields: dict[str, str] = {}
    at = 0
    while at <= len(line):
        match = _FIELD.match(line, at)
        if match is None or line[match.end() : match.end() + 1] not in ("", ","):
            raise Error(
                f"line {number}: expected fields, such as 'cpu=0,slot=2,...', not "
                f"'{line[at : at + 40].strip()}'"
            )
        if match[1] in fields:
            raise Error(f"line {number}: {match[1]} is given twice; keep one")
        fields[match[1]] = match[3].strip() if match[2] is None else match[2]
        at = match.end() + 1
    return fields


def _make_record(number: int, fields: dict[str, str]) -> _NodeRecord:
    def parse_integer(key: str) -> int:
        text = _get_field(number, fields, key)
        if re.fullmatch(r"[0-9]{1,9}", text) is None:
            raise Error(f"line {number}: {key}={text[:40]} is not an integer")
        return int(text)

    kind = _get_field(number, fields, "processor_type")
    if kind not in ("compute", "service"):
        raise Error(
            f"line {number}: processor_type is '{kind[:40]}'; there are: compute, "
            "service"
        )
    column, row = parse_integer("cab_position"), parse_integer("cab_row")
    cage, slot, cpu = parse_integer("cage"), parse_integer("slot"), parse_integer("cpu")
    return _NodeRecord(
        number,
        parse_integer("processor_id"),
        kind == "compute",
        make_location(column, row, cage, slot, cpu),
        (parse_integer("x_coord"), parse_integer("y_coord"), parse_integer("z_coord")),
    )


def _get_field(number: int, fields: dict[str, str], key: str) -> str:
    if key not in fields:
        raise Error(f"line {number}: the record lacks its '{key}='")
    return fields[key]
