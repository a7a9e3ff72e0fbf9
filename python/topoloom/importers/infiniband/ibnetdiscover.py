# SPDX-License-Identifier: BSD-3-Clause
"""Reads machines from InfiniBand fabrics: the output of `ibnetdiscover`."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

from topoloom._core import Error
from topoloom.importers.infiniband.fabric import Device, read_fabric
from topoloom.importers.infiniband.fat_tree import Cables, find_fat_tree
from topoloom.importers.infiniband.routes import (
    find_tables_start,
    format_table_options,
    list_host_ports,
    read_tables,
)
from topoloom.importers.machine_description import MachineDescription
from topoloom.importers.reachability import (
    find_neighbors,
    find_reachable,
    find_unreachable_vertex,
)
from topoloom.nodes.host_text import format_vacant_name
from topoloom.support.units import counted

#: Pattern that descriptions of managed switches match.
_MANAGED = re.compile(r"MF0;([^:;]+):.*")
_GUID = re.compile(r"H-[0-9a-f]{16}")
#: "n001 HCA-1", "n001 mlx5_0"
_HOST_AND_ADAPTER = re.compile(r"(\S+)\s+((?:HCA-|[a-z][a-z0-9]*_?)[0-9]+)")


def read_ibnetdiscover(text: str) -> MachineDescription:
    """Read the output of ``ibnetdiscover``.

    A host, named at the start of descriptions (``n001 HCA-1``, ``n001 mlx5_0``), is a
    node with all its adapters, and with those of the same system image GUID. Other
    adapters without a host name are vacant nodes behind the hosts; if no adapter has
    one, they are nodes without names. Aggregation nodes in switches are omitted. Nodes
    are sorted by name. Remarks count what is omitted or has no name.

    A regular fat tree, as `find_fat_tree` recognizes it, becomes ``fattree:`` with
    d-mod-k routes, its nodes leaf by leaf. Any other fabric becomes ``graph:``, its
    switches and routers sorted by GUID, and each message is split over all shortest
    routes. Parallel cables become one link with the sum of their rates (`LANE_GBIT`).
    If the forwarding tables of all switches follow, from ``dump_fts`` or ``ibroute``,
    the machine uses their routes between the first adapters of hosts. A remark says
    which of these routes are used.
    """
    end = find_tables_start(text)
    fabric, remarks = read_fabric(text[:end].splitlines())
    hosts, about_hosts = _group_adapters_by_host(fabric)
    described = _describe_fabric(text, end, fabric, hosts)
    return replace(
        described,
        hosts=_name_nodes(described.hosts),
        remarks=(
            *remarks,
            *about_hosts,
            *_describe_nameless_switches(fabric),
            *described.remarks,
        ),
    )


def _name_nodes(hosts: tuple[str, ...]) -> tuple[str, ...]:
    """Replace the GUIDs of vacant nodes; () if no host has a name."""
    if all(map(_GUID.fullmatch, hosts)):
        return ()
    return tuple(
        format_vacant_name(node) if _GUID.fullmatch(host) else host
        for node, host in enumerate(hosts)
    )


def _describe_fabric(
    text: str, end: int, fabric: dict[str, Device], hosts: dict[str, list[Device]]
) -> MachineDescription:
    """Describe the fabric; its forwarding tables begin at `end`, if there are any."""
    number = _number_devices(fabric, hosts)
    cables = _list_cables(fabric, number)
    _require_connected(hosts, cables)
    switches = _name_switches(fabric, number, len(hosts))
    if end < len(text):
        adapters = list(hosts.values())
        tables = read_tables(text, end, list_host_ports(adapters))
        options = list(format_table_options(fabric, adapters, number, tables))
        remark = f"routes: those of {counted(len(tables), 'forwarding table')}"
        described = _build_graph(
            hosts, number, cables, [*options, "routing=ecmp"], (remark,)
        )
        return replace(described, switches=switches)
    if _is_tree(cables):  # a tree has only one route between nodes
        return replace(_build_graph(hosts, number, cables, [], ()), switches=switches)
    names = [*hosts, *switches]
    tree = find_fat_tree(len(hosts), cables, names.__getitem__)
    if isinstance(tree, str):
        remark = (
            f"assumed: all shortest routes share (ECMP); not a regular fat tree: {tree}"
        )
        described = _build_graph(hosts, number, cables, ["routing=ecmp"], (remark,))
        return replace(described, switches=switches)
    remark = (
        "assumed: d-mod-k routes, as of OpenSM's ftree; a regular fat tree: "
        f"{tree.summary}"
    )
    in_order = list(hosts)
    return MachineDescription(
        tree.text, tuple(in_order[host] for host in tree.hosts), remarks=(remark,)
    )


def _name_switches(
    fabric: dict[str, Device], number: dict[str, int], hosts: int
) -> tuple[str, ...]:
    """Name switches by their descriptions if unique, else by their GUIDs."""
    names = sorted((vertex, name) for name, vertex in number.items() if vertex >= hosts)
    described = {
        name: _parse_switch_name(fabric[name].description) for _, name in names
    }
    times = Counter(described.values())
    return tuple(
        given if (given := described[name]) and times[given] == 1 else name
        for _, name in names
    )


def _describe_nameless_switches(fabric: dict[str, Device]) -> list[str]:
    count = sum(
        name.startswith("S") and not device.description.strip()
        for name, device in fabric.items()
    )
    what = f"{count:,} switch{'es' if count > 1 else ''}"
    return [f"{what} without a name: the GUID is used"] if count else []


def _parse_switch_name(description: str) -> str:
    """Find the name in a managed switch's description, ``MF0;leaf1:MQM8700/U1``."""
    managed = _MANAGED.fullmatch(description)
    return managed[1] if managed else description.strip()


