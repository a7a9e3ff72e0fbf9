# SPDX-License-Identifier: BSD-3-Clause
"""Reads allocations from text: host lists, host names, node ids or coordinates.

A line of an allocation file is one of

- ``n012`` or ``n[001-064,070]``: hosts, by the names of the machine's nodes. Without
  names, the last digits before the first dot are the node id: ``n012.cluster`` is node
  12. In a rail network, whose nodes are GPUs, these digits are a host number, and all
  GPUs of the host are meant;
- ``17``: a node id;
- ``3 4 5`` or ``3,4,5``: the coordinates of a node of a torus or mesh;
- ``(3,4,5)``, the format of vcoordfile and rank-map-hostfile in Fujitsu's PJM:
  coordinates, one line per rank; nodes are in the order in which they first occur;
- ``login1 17`` or ``login1 3 4 5``: a host name and its node, for names that do not end
  in the node id.

``#`` starts a comment. The order of the lines is the order in which the launcher
fills the nodes. Duplicate and unknown nodes are errors.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from topoloom._core import Allocation, Error, Machine
from topoloom.nodes.host_text import drop_vacant, is_vacant
from topoloom.nodes.hosts import host_count, list_nodes_of_hosts
from topoloom.support.file_kinds import ALLOCATION, check_file_kind
from topoloom.support.files import exists, prefix_errors, read_text, write_text
from topoloom.support.hostlist import compress_hostlist, expand_hostlist
from topoloom.support.plain_text import check_characters, is_number, shorten
from topoloom.support.units import counted

_NUMBERS = re.compile(r"[+-]?[0-9]+(?:[\s,]+[+-]?[0-9]+)*")
_HOST_AND_PLACE = re.compile(
    r"(?=[^A-Za-z\s]*[A-Za-z])([\w.\-]+)\s+([0-9]+(?:[\s,]+[0-9]+)*)"
)
_LETTER = re.compile(r"[A-Za-z]")
#: Fujitsu's syntax: ``(x,y,z)``, with an optional core.
_VCOORD = re.compile(r"\(\s*([0-9]+(?:\s*,\s*[0-9]+)*)\s*\)(?:\s+core=[0-9]+)?")
#: Maximum number of names that are compared to suggest one, to bound the time.
_MAX_COMPARED_NAMES = 2_000
_TRAILING_DIGITS = re.compile(r"[0-9]{1,18}$")
_MAX_DIGITS = 20


@dataclass(frozen=True)
class AllocatedHosts:
    """An allocation, and the names of its hosts if known.

    Attributes
    ----------
    allocation
        The allocated slots in the launcher's order.
    hosts
        ``hosts[i]`` is the host name of ``allocation.nodes[i]``; None if unknown.
    remark
        What was assumed about the nodes; empty if nothing was.
    """

    allocation: Allocation
    hosts: tuple[str, ...] | None = None
    remark: str = ""

    def part(self, allocation: Allocation) -> AllocatedHosts:
        """Add host names to a subset of this allocation, in any order."""
        if self.hosts is None:
            return replace(self, allocation=allocation)
        names = dict(zip(self.allocation.nodes.tolist(), self.hosts, strict=True))
        hosts = tuple(names[node] for node in allocation.nodes.tolist())
        return replace(self, allocation=allocation, hosts=hosts)


class _HostLine(NamedTuple):
    line: int
    node: int
    host: str | None
    is_per_rank: bool  # True if lines are per rank: a node may occur on several lines


class _NodeLookup:
    """The nodes of a machine, by id, coordinates or host name."""

    def __init__(self, machine: Machine, hosts: Sequence[str]) -> None:
        if hosts and len(hosts) != machine.node_count:
            raise Error(
                f"{counted(len(hosts), 'host name')} for "
                f"{counted(machine.node_count, 'node')}"
            )
        self.machine = machine
        self.hosts = hosts
        #: The first host that was found by its number, and this number.
        self.numbered: tuple[str, int] | None = None
        self.down = set(range(machine.node_count)) if machine.has_failures else set()
        self.down.difference_update(machine.nodes_up.tolist() if self.down else ())
        #: Host names, each once, although a host may have several nodes.
        self.names = hosts[:: machine.nodes_per_host]
        self._by_name = {host: number for number, host in enumerate(self.names)}
        self._by_short_name: dict[str, int | None] = {}
        for number, host in enumerate(self.names):
            short = host.partition(".")[0]
            # Short names that several hosts share, or the first number of an IP
            # address.
            unclear = short in self._by_short_name or is_number(short)
            self._by_short_name[short] = None if unclear else number

    def find_host_number(self, host: str) -> int | None:
        """Find the number of a host by its name, with or without the domain."""
        if host in self._by_name:
            return self._by_name[host]
        short, dot, _ = host.partition(".")
        if not dot:
            return self._by_short_name.get(host)
        return None if is_number(short) else self._by_name.get(short)


def load_allocation(
    machine: Machine, source: str | Path, hosts: Sequence[str] = ()
) -> AllocatedHosts:
    """Read an allocation from a file, or from an inline host list.

    Parameters
    ----------
    machine
        The machine of the nodes.
    source
        A file in the format above, or a host list such as ``n[001-064,070]``.
    hosts
        The names of all nodes of the machine; empty if they have none.

    Raises
    ------
    topoloom.Error
        If a line cannot be read, or a node is unknown or named twice.
    OSError
        If the file cannot be read.
    """
    nodes = _NodeLookup(machine, hosts)
    inline = str(source)
    if not inline.strip():  # probably because a variable of the batch job is unset
        raise Error("the allocation is empty; name a file, or hosts such as n[12]")
    listed = (
        "[" in inline or "," in inline or nodes.find_host_number(inline) is not None
    )
    if listed and not exists(source):
        with prefix_errors("allocation"):
            return _parse_host_lines(nodes, inline.replace(";", "\n"))
    check_file_kind(source, ALLOCATION)
    try:
        text = read_text(source)
    except FileNotFoundError as error:
        check_characters(f"allocation '{inline[:60]}'", inline)
        error.strerror = f"{error.strerror} (one host is written as n[12])"
        raise
    with prefix_errors(source):
        return _parse_host_lines(nodes, text)


def parse_allocation(
    machine: Machine, text: str, hosts: Sequence[str] = ()
) -> AllocatedHosts:
    """Read an allocation from the text of a file."""
    return _parse_host_lines(_NodeLookup(machine, hosts), text)


def save_allocation(
    path: str | Path,
    allocation: Allocation,
    title: str,
    hosts: Sequence[str] | None = None,
) -> None:
    """Write the nodes of an allocation, as coordinates if the machine has them.

    `hosts` are the host names of the nodes, if known.
    """
    machine = allocation.machine
    if hosts is not None and len(hosts) != len(allocation.nodes):
        raise Error(
            f"cannot use {counted(len(hosts), 'host name')} for "
            f"{counted(len(allocation.nodes), 'node')}; name each node"
        )
    head = [*title.splitlines(), f"machine {machine.text}"]
    lines = [f"# {line}" for line in head]
    if hosts is None or any(not _LETTER.search(host) for host in hosts):
        hosts = ()  # an IP address before a node id would be parsed as coordinates
    for i, node in enumerate(allocation.nodes.tolist()):
        name = [hosts[i]] if hosts else []
        lines.append(" ".join([*name, *map(str, _get_node_address(machine, node))]))
    write_text(path, "\n".join(lines) + "\n")


def _get_node_address(machine: Machine, node: int) -> list[int]:
    coordinates = machine.coordinates(node) if machine.shape else []
    # Several nodes may share the coordinates of their router.
    if coordinates and machine.node_at(coordinates) == node:
        return list(coordinates)
    return [node]


def _parse_host_lines(nodes: _NodeLookup, text: str) -> AllocatedHosts:
    entries: list[_HostLine] = []
    first: dict[int, _HostLine] = {}
    for entry in _parse_lines(nodes, text):
        earlier = first.setdefault(entry.node, entry)
        if earlier is entry:
            entries.append(entry)
        elif not (entry.is_per_rank and earlier.is_per_rank):
            raise Error(f"line {entry.line}: {_describe_duplicate(earlier, entry)}")
    if not entries:
        raise Error("contains no node")
    hosts = [entry.host for entry in entries if entry.host is not None]
    if hosts and len(hosts) < len(entries):
        bare = next(entry for entry in entries if entry.host is None)
        raise Error(f"line {bare.line}: has no host name, but other lines have one")
    ids = np.array([entry.node for entry in entries], dtype=np.uint32)
    allocation = Allocation(nodes.machine, ids)
    return AllocatedHosts(
        allocation, tuple(hosts) if hosts else None, _describe_numbers(nodes)
    )


def _describe_numbers(nodes: _NodeLookup) -> str:
    if nodes.numbered is None:
        return ""
    host, number = nodes.numbered
    kind = "node" if nodes.machine.nodes_per_host == 1 else "host"
    return f"{host} is {kind} {number}: the machine's description names no hosts"


def _describe_duplicate(earlier: _HostLine, entry: _HostLine) -> str:
    if entry.host is None or entry.host == earlier.host:
        what = f"node {entry.node}" if entry.host is None else f"host {entry.host}"
        return f"{what} is named twice, first on line {earlier.line}"
    return (
        f"hosts {earlier.host} and {entry.host} are both node {entry.node}; "
        f"write the node after the name, such as '{entry.host} NODE'"
    )


def _parse_lines(nodes: _NodeLookup, text: str) -> Iterator[_HostLine]:
    for number, raw in enumerate(text.splitlines(), start=1):
        line = raw.partition("#")[0].strip()
        if not line:
            continue
        try:
            for node, host in _parse_host_line(nodes, line):
                if host is not None and is_vacant(host):
                    raise Error(f"node {node} is vacant (has no host); name another")
                if node in nodes.down:
                    raise Error(_describe_down_node(nodes.machine, node, host))
                yield _HostLine(number, node, host, line.startswith("("))
        except Error as error:
            raise Error(f"line {number}: {error}") from None


def _describe_down_node(machine: Machine, node: int, host: str | None) -> str:
    if host is None:
        return f"node {node} is down; leave it out"
    gpus = machine.nodes_per_host
    if gpus == 1:
        return f"host {host}, node {node}, is down; leave it out"
    return (
        f"GPU {node % gpus} of host {host}, node {node}, is down; leave the host "
        "out, or name the nodes of its other GPUs"
    )


def _parse_host_line(nodes: _NodeLookup, line: str) -> Iterator[tuple[int, str | None]]:
    vcoord = _VCOORD.fullmatch(line)
    if vcoord is not None or _NUMBERS.fullmatch(line):
        node = _parse_node(nodes.machine, vcoord[1] if vcoord else line)
        yield node, nodes.hosts[node] if nodes.hosts else None
    elif line.startswith("("):
        raise Error(f"'{line[:60]}' is not the position of a rank, such as (3,4,5)")
    elif match := _HOST_AND_PLACE.fullmatch(line):
        yield _parse_node(nodes.machine, match[2]), match[1]
    else:
        for item in line.split():
            for host in expand_hostlist(item):
                number = _find_host_number(nodes, host)
                for node in list_nodes_of_hosts(nodes.machine, [number]).tolist():
                    yield node, host


def _parse_node(machine: Machine, text: str) -> int:
    words = re.split(r"[\s,]+", text)
    if max(map(len, words)) > _MAX_DIGITS:
        raise Error(f"a number in '{text[:40]}' has too many digits")
    numbers = [int(word) for word in words]
    if len(numbers) == 1:
        if not 0 <= numbers[0] < machine.node_count:
            raise Error(
                f"there is no node {numbers[0]}; {machine.name} has nodes "
                f"0 to {machine.node_count - 1}"
            )
        return numbers[0]
    shape = list(machine.shape)
    if len(numbers) != len(shape):
        axes = f"{len(shape)} axes" if shape else "no coordinates"
        raise Error(
            f"'{text}' is {len(numbers)} numbers, but {machine.name} has {axes}"
        )
    for axis, (number, size) in enumerate(zip(numbers, shape, strict=True)):
        if not 0 <= number < size:
            raise Error(
                f"'{text}' lies outside {machine.name}: "
                f"coordinate {number} on axis {axis} is not in 0 to {size - 1}"
            )
    return machine.node_at(numbers)


def _find_host_number(nodes: _NodeLookup, host: str) -> int:
    machine = nodes.machine
    if nodes.hosts:
        number = nodes.find_host_number(host)
        if number is None:
            raise Error(_describe_unknown_host(nodes, host))
        return number
    if host.startswith(".") or not any(letter.isalpha() for letter in host):
        raise Error(f"'{host}' is neither a host name nor a node id")
    digits = _TRAILING_DIGITS.search(host.partition(".")[0])
    if digits is None:
        raise Error(
            f"host {host} has no number at its end that could be a node id; "
            f"write the node after the name, such as '{host} 0'"
        )
    number = int(digits[0])
    if number >= host_count(machine):
        kind = "node" if machine.nodes_per_host == 1 else "host"
        raise Error(
            f"host {host} would be {kind} {number}, but the machine has {kind}s 0 to "
            f"{host_count(machine) - 1}; name its hosts in a machine file, or write "
            f"the {kind} after the name in an allocation file, such as "
            f"'{host} {host_count(machine) - 1}'"
        )
    nodes.numbered = nodes.numbered or (host, number)
    return number


def _split_number(host: str) -> tuple[str, int]:
    """Split a name at its number: names with other zeros in front are equal."""
    digits = _TRAILING_DIGITS.search(host)
    return (host[: digits.start()], int(digits[0])) if digits else (host, -1)


def _describe_unknown_host(nodes: _NodeLookup, host: str) -> str:
    names = nodes.names[:_MAX_COMPARED_NAMES]
    same = [name for name in names if _split_number(name) == _split_number(host)]
    close = same or difflib.get_close_matches(host, names, n=1)
    guess = f" (did you mean {close[0]}?)" if close else ""
    listed = shorten(compress_hostlist(drop_vacant(nodes.names)))
    return f"the machine has no host {host}{guess}; there are: {listed}"
