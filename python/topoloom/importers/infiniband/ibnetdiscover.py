# SPDX-License-Identifier: BSD-3-Clause
"""Machines from InfiniBand fabrics: the output of `ibnetdiscover`."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

from topoloom._core import Error
from topoloom.importers.infiniband.fabric import Device, read_fabric
from topoloom.importers.infiniband.fat_tree import Cables, find_fat_tree
from topoloom.importers.infiniband.routes import (
    find_tables,
    list_host_ports,
    read_tables,
    table_options,
)
from topoloom.importers.machine_description import MachineDescription
from topoloom.importers.reachability import find_unreachable
from topoloom.support.units import counted

#: What managed switches call themselves.
_MANAGED = re.compile(r"MF0;([^:;]+):.*")
#: "n001 HCA-1", "n001 mlx5_0"
_HOST_AND_ADAPTER = re.compile(r"(\S+)\s+((?:HCA-|[a-z][a-z0-9]*_?)[0-9]+)")


def read_ibnetdiscover(text: str) -> MachineDescription:
    """Read the output of ``ibnetdiscover``.

    All adapters of a host are one node; hosts are in the order of their names, which
    precede the adapter's in its description (``n001 HCA-1``, ``n001 mlx5_0``).
    An adapter with another description is a node with its GUID as name, and the
    aggregation nodes within switches are left out.

    A regular fat tree, as `find_fat_tree` recognizes it, is a ``fattree:`` with
    d-mod-k routes, its nodes leaf by leaf. Any other fabric is a ``graph:``, its
    switches and routers in the order of their GUIDs, whose shortest routes share each
    message. Cables between the same two are one link with the sum of what they carry
    (`LANE_GBIT`). With the forwarding tables of all switches behind it, as from
    ``dump_fts`` or ``ibroute``, routes are the fabric's own, between the first adapters
    of two hosts. A remark says which it is.

    Raises
    ------
    topoloom.Error
        With the line of what is malformed or contradictory, such as a cable that only
        one of its ends lists.
    """
    end = find_tables(text)
    fabric = read_fabric(text[:end].splitlines())
    hosts = _hosts(fabric)
    number = _numbers(fabric, hosts)
    cables = _cables(fabric, number)
    _refuse_parts(hosts, cables)
    switches = _switch_names(fabric, number, len(hosts))
    if end < len(text):
        adapters = list(hosts.values())
        tables = read_tables(text, end, list_host_ports(adapters))
        options = list(table_options(fabric, adapters, number, tables))
        remark = f"routes: those of {counted(len(tables), 'forwarding table')}"
        described = _graph(hosts, number, cables, [*options, "routing=ecmp"], (remark,))
        return replace(described, switches=switches)
    if _is_tree(cables):  # there is only one route
        return replace(_graph(hosts, number, cables, [], ()), switches=switches)
    names = [*hosts, *switches]
    tree = find_fat_tree(len(hosts), cables, names.__getitem__)
    if isinstance(tree, str):
        remark = (
            f"assumed: all shortest routes share (ECMP); not a regular fat tree: {tree}"
        )
        described = _graph(hosts, number, cables, ["routing=ecmp"], (remark,))
        return replace(described, switches=switches)
    remark = (
        "assumed: d-mod-k routes, as of OpenSM's ftree; a regular fat tree: "
        f"{tree.summary}"
    )
    in_order = list(hosts)
    return MachineDescription(
        tree.text, tuple(in_order[host] for host in tree.hosts), remarks=(remark,)
    )


def _switch_names(
    fabric: dict[str, Device], number: dict[str, int], hosts: int
) -> tuple[str, ...]:
    """Name switches by their descriptions where these differ, else by their GUIDs."""
    names = sorted((vertex, name) for name, vertex in number.items() if vertex >= hosts)
    said = {name: _described_name(fabric[name].description) for _, name in names}
    times = Counter(said.values())
    return tuple(
        said[name] if said[name] and times[said[name]] == 1 else name
        for _, name in names
    )


def _described_name(description: str) -> str:
    """Find the name in ``MF0;leaf1:MQM8700/U1``, as managed switches write it."""
    managed = _MANAGED.fullmatch(description)
    return managed[1] if managed else description.strip()


def _graph(
    hosts: dict[str, list[Device]],
    number: dict[str, int],
    cables: Cables,
    options: list[str],
    remarks: tuple[str, ...],
) -> MachineDescription:
    links = {ends: sum(gbit) for ends, gbit in cables.items()}
    usual = Counter(links.values()).most_common(1)[0][0] if links else 0.0
    parts = [
        f"{a}-{b}" if gbit == usual else f"{a}-{b}@{_bandwidth(gbit)}"
        for (a, b), gbit in sorted(links.items())
    ]
    if links:
        parts.append(f"bandwidth={_bandwidth(usual)}")
    if _only_switches_forward(len(hosts), cables):
        parts.append("forward=no")
    parts += options
    switches = len(set(number.values())) - len(hosts)
    text = f"graph:{len(hosts)}+{switches}:{','.join(parts)}"
    return MachineDescription(text, tuple(hosts), remarks=remarks)


def _is_tree(cables: Cables) -> bool:
    """Whether no cable closes a circle."""
    part: dict[int, int] = {}

    def root(vertex: int) -> int:
        while (above := part.get(vertex, vertex)) != vertex:
            part[vertex] = part.get(above, above)
            vertex = above
        return vertex

    for a, b in cables:
        if root(a) == root(b):
            return False
        part[root(a)] = root(b)
    return True


def _only_switches_forward(hosts: int, cables: Cables) -> bool:
    """Whether hosts have several neighbors, and switches alone join all hosts.

    Where adapters are in separate fabrics, some hosts may meet in another host only.
    """
    beside: dict[int, set[int]] = {}
    for a, b in cables:
        beside.setdefault(a, set()).add(b)
        beside.setdefault(b, set()).add(a)
    if all(len(beside.get(host, ())) < 2 for host in range(hosts)):
        return False
    for start in beside[0]:
        reached, waiting = {start}, [start]
        while waiting:
            at = waiting.pop()
            if at >= hosts:
                waiting += beside[at] - reached
                reached |= beside[at]
        if reached.issuperset(range(hosts)):
            return True
    return False


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


def _cables(fabric: dict[str, Device], number: dict[str, int]) -> Cables:
    """List the Gbit/s of the cables between two vertices."""
    cables: dict[tuple[int, int], tuple[float, ...]] = {}
    for name, a in number.items():
        for port in fabric[name].ports.values():
            b = number.get(port.peer)
            # Each cable is met at both ends; a loop or an aggregation node at none.
            if b is not None and a < b:
                cables[a, b] = (*cables.get((a, b), ()), port.gbit)
    return cables


def _refuse_parts(hosts: dict[str, list[Device]], cables: Cables) -> None:
    alone = find_unreachable(len(hosts), [*cables, *((b, a) for a, b in cables)])
    if alone is not None:
        names = list(hosts)
        first, host = names[0], names[alone]
        raise Error(
            f"line {hosts[host][0].line}: no cables lead from host {host} to host "
            f"{first}; give one connected fabric"
        )


def _bandwidth(gbit: float) -> str:
    return f"{gbit / 8:.9g}GB/s"