def _build_graph(
    hosts: dict[str, list[Device]],
    number: dict[str, int],
    cables: Cables,
    options: list[str],
    remarks: tuple[str, ...],
) -> MachineDescription:
    links = {ends: sum(gbit) for ends, gbit in cables.items()}
    usual = Counter(links.values()).most_common(1)[0][0] if links else 0.0
    parts = [
        f"{a}-{b}" if gbit == usual else f"{a}-{b}@{_format_bandwidth(gbit)}"
        for (a, b), gbit in sorted(links.items())
    ]
    if links:
        parts.append(f"bandwidth={_format_bandwidth(usual)}")
    if _is_connected_by_switches(len(hosts), cables):
        parts.append("forward=no")
    parts += options
    switches = len(set(number.values())) - len(hosts)
    text = f"graph:{len(hosts)}+{switches}:{','.join(parts)}"
    return MachineDescription(text, tuple(hosts), remarks=remarks)


def _is_tree(cables: Cables) -> bool:
    """Return whether the cables contain no cycle."""
    part: dict[int, int] = {}

    def find_root(vertex: int) -> int:
        while (above := part.get(vertex, vertex)) != vertex:
            part[vertex] = part.get(above, above)
            vertex = above
        return vertex

    for a, b in cables:
        if find_root(a) == find_root(b):
            return False
        part[find_root(a)] = find_root(b)
    return True


def _is_connected_by_switches(hosts: int, cables: Cables) -> bool:
    """Return whether some host has several neighbors, and switches connect all hosts.

    If adapters are in separate fabrics, some hosts may be connected only through other
    hosts.
    """
    neighbors = find_neighbors(cables)
    if all(len(neighbors.get(host, ())) < 2 for host in range(hosts)):
        return False
    of_switches = {one: ends for one, ends in neighbors.items() if one >= hosts}
    return any(
        find_reachable([start], of_switches).issuperset(range(hosts))
        for start in neighbors[0]
    )


