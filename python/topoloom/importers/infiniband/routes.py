# SPDX-License-Identifier: BSD-3-Clause
"""Routes of an InfiniBand fabric, from the forwarding tables of its switches."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from topoloom._core import Error
from topoloom.importers.infiniband.fabric import Device, Port

_MAX_PAIRS = 2_000
_HEAD = re.compile(r"Unicast lids .*\bguid 0x([0-9a-f]{1,16})\b")
_ENTRY = re.compile(r"0x([0-9a-f]{1,6})\s+([0-9]{1,3})\b")


@dataclass
class Table:
    """A switch's forwarding table: port by LID."""

    line: int
    port: dict[int, int] = field(default_factory=dict)


def starts_tables(line: str) -> bool:
    """Return whether a line begins a switch's forwarding table."""
    return line.startswith("Unicast lids ")


def read_tables(lines: list[str], before: int) -> dict[str, Table]:
    """Read tables by switch (``S-guid``); `before` lines precede the first."""
    tables: dict[str, Table] = {}
    table: Table | None = None
    for number, line in enumerate(lines, before + 1):
        if starts_tables(line):
            head = _HEAD.match(line)
            if head is None:
                raise Error(f"line {number}: the table's head has no guid 0x...")
            table = Table(number)
            name = f"S-{head[1]:0>16}"
            first = tables.setdefault(name, table)
            if first is not table:
                raise Error(
                    f"line {number}: the forwarding table of {name} appears twice, "
                    f"first on line {first.line}; keep one"
                )
            continue
        entry = _ENTRY.match(line)
        if entry is None:
            continue  # captions, and the count of entries
        assert table is not None  # the first line starts one
        table.port[int(entry[1], 16)] = int(entry[2])
    return tables


def given_routes(
    fabric: dict[str, Device],
    hosts: list[list[Device]],
    number: dict[str, int],
    tables: dict[str, Table],
) -> Iterator[list[int]]:
    """Follow the tables for every ordered pair of hosts; yield vertex numbers."""
    pairs = len(hosts) * (len(hosts) - 1)
    if pairs > _MAX_PAIRS:
        raise Error(
            f"line 1: {len(hosts)} hosts have {pairs} routes, over {_MAX_PAIRS}; "
            "leave the forwarding tables out, and routes are shortest paths"
        )
    doors = [_first_port(adapters) for adapters in hosts]
    for a, (_, leaving) in enumerate(doors):
        for b, (end, entering) in enumerate(doors):
            if a == b:
                continue
            route, at = [a], leaving.peer
            while number.get(at) != b:
                if number.get(at) in route or at.startswith("H"):
                    raise Error(
                        f"line {tables[at].line if at in tables else leaving.line}: by "
                        f"the forwarding tables a message for LID {entering.lid} comes "
                        f"to {at}, which does not lead to {end.name}; dump them again"
                    )
                route.append(number[at])
                at = _next(fabric[at], tables, entering.lid)
            yield [*route, b]


def _first_port(adapters: list[Device]) -> tuple[Device, Port]:
    device = adapters[0]
    port = device.ports[min(device.ports)]
    return device, port


def _next(device: Device, tables: dict[str, Table], lid: int) -> str:
    table = tables.get(device.name)
    if table is None:
        raise Error(
            f"line {device.line}: {device.name} has no forwarding table; dump those of "
            "all switches"
        )
    port = device.ports.get(table.port.get(lid, -1))
    if port is None:
        raise Error(
            f"line {table.line}: the forwarding table of {device.name} names no cabled "
            f"port for LID {lid}; dump it again"
        )
    return port.peer
