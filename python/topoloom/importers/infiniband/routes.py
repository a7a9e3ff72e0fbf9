# SPDX-License-Identifier: BSD-3-Clause
"""Reads the routes of an InfiniBand fabric from its switches' forwarding tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from topoloom._core import Error
from topoloom.importers.infiniband.fabric import Device, Port

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_HEADS = re.compile(r"^Unicast lids .*", re.MULTILINE)
_GUID = re.compile(r"\bguid 0x([0-9a-f]{1,16})\b")
_ENTRY = re.compile(r"^0x([0-9a-f]{1,6})\s+([0-9]{1,3})\b", re.MULTILINE)
_NO_VERTEX = -1
#: Port numbers in forwarding tables have up to three digits.
_NO_PORT = 1000
#: Letters that denote the first links of a vertex in machine text.
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


class ForwardingTable(NamedTuple):
    """The forwarding table of a switch: the port for each host."""

    line: int
    ports: NDArray[np.int32]


class HostPort(NamedTuple):
    """The port through which messages enter and leave a host."""

    adapter: str
    port: Port


def find_tables_start(text: str) -> int:
    """Return the start of the first forwarding table, or the end of the text."""
    head = _HEADS.search(text)
    return len(text) if head is None else head.start()


def list_host_ports(hosts: Sequence[list[Device]]) -> list[HostPort]:
    """Choose the first port of the first adapter of each host."""
    return [HostPort(host[0].name, host[0].ports[min(host[0].ports)]) for host in hosts]


def read_tables(
    text: str, start: int, host_ports: Sequence[HostPort]
) -> dict[str, ForwardingTable]:
    """Read the forwarding tables after `start`; keys are switches (``S-guid``)."""
    import numpy as np

    lids = np.array([door.port.lid for door in host_ports], dtype=np.int64)
    port_of_lid = np.empty(int(lids.max()) + 1, dtype=np.int32)
    tables: dict[str, ForwardingTable] = {}
    line, before = 1, 0
    heads = list(_HEADS.finditer(text, start))
    for head, following in zip(heads, [*heads[1:], None], strict=True):
        line += text.count("\n", before, head.start())
        before = head.start()
        guid = _GUID.search(head[0])
        if guid is None:
            raise Error(f"line {line}: the table's head has no guid 0x...")
        name = f"S-{guid[1]:0>16}"
        if name in tables:
            raise Error(
                f"line {line}: the forwarding table of {name} appears twice, "
                f"first on line {tables[name].line}; keep one"
            )
        end = len(text) if following is None else following.start()
        entries = _ENTRY.findall(text, head.end(), end)
        port_of_lid.fill(_NO_PORT)
        for lid, port in entries:
            if (number := int(lid, 16)) < len(port_of_lid):
                port_of_lid[number] = int(port)
        tables[name] = ForwardingTable(line, port_of_lid[lids])
    return tables


def format_table_options(
    fabric: dict[str, Device],
    hosts: Sequence[list[Device]],
    number: dict[str, int],
    tables: dict[str, ForwardingTable],
) -> Iterator[str]:
    """Format forwarding tables as options of machine text.

    Raises `topoloom.Error` if the tables do not connect all pairs of hosts.
    """
    import numpy as np

    host_ports = list_host_ports(hosts)
    names = {vertex: name for name, vertex in number.items() if vertex >= len(hosts)}
    following = np.full((len(names), len(hosts)), _NO_VERTEX, dtype=np.int32)
    for vertex, name in names.items():
        if name not in tables:
            continue
        beyond = np.full(_NO_PORT + 1, _NO_VERTEX, dtype=np.int32)
        for port, end in fabric[name].ports.items():
            if port < _NO_PORT:
                beyond[port] = number.get(end.peer, _NO_VERTEX)
        following[vertex - len(hosts)] = beyond[tables[name].ports]
    _check_routes(fabric, names, host_ports, number, tables, following)
    for host, door in enumerate(host_ports):
        ends = _list_neighbors(hosts[host], number, len(hosts))
        if len(ends) > 1:
            port = ends.index(number[door.port.peer])
            yield f"table={host}:{len(hosts)}{_encode_link(port)}"
    for vertex, name in sorted(names.items()):
        row = following[vertex - len(hosts)]
        if (row >= 0).any():
            ends = _list_neighbors([fabric[name]], number, len(hosts))
            yield f"table={vertex}:{_encode_runs(row, ends)}"


def _list_neighbors(
    devices: list[Device], number: dict[str, int], hosts: int
) -> list[int]:
    """List the neighbors of a host's devices in table order: switches, then hosts."""
    own = number[devices[0].name]
    ends = {
        number[port.peer]
        for device in devices
        for port in device.ports.values()
        if port.peer in number
    }
    return sorted(ends - {own}, key=lambda vertex: (vertex < hosts, vertex))


def _encode_runs(row: NDArray[np.int32], ends: list[int]) -> str:
    """Encode next vertices as indices into `ends`, with run lengths: ``20a(53)3-``."""
    import numpy as np

    letters = {vertex: _encode_link(port) for port, vertex in enumerate(ends)}
    changes = np.flatnonzero(np.diff(row)) + 1
    starts = np.concatenate(([0], changes))
    counts = np.diff(np.concatenate((starts, [len(row)])))
    return "".join(
        (str(count) if count > 1 else "") + letters.get(vertex, "-")
        for count, vertex in zip(counts.tolist(), row[starts].tolist(), strict=True)
    )


def _encode_link(port: int) -> str:
    return _LETTERS[port] if port < len(_LETTERS) else f"({port})"


def _check_routes(
    fabric: dict[str, Device],
    names: dict[int, str],
    host_ports: Sequence[HostPort],
    number: dict[str, int],
    tables: dict[str, ForwardingTable],
    following: NDArray[np.int32],
) -> None:
    """Check that routes lead from all switches with hosts to all hosts."""
    import numpy as np

    hosts = len(host_ports)
    entries = sorted({number.get(door.port.peer, _NO_VERTEX) for door in host_ports})
    at = np.repeat(np.array(entries, dtype=np.int32), hosts)
    target = np.tile(np.arange(hosts, dtype=np.int32), len(entries))
    for _ in range(len(names) + 1):
        moving = at != target
        at, target = at[moving], target[moving]
        if len(at) == 0:
            return
        if (astray := at < hosts).any():
            break
        onward = following[at - hosts, target]
        if (ends_here := onward < 0).any():
            first = int(np.flatnonzero(ends_here)[0])
            raise _describe_missing_route(
                fabric[names[int(at[first])]],
                tables,
                host_ports[int(target[first])].port.lid,
            )
        at = onward
    else:
        astray = np.ones(len(at), dtype=bool)
    first = int(np.flatnonzero(astray)[0])
    stop, door = int(at[first]), host_ports[int(target[first])]
    name = (
        names[stop] if stop >= hosts else host_ports[stop].adapter if stop >= 0 else ""
    )
    line = tables[name].line if name in tables else fabric[door.adapter].line
    raise Error(
        f"line {line}: by the forwarding tables a message for LID {door.port.lid} "
        f"comes to {name}, which does not lead to {door.adapter}; dump them again"
    )


def _describe_missing_route(
    device: Device, tables: dict[str, ForwardingTable], lid: int
) -> Error:
    table = tables.get(device.name)
    if table is None:
        return Error(
            f"line {device.line}: {device.name} has no forwarding table; dump those of "
            "all switches"
        )
    return Error(
        f"line {table.line}: the forwarding table of {device.name} names no cabled "
        f"port for LID {lid}; dump it again"
    )
