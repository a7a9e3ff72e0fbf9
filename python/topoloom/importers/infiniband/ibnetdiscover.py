# SPDX-License-Identifier: BSD-3-Clause
"""Machines from InfiniBand fabrics: the output of `ibnetdiscover`."""

from __future__ import annotations

import re
from collections import Counter

from topoloom._core import Error
from topoloom.importers.described import Described
from topoloom.importers.infiniband.fabric import Device, read_fabric
from topoloom.importers.infiniband.routes import (
    given_routes,
    read_tables,
    starts_tables,
)
from topoloom.importers.reach import first_unreached

_IS_FABRIC = re.compile(
    r'^(?:Switch|Ca|Rt)[ \t]+[0-9]+[ \t]+"[SHR]-[0-9a-f]{16}"', re.MULTILINE
)
#: "n001 HCA-1", "n001 mlx5_0"
_HOST_AND_ADAPTER = re.compile(r"(\S+)\s+((?:HCA-|[a-z][a-z0-9]*_?)[0-9]+)")


def recognizes_ibnetdiscover(text: str) -> bool:
    """Return whether a line begins a switch, adapter or router."""
    return _IS_FABRIC.search(text) is not None


def read_ibnetdiscover(text: str) -> Described:
    """Read the output of ``ibnetdiscover``.

    All adapters of a host are one node; hosts are in the order of their names, which
    precede the adapter's in its description (``n001 HCA-1``, ``n001 mlx5_0``).
    An adapter with another description is a node with its GUID as name, and the
    aggregation nodes within switches are left out. The machine is a ``graph:``, its
    switches and routers in the order of their GUIDs. Cables between the same two
    are one link with the sum of what they carry (`LANE_GBIT`).

    Routes are shortest paths, the lowest GUID first where there are several. With the
    forwarding tables of all switches behind it, as from ``dump_lfts.sh`` or
    ``ibroute``, they are the fabric's own, between the first adapters of two hosts. A
    machine text lists routes pair by pair, so that is refused for more than 45 hosts
    (2,000 pairs).

    Raises
    ------
    topoloom.Error
        With the line of what is malformed or contradictory, such as a cable that only
        one of its ends lists.
    """
    lines = text.splitlines()
    end = next((i for i, line in enumerate(lines) if starts_tables(line)), len(lines))
    fabric = read_fabric(lines[:end])
    hosts = _hosts(fabric)
    number = _numbers(fabric, hosts)
    links = _links(fabric, number)
    _refuse_parts(hosts, links)
    usual = Counter(links.values()).most_common(1)[0][0] if links else 0.0
    parts = [
        f"{a}-{b}" if gbit == usual else f"{a}-{b}@{_bandwidth(gbit)}"
        for (a, b), gbit in sorted(links.items())
    ]
    if links:
        parts.append(f"bandwidth={_bandwidth(usual)}")
    if end < len(lines):
        tables = read_tables(lines[end:], end)
        for route in given_routes(fabric, list(hosts.values()), number, tables):
            parts.append(f"route={'>'.join(map(str, route))}")
    switches = len(set(number.values())) - len(hosts)
    return Described(f"graph:{len(hosts)}+{switches}:{','.join(parts)}", tuple(hosts))


def _hosts(fabric: dict[str, Device]) -> dict[str, list[Device]]:
    """Group cabled adapters by host; hosts in natural order, adapters by GUID."""
    by_host: dict[str, list[Device]] = {}
    seen: dict[str, Device] = {}
    for name in sorted(fabric):
        device = fabric[name]
        if not name.startswith("H") or not device.ports:
            continue
        description = device.description
        if "Aggregation Node" in description:
            continue
        match = _HOST_AND_ADAPTER.fullmatch(description)
        if match is None and (not description or " " in description):
            by_host[name] = [device]
            continue
        other = seen.setdefault(description, device)
        if other is not device:
            raise Error(
                f"line {device.line}: the adapter calls itself '{description}', "
                f"as does that on line {other.line}; name both in a --node-name-map"
            )
        by_host.setdefault(match[1] if match else description, []).append(device)
    if not by_host:
        raise Error("line 1: no adapter (Ca) of a host has a cable")
    return {host: by_host[host] for host in sorted(by_host, key=_natural)}


def _natural(name: str) -> list[tuple[int, str]]:
    """Sort n2 before n10: numbers by length, then digits."""
    pieces = re.split(r"([0-9]+)", name)
    return [
        (len(digits := piece.lstrip("0")), digits) if i % 2 else (0, piece)
        for i, piece in enumerate(pieces)
    ]


def _numbers(
    fabric: dict[str, Device], hosts: dict[str, list[Device]]
) -> dict[str, int]:
    """Give the vertex of every device: hosts come first, then switches."""
    number = {device.name: i for i, host in enumerate(hosts) for device in hosts[host]}
    inner = sorted(name for name in fabric if not name.startswith("H"))
    return number | {name: i for i, name in enumerate(inner, len(hosts))}


def _links(
    fabric: dict[str, Device], number: dict[str, int]
) -> dict[tuple[int, int], float]:
    """Add up the Gbit/s of the cables between two vertices."""
    links: dict[tuple[int, int], float] = {}
    for name, a in number.items():
        for port in fabric[name].ports.values():
            b = number.get(port.peer)
            # Each cable is met at both ends; a loop or an aggregation node at none.
            if b is not None and a < b:
                links[a, b] = links.get((a, b), 0.0) + port.gbit
    return links


def _refuse_parts(
    hosts: dict[str, list[Device]], links: dict[tuple[int, int], float]
) -> None:
    alone = first_unreached(len(hosts), [*links, *((b, a) for a, b in links)])
    if alone is not None:
        names = list(hosts)
        first, host = names[0], names[alone]
        raise Error(
            f"line {hosts[host][0].line}: no cables lead from host {host} to host "
            f"{first}; give one connected fabric"
        )


def _bandwidth(gbit: float) -> str:
    return f"{gbit / 8:.9g}GB/s"