def _group_adapters_by_host(
    fabric: dict[str, Device],
) -> tuple[dict[str, list[Device]], list[str]]:
    """Group connected adapters by host; sort hosts naturally, adapters by GUID.

    Adapters without a host name follow by their first GUID. Also return remarks.
    """
    adapters = [fabric[name] for name in sorted(fabric) if name.startswith("H")]
    inner = [one for one in adapters if "Aggregation Node" in one.description]
    unused = [one for one in adapters if not one.ports and one not in inner]
    used = [one for one in adapters if one.ports and one not in inner]
    host_of = {one.name: _parse_host_name(one.description) for one in used}
    _require_different_names(used)
    by_system: dict[str, str] = {}
    for one in used:
        if one.system and (host := host_of[one.name]):
            by_system.setdefault(one.system, host)
    by_host: dict[str, list[Device]] = {}
    unnamed: dict[str, list[Device]] = {}
    for one in used:
        if host := host_of[one.name] or by_system.get(one.system, ""):
            by_host.setdefault(host, []).append(one)
        else:
            unnamed.setdefault(one.system or one.name, []).append(one)
    if not used:
        raise Error("line 1: no adapter (Ca) of a host has a cable")
    remarks = []
    if inner:
        remarks.append(f"{counted(len(inner), 'aggregation node')} in switches omitted")
    if unused:
        remarks.append(f"{counted(len(unused), 'adapter')} without a cable omitted")
    if unnamed:
        count = counted(sum(map(len, unnamed.values())), "adapter")
        what = "vacant places" if by_host else "nodes without host names"
        remarks.append(
            f"{count} without a host name: {what}; a --node-name-map names them"
        )
    grouped = {host: by_host[host] for host in sorted(by_host, key=_natural_sort_key)}
    return {**grouped, **{part[0].name: part for part in unnamed.values()}}, remarks


def _parse_host_name(description: str) -> str:
    """Find the host in an adapter's description; "" if it names none."""
    match = _HOST_AND_ADAPTER.fullmatch(description)
    if match is not None:
        return match[1]
    return "" if " " in description else description


def _require_different_names(adapters: list[Device]) -> None:
    """Raise an error if two boards have one name of host and adapter."""
    seen: dict[str, Device] = {}
    for device in adapters:
        if not _parse_host_name(device.description):
            continue
        other = seen.setdefault(device.description, device)
        is_same_board = device.system and device.system == other.system
        if other is not device and not is_same_board:
            raise Error(
                f"line {device.line}: the adapter calls itself '{device.description}', "
                f"as does that on line {other.line}; name both in a --node-name-map"
            )


def _natural_sort_key(name: str) -> list[tuple[int, str]]:
    """Return a natural sort key: n2 before n10."""
    pieces = re.split(r"([0-9]+)", name)
    return [
        (len(digits := piece.lstrip("0")), digits) if i % 2 else (0, piece)
        for i, piece in enumerate(pieces)
    ]


def _number_devices(
    fabric: dict[str, Device], hosts: dict[str, list[Device]]
) -> dict[str, int]:
    """Assign vertices to all devices: hosts first, then switches."""
    number = {device.name: i for i, host in enumerate(hosts) for device in hosts[host]}
    inner = sorted(name for name in fabric if not name.startswith("H"))
    return number | {name: i for i, name in enumerate(inner, len(hosts))}


def _list_cables(fabric: dict[str, Device], number: dict[str, int]) -> Cables:
    """List the Gbit/s of each cable between two vertices."""
    cables: dict[tuple[int, int], tuple[float, ...]] = {}
    for name, a in number.items():
        for port in fabric[name].ports.values():
            b = number.get(port.peer)
            # Each cable is listed at both ends; skip loops and aggregation nodes.
            if b is not None and a < b:
                cables[a, b] = (*cables.get((a, b), ()), port.gbit)
    return cables


def _require_connected(hosts: dict[str, list[Device]], cables: Cables) -> None:
    alone = find_unreachable_vertex(len(hosts), [*cables, *((b, a) for a, b in cables)])
    if alone is not None:
        names = list(hosts)
        first, host = names[0], names[alone]
        raise Error(
            f"line {hosts[host][0].line}: no cables lead from host {host} to host "
            f"{first}; pass one connected fabric"
        )


def _format_bandwidth(gbit: float) -> str:
    return f"{gbit / 8:.9g}GB/s"
